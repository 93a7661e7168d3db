from __future__ import annotations

import pytest

from eoc_distributed.health import Outcome, OutlierDetector, OutlierPolicy
from eoc_distributed.health.outliers import in_panic


def fleet(count: int, **policy: float) -> OutlierDetector:
    detector = OutlierDetector(OutlierPolicy(**policy))  # type: ignore[arg-type]
    for number in range(count):
        detector.add(f"w{number}", 0.0)
    detector.sweep(0.0)
    return detector


def fail(detector: OutlierDetector, worker_id: str, times: int, now_s: float) -> None:
    for _ in range(times):
        detector.observe(worker_id, Outcome.FAILURE, now_s)


def test_failures_in_a_row_eject() -> None:
    detector = fleet(10)
    fail(detector, "w0", 4, 1.0)
    detector.observe("w0", Outcome.SUCCESS, 1.0)
    fail(detector, "w0", 4, 1.0)
    assert detector.ejected == frozenset()
    fail(detector, "w0", 1, 1.0)
    assert detector.ejected == {"w0"}


def test_neutral_answers_neither_break_nor_lengthen_the_row() -> None:
    detector = fleet(10)
    fail(detector, "w0", 4, 1.0)
    for _ in range(100):
        detector.observe("w0", Outcome.NEUTRAL, 1.0)
    assert detector.ejected == frozenset()
    fail(detector, "w0", 1, 1.0)
    assert detector.ejected == {"w0"}


def test_an_ejection_lasts_longer_each_time_up_to_a_limit() -> None:
    detector = fleet(10)
    now_s, lengths = 1.0, []
    for _ in range(12):
        fail(detector, "w0", 5, now_s)
        start_s = now_s
        while detector.ejected:
            now_s += 1.0
            detector.sweep(now_s)
        lengths.append(now_s - start_s)
    assert lengths == [30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300]


def test_ejections_are_forgotten_one_by_one() -> None:
    detector = fleet(10)
    for now_s in (1.0, 100.0):
        fail(detector, "w0", 5, now_s)
        detector.sweep(now_s + 90.0)
    for second in range(190, 800, 10):
        detector.sweep(float(second))
    fail(detector, "w0", 5, 800.0)
    detector.sweep(829.0)
    assert detector.ejected == {"w0"}
    detector.sweep(860.0)
    assert detector.ejected == frozenset()


def test_not_more_than_the_share_is_ejected_but_one_always_may_be() -> None:
    for count, most in ((3, 1), (10, 1), (40, 4)):
        detector = fleet(count)
        for number in range(count):
            fail(detector, f"w{number}", 5, 1.0)
        assert len(detector.ejected) == most


def test_a_success_rate_far_below_the_others_ejects_the_worst_first() -> None:
    detector = fleet(20)
    for number in range(20):
        for answer in range(200):
            bad = number == 7 and answer % 2 == 0
            detector.observe(f"w{number}", Outcome.FAILURE if bad else Outcome.SUCCESS, 5.0)
    detector.sweep(10.0)
    assert detector.ejected == {"w7"}


def test_rates_of_few_answers_or_few_workers_are_not_compared() -> None:
    for count, answers in ((20, 99), (4, 200)):
        detector = fleet(count)
        for number in range(count):
            for answer in range(answers):
                bad = number == 1 and answer % 2 == 0
                detector.observe(f"w{number}", Outcome.FAILURE if bad else Outcome.SUCCESS, 5.0)
        detector.sweep(10.0)
        assert detector.ejected == frozenset()


def test_failing_nearly_always_ejects_even_without_a_row_and_in_a_small_fleet() -> None:
    detector = fleet(2, failures_in_row=100)
    for answer in range(60):
        detector.observe("w1", Outcome.SUCCESS if answer % 10 == 0 else Outcome.FAILURE, 5.0)
    assert detector.ejected == frozenset()
    detector.sweep(10.0)
    assert detector.ejected == {"w1"}


def test_counts_are_those_of_one_interval() -> None:
    detector = fleet(2, failures_in_row=1000)
    for interval in range(1, 6):
        fail(detector, "w1", 49, interval * 10.0 - 1.0)
        detector.sweep(interval * 10.0)
        assert detector.ejected == frozenset()


def test_a_worker_that_is_gone_is_forgotten() -> None:
    detector = fleet(3)
    fail(detector, "w0", 5, 1.0)
    detector.remove("w0")
    detector.remove("w0")
    fail(detector, "w0", 50, 1.0)
    detector.eject("w0", 1.0)
    assert detector.ejected == frozenset()
    detector.sweep(1e6)


def test_panic_is_when_fewer_than_half_are_well() -> None:
    assert not in_panic(well=5, workers=10, panic_share=0.5)
    assert in_panic(well=4, workers=10, panic_share=0.5)
    assert not in_panic(well=0, workers=0, panic_share=0.5)


@pytest.mark.parametrize(
    "wrong",
    [{"failures_in_row": 0}, {"interval_s": 0.0}, {"max_ejection_s": 1.0}, {"failure_share": 0.0}],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="out of its range"):
        OutlierPolicy(**wrong)  # type: ignore[arg-type]
