"""The engine model beside what was measured: ML.ENERGY rows at saturation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eoc_distributed.backends.embedded.accelerators import H100, Profile, Published
from eoc_distributed.sim.fleet import Site
from eoc_distributed.sim.policy import parse_policy
from eoc_distributed.sim.simulation import Conditions, simulate
from eoc_distributed.sim.traces.base import TracedRequest

PROMPT, ANSWER = 100, 400
"""Tokens of a chat; as many as fit into the KV cache at the widest batch."""


def saturated(profile: Profile, batch: int) -> tuple[float, float]:
    """Return tokens/s and J/token of one worker that always runs so many sequences."""
    trace = [TracedRequest(0.0, PROMPT, ANSWER) for _ in range(batch)]
    fleet = (Site("w", _of_width(profile, batch), "FR"),)
    conditions = Conditions(fleet, lambda _zone, _hour: 50.0)
    tally = simulate(iter(trace), parse_policy("round-robin"), conditions)
    assert tally.finished == batch
    return tally.output_tokens / tally.end_s, tally.micro_joules / 1e6 / tally.output_tokens


def _of_width(profile: Profile, batch: int) -> Profile:
    return replace(profile, max_sequences=batch)


@pytest.mark.parametrize("point", H100.published, ids=lambda point: f"batch {point.batch:.0f}")
def test_throughput_and_energy_follow_the_measured_curve(point: Published) -> None:
    tokens_s, joules = saturated(H100, round(point.batch))
    assert tokens_s == pytest.approx(point.tokens_per_s, rel=0.15)
    assert joules == pytest.approx(point.joules_per_token, rel=0.15)
