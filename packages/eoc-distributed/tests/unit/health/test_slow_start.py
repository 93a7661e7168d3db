from __future__ import annotations

import pytest

from eoc_distributed.health import SlowStart


def test_the_share_grows_in_a_straight_line_from_the_least_to_all() -> None:
    ramp = SlowStart(window_s=20.0)
    assert [ramp.factor(age) for age in (0.0, 1.0, 5.0, 10.0, 20.0, 1e9)] == [
        0.1,
        0.1,
        0.25,
        0.5,
        1.0,
        1.0,
    ]


def test_aggression_gives_more_early() -> None:
    assert SlowStart(window_s=20.0, aggression=2.0).factor(5.0) == 0.5


def test_concurrency_is_at_least_one() -> None:
    ramp = SlowStart(window_s=20.0)
    assert [ramp.concurrency(64, age) for age in (0.0, 10.0, 20.0)] == [6, 32, 64]
    assert ramp.concurrency(3, 0.0) == 1


def test_no_window_is_no_ramp() -> None:
    assert SlowStart(window_s=0.0).factor(0.0) == 1.0


@pytest.mark.parametrize("wrong", [{"window_s": -1.0}, {"aggression": 0.0}, {"least": 0.0}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="out of its range"):
        SlowStart(**wrong)
