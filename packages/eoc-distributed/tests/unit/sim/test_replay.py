from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from eoc_distributed.backends.embedded import PROFILES
from eoc_distributed.errors import ConfigError
from eoc_distributed.routing import REGISTRY, create
from eoc_distributed.sim.fleet import DEMO_FLEET, Site, intensities
from eoc_distributed.sim.replay import CONTEXT_TOKENS, Replay, clipped
from eoc_distributed.sim.report import RunReport, percentile
from eoc_distributed.sim.traces import TracedRequest, synthetic

TRACE = tuple(clipped(synthetic(Random(2)), 80))


def run(router: str, *, seed: int = 1, objective_ms: float | None = 2000.0) -> RunReport:
    replay = Replay(
        DEMO_FLEET,
        router=create(router, rng=Random(seed), ttft_objective_ms=objective_ms),
        g_per_kwh=intensities(DEMO_FLEET),
    )
    return replay.report(replay.run(TRACE))


@pytest.mark.parametrize("router", sorted(REGISTRY))
def test_every_request_is_answered_once_and_the_same_seed_gives_the_same(router: str) -> None:
    report = run(router)
    assert report.failed == 0
    assert report.requests == len(TRACE) == len(report.ttft_s)
    for field in ("prompt_tokens", "output_tokens"):
        name = "completion_tokens" if field == "output_tokens" else field
        assert sum(getattr(worker, name) for worker in report.workers) == sum(
            getattr(request, field) for request in TRACE
        )
    assert run(router) == report


def test_routers_by_energy_and_carbon_use_less_of_it_than_taking_turns() -> None:
    turns, joules, carbon = (
        run(name) for name in ("round-robin", "joule-weighted", "carbon-weighted")
    )
    assert joules.micro_joules < turns.micro_joules
    assert carbon.g_co2e < turns.g_co2e
    assert carbon.g_co2e <= joules.g_co2e


def test_idle_energy_is_idle_power_times_the_time_without_steps() -> None:
    site = Site("only", PROFILES["l4"], "FR")
    replay = Replay([site], router=create("round-robin", rng=Random(0)), g_per_kwh={"FR": 30.0})
    end_s = replay.run([TracedRequest(2.0, 10, 1)])
    report = replay.report(end_s + 3.0)
    assert report.idle_micro_joules == pytest.approx(16.0 * 5.0 * 1e6, abs=2)
    assert report.ttft_s[0] == pytest.approx(end_s - 2.0)


def test_requests_beyond_all_places_fail_and_are_counted() -> None:
    tiny = replace(PROFILES["cpu-16"], max_sequences=1)
    replay = Replay(
        [Site("one", tiny, "FR")],
        router=create("least-busy", rng=Random(0)),
        g_per_kwh={"FR": 30.0},
    )
    end_s = replay.run([TracedRequest(0.0, 10, 10), TracedRequest(0.0, 10, 10)])
    report = replay.report(end_s)
    assert (report.requests, report.failed) == (1, 1)


def test_requests_are_cut_to_what_every_machine_holds() -> None:
    (request,) = clipped([TracedRequest(0.0, 100_000, 100_000), TracedRequest(1.0, 1, 1)], 1)
    assert request == TracedRequest(0.0, CONTEXT_TOKENS, CONTEXT_TOKENS)
    for site in DEMO_FLEET:
        assert site.profile.kv_tokens >= 2 * CONTEXT_TOKENS


def test_a_zone_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError, match="XX"):
        intensities([Site("one", PROFILES["l4"], "XX")])


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile((), 0.5) is None
    assert percentile((1.0,), 0.99) == 1.0
    assert percentile(tuple(float(i) for i in range(100)), 0.5) == 50.0
    assert percentile(tuple(float(i) for i in range(100)), 0.99) == 99.0
