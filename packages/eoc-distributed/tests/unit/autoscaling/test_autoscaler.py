"""Ticks replayed by hand."""

from __future__ import annotations

import pytest

from eoc_distributed.autoscaling import (
    Aggregation,
    Autoscaler,
    AutoscalerState,
    AutoscalingPolicy,
    Sample,
    decide,
)


def at_once(**parameters: float) -> AutoscalingPolicy:
    """A policy without delays; its window of less than a tick holds the sample before."""
    defaults: dict[str, float] = {
        "min_workers": 0,
        "max_workers": 100,
        "look_back_period_s": 0.5,
        "upscale_delay_s": 0.0,
        "downscale_delay_s": 0.0,
    }
    return AutoscalingPolicy(**{**defaults, **parameters})  # type: ignore[arg-type]


def wanted(policy: AutoscalingPolicy, *, running: int, ongoing: float, target: int = 1) -> int:
    state = AutoscalerState(target)
    return decide(policy, state, now_s=0.0, running=running, ongoing=ongoing).wanted


def run(
    scaler: Autoscaler, *, from_s: int, to_s: int, ongoing: float, running: int | None = None
) -> dict[int, int]:
    """Tick every second; return the seconds at which the target changed, and to what."""
    changes: dict[int, int] = {}
    for second in range(from_s, to_s):
        before = scaler.state.target
        there = before if running is None else running
        after = scaler.tick(now_s=float(second), running=there, ongoing=ongoing)
        if after != before:
            changes[second] = after
    return changes


def test_workers_are_requests_over_the_target_rounded_up() -> None:
    policy = at_once(target_ongoing_requests=2.0)
    assert [wanted(policy, running=3, ongoing=n) for n in (6, 7, 8, 9, 60)] == [3, 4, 4, 5, 30]


def test_rounding_of_floats_adds_no_worker() -> None:
    policy = at_once(target_ongoing_requests=0.1)
    assert wanted(policy, running=1, ongoing=0.3) == 3


def test_factors_close_a_share_of_the_gap() -> None:
    policy = at_once(upscaling_factor=0.5, downscaling_factor=0.5)
    assert wanted(policy, running=4, ongoing=40) == 12
    assert wanted(policy, running=10, ongoing=4) == 6
    assert wanted(at_once(upscaling_factor=2.0), running=4, ongoing=16) == 12


def test_a_small_factor_does_not_stick_on_the_way_down() -> None:
    policy = at_once(downscaling_factor=0.1)
    # ceil(4 + 0.1 x (2 - 4)) = 4, though two would do.
    assert wanted(policy, running=4, ongoing=4) == 3
    # Three and a half workers' worth of requests need four: no step down.
    assert wanted(policy, running=4, ongoing=7) == 4


def test_bounds_clip() -> None:
    policy = at_once(min_workers=2, max_workers=5)
    assert wanted(policy, running=3, ongoing=0) == 2
    assert wanted(policy, running=3, ongoing=500) == 5


def test_without_workers_the_first_request_starts_some_at_once() -> None:
    policy = at_once(upscale_delay_s=30.0, upscaling_factor=1.5, cooldown_s=1000.0)
    scaler = Autoscaler(policy)
    assert scaler.tick(now_s=0.0, running=0, ongoing=0) == 0
    assert scaler.tick(now_s=1.0, running=0, ongoing=1) == 2
    # They are not there yet; the target stays though there is one request only.
    assert scaler.tick(now_s=2.0, running=0, ongoing=1) == 2


def test_scaling_up_needs_an_unbroken_wish_and_takes_the_last_figure() -> None:
    policy = at_once(upscale_delay_s=30.0)
    scaler = Autoscaler(policy, initial_workers=1)
    assert run(scaler, from_s=0, to_s=20, ongoing=8) == {}
    assert run(scaler, from_s=20, to_s=30, ongoing=10) == {}
    assert run(scaler, from_s=30, to_s=40, ongoing=10) == {30: 5}


def test_one_tick_of_calm_starts_the_delay_anew() -> None:
    scaler = Autoscaler(at_once(upscale_delay_s=30.0), initial_workers=1)
    assert run(scaler, from_s=0, to_s=29, ongoing=8) == {}
    assert run(scaler, from_s=29, to_s=30, ongoing=2) == {}
    assert run(scaler, from_s=30, to_s=70, ongoing=8) == {61: 4}


def test_the_other_direction_starts_the_delay_anew() -> None:
    scaler = Autoscaler(at_once(upscale_delay_s=10.0, downscale_delay_s=10.0), initial_workers=2)
    for second in range(0, 90, 9):
        high = second // 9 % 2 == 0
        assert run(scaler, from_s=second, to_s=second + 9, ongoing=20 if high else 1) == {}
    assert scaler.state.target == 2


def test_a_change_starts_the_delay_anew() -> None:
    scaler = Autoscaler(at_once(upscale_delay_s=30.0, upscaling_factor=0.5), initial_workers=1)
    assert run(scaler, from_s=0, to_s=100, ongoing=20) == {30: 6, 61: 8, 92: 9}


def test_the_way_to_none_leads_over_one_and_takes_its_own_delay() -> None:
    policy = at_once(downscale_delay_s=60.0, downscale_to_zero_delay_s=300.0)
    scaler = Autoscaler(policy, initial_workers=8)
    assert run(scaler, from_s=0, to_s=600, ongoing=0) == {60: 1, 361: 0}


def test_without_a_delay_of_its_own_the_last_goes_after_the_common_one() -> None:
    scaler = Autoscaler(at_once(downscale_delay_s=60.0), initial_workers=1)
    assert run(scaler, from_s=0, to_s=100, ongoing=0) == {60: 0}


