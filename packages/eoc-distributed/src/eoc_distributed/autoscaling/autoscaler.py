"""How many workers there should be: a function of the past, without clock or network.

At each tick, with `total` = requests running and queued, aggregated over the look-back
window, and `running` = workers that are there:

1. Without workers: if there are requests, as many workers as the upscaling factor, rounded
   up, and at least the present target, at once; else none.
2. wanted = total / target_ongoing_requests, of which the factor closes a share:
   ceil(running + factor x (wanted - running)). If that would leave `running` as it is
   though fewer are wanted, one less: a small factor does not stick.
3. Clip to min and max.
4. More than the target becomes the target after `upscale_delay_s` of ticks that all want
   more; the figure is that of the last tick. Less does after `downscale_delay_s`. A tick
   that wants the target, or the other direction, starts the time anew. From several workers
   the way to none leads over one, and the last goes after a delay of its own.

Source: Ray Serve 2.60, `replica_queue_length_autoscaling_policy` and the delays around it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, assert_never

from .policy import Aggregation, AutoscalingPolicy

_DIGITS = 9
"""Sums of floats are rounded to so many digits before they are rounded up to workers."""
_MAX_SAMPLES = 4096
"""Samples of the window that are kept; beyond, every other one is dropped."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Requests running and queued in the fleet at an instant.

    Attributes:
        at_s: Monotonic time, s.
        total: Requests, at least 0.
    """

    at_s: float
    total: float


@dataclass(frozen=True, slots=True)
class AutoscalerState:
    """All that the decision depends on, beside policy and present.

    Attributes:
        target: Workers that there should be.
        samples: The samples of the window, oldest first; the first may lie before it, as
            its value holds at the window's start.
        direction: 1 while more workers are wanted, -1 while fewer, 0 else.
        since_s: When `direction` began, s.
        changed_s: When the target changed last, s.
    """

    target: int
    samples: tuple[Sample, ...] = ()
    direction: Literal[-1, 0, 1] = 0
    since_s: float = 0.0
    changed_s: float = float("-inf")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a tick came to.

    Attributes:
        state: The state for the next tick; `state.target` is the number of workers.
        total: Requests aggregated over the window.
        wanted: Workers that this tick wants, within min and max, before delays.
    """

    state: AutoscalerState
    total: float
    wanted: int


def decide(
    policy: AutoscalingPolicy,
    state: AutoscalerState,
    *,
    now_s: float,
    running: int,
    ongoing: float,
) -> Decision:
    """Take one tick.

    Args:
        policy: When and how far to scale.
        state: The state after the tick before.
        now_s: Monotonic time, s; not before the last sample.
        running: Workers that are there and take requests, at least 0.
        ongoing: Requests that run on workers or are queued for them, at least 0.

    Raises:
        ValueError: A count is negative, or the time goes back.
    """
    if running < 0 or not ongoing >= 0 or (state.samples and now_s < state.samples[-1].at_s):
        raise ValueError(f"running {running}, ongoing {ongoing} at {now_s} s after {state}")
    samples = _window(state.samples, Sample(now_s, ongoing), now_s - policy.look_back_period_s)
    state = replace(state, samples=samples)
    total = _aggregate(policy, samples, now_s)
    # The newest sample has not held for any time yet, so that a mean does not know of it.
    asked = total > 0 or ongoing > 0
    wanted = _wanted(policy, state, running, total, asked=asked)
    wanted = max(policy.min_workers, min(policy.max_workers, wanted))
    if running == 0 and asked and wanted >= state.target:
        changed_s = now_s if wanted != state.target else state.changed_s
        state = replace(state, target=wanted, direction=0, since_s=now_s, changed_s=changed_s)
        return Decision(state, total, wanted)
    return Decision(_after_delay(policy, state, now_s, wanted), total, wanted)


class Autoscaler:
    """Keeps the state between ticks.

    Args:
        policy: When and how far to scale.
        initial_workers: Workers wanted at the start; `min_workers` if None.
    """

    def __init__(self, policy: AutoscalingPolicy, *, initial_workers: int | None = None) -> None:
        first = policy.min_workers if initial_workers is None else initial_workers
        self.policy = policy
        self.state = AutoscalerState(max(policy.min_workers, min(policy.max_workers, first)))

    def tick(self, *, now_s: float, running: int, ongoing: float) -> int:
        """Take one tick and return the number of workers that there should be.

        Raises:
            ValueError: As `decide`.
        """
        decision = decide(self.policy, self.state, now_s=now_s, running=running, ongoing=ongoing)
        self.state = decision.state
        return self.state.target


def _wanted(
    policy: AutoscalingPolicy, state: AutoscalerState, running: int, total: float, *, asked: bool
) -> int:
    if running == 0:
        return max(math.ceil(policy.upscaling_factor), state.target) if asked else 0
    desired = total / policy.target_ongoing_requests
    factor = policy.upscaling_factor if desired > running else policy.downscaling_factor
    wanted = _ceil(running + factor * (desired - running))
    if desired < running and _ceil(desired) < running and wanted == running:
        wanted -= 1
    return wanted


def _after_delay(
    policy: AutoscalingPolicy, state: AutoscalerState, now_s: float, wanted: int
) -> AutoscalerState:
    target = state.target
    if wanted == target:
        return replace(state, direction=0, since_s=now_s)
    direction: Literal[-1, 1]
    if wanted > target:
        direction, delay_s = 1, policy.upscale_delay_s
    elif target > 1:
        direction, delay_s, wanted = -1, policy.downscale_delay_s, max(1, wanted)
    else:
        direction, delay_s = -1, policy.to_zero_delay_s
    since_s = state.since_s if state.direction == direction else now_s
    if now_s - since_s < delay_s or now_s - state.changed_s < policy.cooldown_s:
        return replace(state, direction=direction, since_s=since_s)
    return replace(state, target=wanted, direction=0, since_s=now_s, changed_s=now_s)


def _window(samples: tuple[Sample, ...], newest: Sample, start_s: float) -> tuple[Sample, ...]:
    """Add a sample, and drop those whose value no longer holds within the window."""
    first = 0
    while first + 1 < len(samples) and samples[first + 1].at_s <= start_s:
        first += 1
    kept = samples[first:]
    if len(kept) >= _MAX_SAMPLES:
        kept = kept[::2]
    return (*kept, newest)


def _aggregate(policy: AutoscalingPolicy, samples: tuple[Sample, ...], now_s: float) -> float:
    match policy.aggregation_function:
        case Aggregation.MIN:
            return min(sample.total for sample in samples)
        case Aggregation.MAX:
            return max(sample.total for sample in samples)
        case Aggregation.MEAN:
            start_s = now_s - policy.look_back_period_s
            area = length_s = 0.0
            for sample, after in pairwise(samples):
                held_s = after.at_s - max(start_s, sample.at_s)
                area += sample.total * held_s
                length_s += held_s
            return area / length_s if length_s > 0 else samples[-1].total
        case _:
            assert_never(policy.aggregation_function)


def _ceil(value: float) -> int:
    return math.ceil(round(value, _DIGITS))
