from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from eoc_distributed.energy.attribution import Reading, TokenEnergy
from eoc_distributed.units import MicroJoules


def reading(joules: float, at_s: float) -> Reading:
    return Reading(MicroJoules(round(joules * 1e6)), at_s)


def test_nothing_is_known_before_two_readings() -> None:
    energy = TokenEnergy()
    energy.add(reading(0, 0), tokens=500, busy=True)
    assert energy.micro_joules_per_token is None


def test_energy_over_tokens_of_the_window() -> None:
    energy = TokenEnergy()
    energy.add(reading(100, 0), tokens=0, busy=True)
    energy.add(reading(170, 10), tokens=1000, busy=False)
    assert energy.micro_joules_per_token == 70_000


def test_windows_are_averaged_and_forgotten() -> None:
    energy = TokenEnergy(tau_s=60.0)
    energy.add(reading(0, 0), tokens=0, busy=True)
    energy.add(reading(100, 60), tokens=1000, busy=True)
    energy.add(reading(300, 120), tokens=1000, busy=True)
    keep = math.exp(-1.0)
    assert energy.micro_joules_per_token == round(keep * 100_000 + (1 - keep) * 200_000)


def test_a_window_with_few_tokens_is_left_open() -> None:
    energy = TokenEnergy()
    energy.add(reading(0, 0), tokens=0, busy=True)
    energy.add(reading(50, 5), tokens=3, busy=True)
    assert energy.micro_joules_per_token is None
    energy.add(reading(100, 10), tokens=97, busy=True)
    assert energy.micro_joules_per_token == 1_000_000


@pytest.mark.parametrize("empty_looks", [1, 3, 5, 50])
def test_idle_looks_before_a_busy_one_do_not_raise_the_energy_of_a_token(empty_looks: int) -> None:
    energy = TokenEnergy()
    joules, at_s = 0.0, 0.0
    energy.add(reading(joules, at_s), tokens=0, busy=False)
    for _ in range(empty_looks):
        joules, at_s = joules + 500, at_s + 5
        energy.add(reading(joules, at_s), tokens=0, busy=False)
    energy.add(reading(joules + 500, at_s + 5), tokens=100, busy=False)
    assert energy.micro_joules_per_token == 5_000_000
    assert energy.idle_micro_joules == empty_looks * 500_000_000


def test_a_long_request_is_charged_for_all_its_time() -> None:
    energy = TokenEnergy()
    energy.add(reading(0, 0), tokens=0, busy=True)
    for look in range(1, 20):
        energy.add(reading(500 * look, 5 * look), tokens=0, busy=True)
    energy.add(reading(10_000, 100), tokens=1000, busy=False)
    assert energy.micro_joules_per_token == 10_000_000
    assert energy.idle_micro_joules == 0


def test_a_counter_that_begins_anew_is_a_fresh_start() -> None:
    energy = TokenEnergy()
    energy.add(reading(1_000, 0), tokens=0, busy=True)
    energy.add(reading(1, 10), tokens=1000, busy=True)
    assert energy.micro_joules_per_token is None
    energy.add(reading(101, 20), tokens=1000, busy=True)
    assert energy.micro_joules_per_token == 100_000


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 500), st.booleans()), max_size=50))
def test_what_was_served_idle_and_is_open_equals_the_meter(
    steps: list[tuple[int, int, bool]],
) -> None:
    energy = TokenEnergy()
    total = 0
    for second, (spent, tokens, busy) in enumerate(steps):
        total += spent
        energy.add(Reading(MicroJoules(total), float(second)), tokens=tokens, busy=busy)
    first = steps[0][0] if steps else 0
    known = energy.served_micro_joules + energy.idle_micro_joules + energy._window_micro_joules
    assert known == total - first
