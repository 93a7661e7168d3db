from __future__ import annotations

import math

from hypothesis import given, strategies as st

from eoc_distributed.energy.attribution import MAX_WINDOW_S, Reading, TokenEnergy
from eoc_distributed.units import MicroJoules


def reading(joules: float, at_s: float) -> Reading:
    return Reading(MicroJoules(round(joules * 1e6)), at_s)


def test_nothing_is_known_before_two_readings() -> None:
    energy = TokenEnergy()
    energy.add(reading(0, 0), tokens=500)
    assert energy.micro_joules_per_token is None


def test_energy_over_tokens_of_the_window() -> None:
    energy = TokenEnergy()
    energy.add(reading(100, 0), tokens=0)
    energy.add(reading(170, 10), tokens=1000)
    assert energy.micro_joules_per_token == 70_000


def test_windows_are_averaged_and_forgotten() -> None:
    energy = TokenEnergy(tau_s=60.0)
    energy.add(reading(0, 0), tokens=0)
    energy.add(reading(100, 60), tokens=1000)
    energy.add(reading(300, 120), tokens=1000)
    keep = math.exp(-1.0)
    assert energy.micro_joules_per_token == round(keep * 100_000 + (1 - keep) * 200_000)


def test_a_window_with_few_tokens_is_left_open() -> None:
    energy = TokenEnergy()
    energy.add(reading(0, 0), tokens=0)
    energy.add(reading(50, 5), tokens=3)
    assert energy.micro_joules_per_token is None
    energy.add(reading(100, 10), tokens=97)
    assert energy.micro_joules_per_token == 1_000_000


def test_idle_time_does_not_raise_the_energy_of_a_token() -> None:
    energy = TokenEnergy()
    energy.add(reading(0, 0), tokens=0)
    energy.add(reading(100, 10), tokens=1000)
    energy.add(reading(5_000, 10 + MAX_WINDOW_S), tokens=0)
    assert energy.micro_joules_per_token == 100_000
    assert energy.idle_micro_joules == 4_900_000_000


def test_a_counter_that_begins_anew_is_a_fresh_start() -> None:
    energy = TokenEnergy()
    energy.add(reading(1_000, 0), tokens=0)
    energy.add(reading(1, 10), tokens=1000)
    assert energy.micro_joules_per_token is None
    energy.add(reading(101, 20), tokens=1000)
    assert energy.micro_joules_per_token == 100_000


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 500)), max_size=50))
def test_what_was_served_and_what_was_idle_never_exceed_the_meter(
    steps: list[tuple[int, int]],
) -> None:
    energy = TokenEnergy()
    total = 0
    for second, (spent, tokens) in enumerate(steps):
        total += spent
        energy.add(Reading(MicroJoules(total), float(second)), tokens=tokens)
    first = steps[0][0] if steps else 0
    assert energy.served_micro_joules + energy.idle_micro_joules <= total - first
