from __future__ import annotations

import math

import pytest

from eoc_distributed.health import PhiAccrual, PhiPolicy


def regular(
    policy: PhiPolicy | None = None, *, every_s: float = 1.0, count: int = 50
) -> PhiAccrual:
    detector = PhiAccrual(policy)
    for beat in range(count):
        detector.heartbeat(beat * every_s)
    return detector


def test_nothing_is_suspected_before_the_first_heartbeat() -> None:
    detector = PhiAccrual()
    detector.alive(1.0)
    assert detector.phi(1e6) == 0.0
    assert not detector.suspect(1e6)


def test_phi_is_the_logistic_tail_to_the_digit() -> None:
    detector = PhiAccrual(PhiPolicy(pause_s=0.0, first_interval_s=4.0))
    detector.heartbeat(10.0)
    # Akka's first estimate: 3 s and 5 s, so mean 4 s and deviation 1 s.
    for silence_s in (1.0, 4.0, 5.5, 9.0):
        y = silence_s - 4.0
        e = math.exp(-y * (1.5976 + 0.070566 * y * y))
        assert detector.phi(10.0 + silence_s) == pytest.approx(-math.log10(e / (1 + e)), rel=1e-9)
    assert detector.phi(14.0) == pytest.approx(math.log10(2))


def test_phi_grows_with_silence_and_stays_finite() -> None:
    detector = regular(PhiPolicy(pause_s=0.0, first_interval_s=1.0))
    values = [detector.phi(49.0 + silence) for silence in (0.0, 0.5, 1.0, 1.5, 2.0, 10.0, 1e6)]
    assert values == sorted(values)
    assert 0.0 <= values[0] < 0.01
    assert math.isfinite(values[-1])


def test_a_regular_worker_is_suspected_soon_and_an_irregular_one_later() -> None:
    policy = PhiPolicy(pause_s=0.0, first_interval_s=1.0)
    steady = regular(policy)
    ragged = PhiAccrual(policy)
    now_s = 0.0
    for beat in range(50):
        now_s += 0.3 if beat % 2 else 1.7
        ragged.heartbeat(now_s)
    assert steady.suspect(49.0 + 3.0)
    assert not ragged.suspect(now_s + 3.0)
    assert ragged.suspect(now_s + 8.0)


def test_the_pause_is_forgiven() -> None:
    assert regular(PhiPolicy(pause_s=0.0, first_interval_s=1.0)).suspect(49.0 + 3.0)
    patient = regular(PhiPolicy(pause_s=10.0, first_interval_s=1.0))
    assert not patient.suspect(49.0 + 10.0)
    assert patient.suspect(49.0 + 13.0)


def test_a_byte_of_an_answer_is_a_sign_of_life_and_no_interval() -> None:
    detector = regular(PhiPolicy(pause_s=0.0, first_interval_s=1.0))
    for millisecond in range(3000):
        detector.alive(49.0 + millisecond / 1000)
    assert not detector.suspect(52.0)
    # The stream ends. One second of silence is what heartbeats have taught it to expect.
    assert not detector.suspect(52.9)


def test_an_outage_does_not_teach_patience() -> None:
    detector = regular(PhiPolicy(pause_s=0.0, first_interval_s=1.0))
    detector.heartbeat(1000.0)
    for beat in range(1, 5):
        detector.heartbeat(1000.0 + beat)
    assert detector.suspect(1004.0 + 3.0)


def test_old_intervals_are_forgotten() -> None:
    detector = regular(PhiPolicy(pause_s=0.0, window=10), every_s=5.0)
    for beat in range(1, 100):
        detector.heartbeat(245.0 + beat)
    assert detector.suspect(344.0 + 3.0)
    assert len(detector._intervals) == 10


def test_a_heartbeat_from_the_past_changes_no_time() -> None:
    detector = regular()
    before = detector.phi(60.0)
    detector.alive(3.0)
    assert detector.phi(60.0) == before


@pytest.mark.parametrize(
    "wrong", [{"threshold": 0}, {"window": 1}, {"min_std_s": 0}, {"pause_s": -1}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="out of its range"):
        PhiPolicy(**wrong)  # type: ignore[arg-type]
