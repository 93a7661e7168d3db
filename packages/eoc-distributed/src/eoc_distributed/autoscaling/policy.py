"""Parameters of the autoscaler, with Ray Serve's names and defaults.

Source: Ray Serve 2.60, `AutoscalingConfig`. Replicas are called workers here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_LARGE_FACTOR = 2.0
_TINY_TARGET = 1.0


class Aggregation(StrEnum):
    """How the samples of the look-back window become one number."""

    MEAN = "mean"
    """Weighted by the time for which each sample held."""
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class AutoscalingPolicy:
    """When and how far to scale.

    Attributes:
        min_workers: Least workers, at least 0.
        max_workers: Most workers, at least 1.
        target_ongoing_requests: Requests, running and queued, for each worker; above 0.
        look_back_period_s: Window over which requests are aggregated, s.
        upscale_delay_s: How long more workers must be wanted without a break, s.
        downscale_delay_s: How long fewer must be, s.
        downscale_to_zero_delay_s: How long none must be wanted for the last one to go, s;
            None for `downscale_delay_s`.
        upscaling_factor: Share of the gap that is closed when scaling up, above 0.
        downscaling_factor: Share of the gap that is closed when scaling down, above 0.
        aggregation_function: How samples of the window are aggregated.
        cooldown_s: Time after a change in which no other follows, s. Ours; 0 in Ray Serve.
            The first worker after none is not held up.

    Raises:
        ValueError: A parameter is out of its range.
    """

    min_workers: int = 1
    max_workers: int = 1
    target_ongoing_requests: float = 2.0
    look_back_period_s: float = 30.0
    upscale_delay_s: float = 30.0
    downscale_delay_s: float = 600.0
    downscale_to_zero_delay_s: float | None = None
    upscaling_factor: float = 1.0
    downscaling_factor: float = 1.0
    aggregation_function: Aggregation = Aggregation.MEAN
    cooldown_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.min_workers <= self.max_workers or self.max_workers < 1:
            raise ValueError(
                f"workers are 0 to {self.max_workers}, at least 1 at most: {self.min_workers}"
            )
        above = (
            self.target_ongoing_requests,
            self.look_back_period_s,
            self.upscaling_factor,
            self.downscaling_factor,
        )
        to_zero_s = self.downscale_to_zero_delay_s
        delays = (self.upscale_delay_s, self.downscale_delay_s, to_zero_s or 0.0, self.cooldown_s)
        if not all(value > 0 for value in above) or not all(delay >= 0 for delay in delays):
            raise ValueError(f"a parameter is out of its range: {self}")

    @property
    def to_zero_delay_s(self) -> float:
        """How long none must be wanted for the last worker to go, s."""
        to_zero_s = self.downscale_to_zero_delay_s
        return self.downscale_delay_s if to_zero_s is None else to_zero_s

    def doubts(self) -> tuple[str, ...]:
        """Say which parameters are legal and known to make a fleet swing."""
        found: list[str] = []
        for name, delay_s in (
            ("upscale_delay_s", self.upscale_delay_s),
            ("downscale_delay_s", self.downscale_delay_s),
        ):
            if delay_s < self.look_back_period_s:
                found.append(
                    f"{name} {delay_s} is below look_back_period_s {self.look_back_period_s}: "
                    "the effect of a change is not seen before the next one"
                )
        if (
            self.target_ongoing_requests <= _TINY_TARGET
            and max(self.upscaling_factor, self.downscaling_factor) >= _LARGE_FACTOR
        ):
            found.append(
                f"target_ongoing_requests {self.target_ongoing_requests} with a factor of "
                f"{_LARGE_FACTOR} or more swings between min_workers and max_workers"
            )
        return tuple(found)
