from __future__ import annotations

import pytest

from eoc_distributed.health import BreakerPolicy, CircuitBreaker, Outcome
from eoc_distributed.health.circuit_breaker import Pass, State

POLICY = BreakerPolicy(failures=3, window_s=60.0, open_s=10.0, max_open_s=35.0, successes=2)


def answer(breaker: CircuitBreaker, outcome: Outcome, now_s: float) -> None:
    granted = breaker.begin(now_s)
    assert granted is not None
    breaker.end(granted, outcome, now_s)


def opened(now_s: float = 100.0) -> CircuitBreaker:
    breaker = CircuitBreaker(POLICY)
    for _ in range(3):
        answer(breaker, Outcome.FAILURE, now_s)
    assert breaker.state(now_s) is State.OPEN
    return breaker


def test_failures_within_the_window_open_it() -> None:
    breaker = CircuitBreaker(POLICY)
    answer(breaker, Outcome.FAILURE, 0.0)
    answer(breaker, Outcome.FAILURE, 1.0)
    assert breaker.state(1.0) is State.CLOSED
    answer(breaker, Outcome.FAILURE, 2.0)
    assert breaker.state(2.0) is State.OPEN
    assert breaker.begin(2.0) is None


def test_failures_spread_over_more_than_the_window_do_not() -> None:
    breaker = CircuitBreaker(POLICY)
    for now_s in (0.0, 31.0, 62.0, 93.0):
        answer(breaker, Outcome.FAILURE, now_s)
        assert breaker.state(now_s) is State.CLOSED


def test_back_pressure_and_cancelled_clients_are_neutral() -> None:
    breaker = CircuitBreaker(POLICY)
    for _ in range(50):
        answer(breaker, Outcome.NEUTRAL, 0.0)
    assert breaker.state(0.0) is State.CLOSED


def test_half_open_lets_one_probe_through_at_a_time() -> None:
    breaker = opened()
    assert breaker.begin(109.9) is None
    probe = breaker.begin(110.0)
    assert probe is not None
    assert breaker.state(110.0) is State.HALF_OPEN
    assert breaker.begin(110.0) is None
    breaker.end(probe, Outcome.SUCCESS, 111.0)
    answer(breaker, Outcome.SUCCESS, 111.0)
    assert breaker.state(111.0) is State.CLOSED


def test_a_failed_probe_opens_it_again_and_starts_the_time_anew() -> None:
    breaker = opened()
    answer(breaker, Outcome.FAILURE, 112.0)
    assert breaker.state(112.0) is State.OPEN
    assert breaker.state(131.9) is State.OPEN
    assert breaker.state(132.0) is State.HALF_OPEN


def test_a_neutral_probe_frees_its_place_and_decides_nothing() -> None:
    breaker = opened()
    answer(breaker, Outcome.NEUTRAL, 110.0)
    assert breaker.state(110.0) is State.HALF_OPEN
    assert breaker.allows(110.0)


def test_a_request_from_before_it_opened_has_no_say() -> None:
    breaker = CircuitBreaker(POLICY)
    old = [breaker.begin(0.0) for _ in range(3)]
    for _ in range(3):
        answer(breaker, Outcome.FAILURE, 1.0)
    for granted in old:
        assert isinstance(granted, Pass)
        breaker.end(granted, Outcome.SUCCESS, 11.0)
        breaker.end(granted, Outcome.FAILURE, 11.0)
    assert breaker.state(11.0) is State.HALF_OPEN
    assert breaker.allows(11.0)


def test_a_probe_that_never_ends_does_not_block_it_for_ever() -> None:
    breaker = opened()
    lost = breaker.begin(110.0)
    assert lost is not None
    assert breaker.begin(119.0) is None
    assert breaker.begin(120.0) is not None
    breaker.end(lost, Outcome.FAILURE, 121.0)
    assert breaker.state(121.0) is State.HALF_OPEN


def test_open_times_double_up_to_the_limit_while_it_flaps() -> None:
    breaker = opened()
    now_s, lengths = 100.0, []
    for _ in range(4):
        start_s = now_s
        while breaker.state(now_s) is State.OPEN:
            now_s += 0.5
        lengths.append(now_s - start_s)
        answer(breaker, Outcome.FAILURE, now_s)
    assert lengths == [10.0, 20.0, 35.0, 35.0]


def test_a_worker_that_was_well_for_a_window_starts_from_the_first_open_time() -> None:
    breaker = opened()
    answer(breaker, Outcome.SUCCESS, 110.0)
    answer(breaker, Outcome.SUCCESS, 110.0)
    for _ in range(3):
        answer(breaker, Outcome.FAILURE, 120.0)
    assert breaker.state(139.0) is State.OPEN
    answer(breaker, Outcome.SUCCESS, 140.0)
    answer(breaker, Outcome.SUCCESS, 140.0)
    for _ in range(3):
        answer(breaker, Outcome.FAILURE, 201.0)
    assert breaker.state(210.9) is State.OPEN
    assert breaker.state(211.0) is State.HALF_OPEN


@pytest.mark.parametrize(
    "wrong", [{"failures": 0}, {"probes": 0}, {"open_s": 0.0}, {"open_s": 20.0, "max_open_s": 10.0}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at"):
        BreakerPolicy(**wrong)  # type: ignore[arg-type]
