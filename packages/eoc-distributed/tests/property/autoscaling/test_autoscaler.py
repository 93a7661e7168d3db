"""What holds for every policy and every history of requests."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from eoc_distributed.autoscaling import (
    Aggregation,
    AutoscalerState,
    AutoscalingPolicy,
    decide,
)


@st.composite
def policies(draw: st.DrawFn) -> AutoscalingPolicy:
    least = draw(st.integers(0, 4))
    return AutoscalingPolicy(
        min_workers=least,
        max_workers=draw(st.integers(max(1, least), 20)),
        target_ongoing_requests=draw(st.sampled_from([0.5, 1.0, 2.0, 7.0])),
        look_back_period_s=draw(st.sampled_from([0.5, 10.0, 60.0])),
        upscale_delay_s=draw(st.sampled_from([0.0, 5.0, 30.0])),
        downscale_delay_s=draw(st.sampled_from([0.0, 10.0, 60.0])),
        downscale_to_zero_delay_s=draw(st.sampled_from([None, 0.0, 100.0])),
        upscaling_factor=draw(st.sampled_from([0.1, 1.0, 3.0])),
        downscaling_factor=draw(st.sampled_from([0.1, 1.0, 3.0])),
        aggregation_function=draw(st.sampled_from(Aggregation)),
        cooldown_s=draw(st.sampled_from([0.0, 0.0, 20.0])),
    )


loads = st.lists(st.tuples(st.sampled_from([0.1, 1.0, 7.0]), st.integers(0, 60)), max_size=60)


@given(policy=policies(), load=loads, lag=st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_targets_stay_within_bounds_and_changes_keep_their_delays(
    policy: AutoscalingPolicy, load: list[tuple[float, int]], lag: int
) -> None:
    state = AutoscalerState(policy.min_workers)
    history = [state.target] * (lag + 1)
    now_s, last_s = 0.0, float("-inf")
    for seconds, ongoing in load:
        now_s += seconds
        before, running = state.target, history[-1 - lag]
        decision = decide(policy, state, now_s=now_s, running=running, ongoing=ongoing)
        state = decision.state
        assert policy.min_workers <= state.target <= policy.max_workers
        assert policy.min_workers <= decision.wanted <= policy.max_workers
        assert state.samples[-1].total == ongoing
        if state.target != before:
            assert state.changed_s == now_s
            from_none = running == 0 and (decision.total > 0 or ongoing > 0)
            if not from_none:
                assert now_s - last_s >= policy.cooldown_s
                delay_s = policy.upscale_delay_s
                if state.target < before:
                    delay_s = policy.to_zero_delay_s if before == 1 else policy.downscale_delay_s
                    assert state.target >= 1 or before == 1
                assert now_s - last_s >= delay_s or last_s == float("-inf")
            last_s = now_s
        history.append(state.target)


@given(policy=policies(), ongoing=st.integers(0, 60))
@settings(max_examples=100, deadline=None)
def test_a_steady_load_comes_to_rest(policy: AutoscalingPolicy, ongoing: int) -> None:
    state = AutoscalerState(policy.min_workers)
    targets = []
    for tick in range(900):
        decision = decide(
            policy, state, now_s=tick * 5.0, running=state.target, ongoing=float(ongoing)
        )
        state = decision.state
        targets.append(state.target)
    factor = max(policy.upscaling_factor, policy.downscaling_factor)
    if factor <= 1.0:
        assert len(set(targets[-200:])) == 1
        needed = -(-ongoing // policy.target_ongoing_requests)
        enough = max(policy.min_workers, min(policy.max_workers, needed))
        assert targets[-1] >= enough