def test_one_request_keeps_the_last_worker() -> None:
    scaler = Autoscaler(at_once(downscale_delay_s=60.0), initial_workers=1)
    assert run(scaler, from_s=0, to_s=55, ongoing=0) == {}
    assert run(scaler, from_s=55, to_s=56, ongoing=1) == {}
    assert run(scaler, from_s=56, to_s=110, ongoing=0) == {}
    assert run(scaler, from_s=110, to_s=130, ongoing=0) == {117: 0}


def test_a_cooldown_holds_changes_apart() -> None:
    policy = at_once(cooldown_s=50.0, upscaling_factor=0.5)
    scaler = Autoscaler(policy, initial_workers=1)
    assert list(run(scaler, from_s=0, to_s=120, ongoing=20)) == [0, 50, 100]


def test_the_window_weighs_samples_by_their_time() -> None:
    policy = at_once(look_back_period_s=10.0)
    samples = (Sample(-100.0, 99.0), Sample(-20.0, 4.0), Sample(-6.0, 10.0))
    decision = decide(policy, AutoscalerState(1, samples), now_s=0.0, running=1, ongoing=50)
    # From -10 s to -6 s there were 4, from -6 s to 0 s there were 10.
    assert decision.total == pytest.approx((4 * 4 + 6 * 10) / 10)
    assert decision.state.samples == (*samples[1:], Sample(0.0, 50))


@pytest.mark.parametrize(("function", "total"), [("min", 4.0), ("max", 50.0)])
def test_the_window_can_be_its_least_or_its_most(function: str, total: float) -> None:
    policy = AutoscalingPolicy(
        max_workers=9, look_back_period_s=10.0, aggregation_function=Aggregation(function)
    )
    samples = (Sample(-20.0, 4.0), Sample(-6.0, 10.0))
    decision = decide(policy, AutoscalerState(1, samples), now_s=0.0, running=1, ongoing=50)
    assert decision.total == total


def test_the_window_smears_a_burst_so_that_it_can_outlast_the_delay() -> None:
    def changes(upscale_delay_s: float) -> dict[int, int]:
        policy = AutoscalingPolicy(max_workers=50, upscale_delay_s=upscale_delay_s)
        scaler = Autoscaler(policy)
        run(scaler, from_s=0, to_s=100, ongoing=2)
        run(scaler, from_s=100, to_s=110, ongoing=40)
        return run(scaler, from_s=110, to_s=400, ongoing=2)

    # The mean of 30 s is above 2 from 101 s to 139 s. At 131 s it is 2 + 38 x 9/30 = 13.4.
    assert changes(30.0) == {131: 7}
    assert changes(60.0) == {}


def test_a_delay_below_the_window_is_doubted_and_makes_the_fleet_swing() -> None:
    swings = AutoscalingPolicy(
        min_workers=1, max_workers=50, look_back_period_s=60.0, upscale_delay_s=0.0,
        downscale_delay_s=0.0,
    )  # fmt: skip
    steady = AutoscalingPolicy(
        min_workers=1, max_workers=50, look_back_period_s=60.0, upscale_delay_s=60.0
    )
    assert len(swings.doubts()) == 2
    assert steady.doubts() == ()

    def changes(policy: AutoscalingPolicy) -> int:
        scaler = Autoscaler(policy)
        return sum(
            len(run(scaler, from_s=at, to_s=at + 90, ongoing=30 if at // 90 % 2 else 2))
            for at in range(0, 3600, 90)
        )

    assert changes(swings) > 10 * max(1, changes(steady))


def test_tiny_targets_with_large_factors_are_doubted() -> None:
    policy = AutoscalingPolicy(max_workers=50, target_ongoing_requests=1.0, upscaling_factor=4.0)
    assert "swings between" in policy.doubts()[0]


def test_the_state_is_all_there_is() -> None:
    policy = AutoscalingPolicy(max_workers=50)
    scaler = Autoscaler(policy)
    run(scaler, from_s=0, to_s=25, ongoing=20)
    state = scaler.state
    resumed = Autoscaler(policy)
    resumed.state = state
    assert run(resumed, from_s=25, to_s=60, ongoing=20) == run(
        scaler, from_s=25, to_s=60, ongoing=20
    )


def test_the_state_is_bounded() -> None:
    policy = AutoscalingPolicy(
        max_workers=5, look_back_period_s=1e9, aggregation_function=Aggregation.MAX
    )
    scaler = Autoscaler(policy)
    for tick in range(4500):
        scaler.tick(now_s=tick / 100, running=1, ongoing=1)
    assert len(scaler.state.samples) <= 4097


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_workers": 2},
        {"max_workers": 0, "min_workers": 0},
        {"target_ongoing_requests": 0.0},
        {"upscale_delay_s": -1.0},
        {"downscale_to_zero_delay_s": -1.0},
        {"look_back_period_s": 0.0},
        {"downscaling_factor": 0.0},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"workers are|out of its range"):
        AutoscalingPolicy(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("running", "ongoing", "now_s"), [(-1, 1, 9), (1, -1, 9), (1, 1, 4)])
def test_counts_below_zero_and_times_that_go_back_are_refused(
    running: int, ongoing: float, now_s: float
) -> None:
    state = AutoscalerState(1, (Sample(5.0, 1.0),))
    with pytest.raises(ValueError, match="running"):
        decide(AutoscalingPolicy(), state, now_s=now_s, running=running, ongoing=ongoing)
