from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from eoc_distributed.backends.embedded.accelerators import APPLE_M, CPU_SERVER, H100, L4
from eoc_distributed.sim.fleet import Site
from eoc_distributed.sim.policy import parse_policy
from eoc_distributed.sim.simulation import Conditions, _Run, simulate
from eoc_distributed.sim.tally import Tally
from eoc_distributed.sim.traces.base import TracedRequest

FLEET = (
    Site("a", H100, "FR"),
    Site("b", L4, "PL"),
    Site("c", CPU_SERVER, "NO"),
    Site("d", APPLE_M, "FR"),
)
CONDITIONS = Conditions(FLEET, lambda zone, _hour: {"FR": 50.0, "PL": 600.0, "NO": 20.0}[zone])
POLICIES = (
    "round-robin",
    "joule-weighted",
    "marginal-joules+autoscale",
    "sticky+least-busy",
    "least-busy+stealing",
    "sticky+marginal-carbon+stealing+autoscale",
)


@st.composite
def traces(draw: st.DrawFn) -> list[TracedRequest]:
    now_s = 0.0
    made = []
    for _ in range(draw(st.integers(1, 60))):
        now_s += draw(st.sampled_from([0.0, 0.001, 0.05, 0.7, 40.0]))
        prompt = draw(st.integers(1, 3000))
        first = draw(st.integers(0, 3))
        blocks = tuple(first * 1000 + n for n in range(prompt // 16))
        made.append(TracedRequest(now_s, prompt, draw(st.integers(1, 400)), blocks))
    return made


def walked(trace: list[TracedRequest], policy: str) -> Tally:
    """Run a trace pass by pass: the slow oracle."""
    run = _Run(parse_policy(policy), CONDITIONS)
    for lane in run._lanes.values():
        lane.batcher.quiet = lambda: None  # type: ignore[method-assign]
    return run.through(iter(trace), None)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=10, deadline=None)
@given(trace=traces())
def test_skipping_passes_changes_nothing(policy: str, trace: list[TracedRequest]) -> None:
    fast, slow = simulate(trace, parse_policy(policy), CONDITIONS), walked(trace, policy)
    assert fast.finished == slow.finished
    assert fast.refused == slow.refused
    assert fast.end_s == pytest.approx(slow.end_s, rel=1e-9)
    assert fast.micro_joules == pytest.approx(slow.micro_joules, rel=1e-9)
    assert fast.ttft_s.total == pytest.approx(slow.ttft_s.total, rel=1e-9)
    assert fast.token_s.total == pytest.approx(slow.token_s.total, rel=1e-9)
    assert fast.waiting_s.total == pytest.approx(slow.waiting_s.total, rel=1e-9)
    for name, worker in fast.workers.items():
        other = slow.workers[name]
        assert (worker.requests, worker.passes) == (other.requests, other.passes)
        assert worker.cached_tokens == other.cached_tokens


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=10, deadline=None)
@given(trace=traces())
def test_nothing_is_lost_and_time_and_energy_add_up(
    policy: str, trace: list[TracedRequest]
) -> None:
    told: list[int] = []
    tally = simulate(trace, parse_policy(policy), CONDITIONS, progress=told.append)
    assert tally.arrived == len(trace) == sum(told)
    assert tally.finished + sum(tally.refused.values()) == len(trace)
    assert tally.ttft_s.count == tally.waiting_s.count == tally.finished
    assert sum(hour.requests for hour in tally.hours.values()) == tally.finished
    for site in FLEET:
        worker = tally.workers[site.id]
        power = site.profile.power
        assert worker.busy_s <= worker.on_s + 1e-9
        assert worker.on_s <= tally.end_s + 1e-6
        least = power.idle_w * worker.on_s * 1e6
        most = least + (power.peak_w - power.idle_w) * worker.busy_s * 1e6
        assert least * (1 - 1e-9) <= worker.total_micro_joules <= most * (1 + 1e-9) + 1
        assert worker.idle_micro_joules <= worker.total_micro_joules * (1 + 1e-9)
    if "autoscale" not in policy:
        for worker in tally.workers.values():
            assert worker.on_s == pytest.approx(tally.end_s)


@settings(max_examples=10, deadline=None)
@given(trace=traces())
def test_the_same_seed_gives_the_same_result(trace: list[TracedRequest]) -> None:
    policy = parse_policy("sticky+latency-weighted+stealing+autoscale")
    assert simulate(trace, policy, CONDITIONS) == simulate(trace, policy, CONDITIONS)
