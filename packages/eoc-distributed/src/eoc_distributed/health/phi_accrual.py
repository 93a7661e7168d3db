"""Phi accrual failure detector: how unlikely it is that a worker is still alive.

phi = -log10 of the probability that a heartbeat comes later than now, given the intervals
of the last ones. phi 1 is wrong in one of 10 cases, phi 8 in one of 10^8. The intervals are
taken as normally distributed; the tail is the logistic approximation
1 / (1 + exp(-y (1.5976 + 0.070566 y^2))), y = (t - mean) / std, in a form that neither
overflows nor loses its digits for large y.

A sign of life between heartbeats (a byte of an answer, a scrape) puts the clock back
without counting as an interval: tokens at 100 a second would otherwise teach the detector
to suspect a worker that is silent for a second.

Source: Hayashibara et al., "The phi accrual failure detector", SRDS 2004; the
approximation, the first estimate and the rule for long gaps are Akka's.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PhiPolicy:
    """Parameters of the detector; defaults are Akka's unless said otherwise.

    Attributes:
        threshold: phi from which a worker is suspected; 8, in clouds 12.
        window: Intervals that are remembered, at least 2.
        min_std_s: Least standard deviation, s: a very regular worker is not suspected for
            a slight delay.
        pause_s: Silence that is always acceptable, s: added to the mean. Ours is 3 s: a
            worker that reads a long prompt may answer nothing for seconds.
        first_interval_s: Estimate of the interval before there are any, s.

    Raises:
        ValueError: A parameter is out of its range.
    """

    threshold: float = 8.0
    window: int = 1000
    min_std_s: float = 0.1
    pause_s: float = 3.0
    first_interval_s: float = 5.0

    def __post_init__(self) -> None:
        if (
            self.threshold <= 0
            or self.window < 2  # noqa: PLR2004
            or self.min_std_s <= 0
            or self.pause_s < 0
            or self.first_interval_s <= 0
        ):
            raise ValueError(f"a parameter is out of its range: {self}")


class PhiAccrual:
    """Watches one worker."""

    __slots__ = ("_beat_s", "_intervals", "_last_s", "_policy", "_since_sum", "_squares", "_sum")

    def __init__(self, policy: PhiPolicy | None = None) -> None:
        self._policy = policy if policy is not None else PhiPolicy()
        self._intervals: deque[float] = deque(maxlen=self._policy.window)
        self._sum = self._squares = 0.0
        self._since_sum = 0
        self._beat_s: float | None = None
        self._last_s: float | None = None

    def heartbeat(self, now_s: float) -> None:
        """Take a regular heartbeat: the answer to a probe.

        The gap that ends while the worker is suspected is no interval: an outage says
        nothing about the rhythm.
        """
        if self._beat_s is None:
            first = self._policy.first_interval_s
            self._add(first * 0.75)
            self._add(first * 1.25)
        elif not self.suspect(now_s):
            self._add(max(0.0, now_s - self._beat_s))
        self._beat_s = now_s
        self.alive(now_s)

    def alive(self, now_s: float) -> None:
        """Take any other sign of life; ignored before the first heartbeat."""
        if self._beat_s is not None and (self._last_s is None or now_s > self._last_s):
            self._last_s = now_s

    def phi(self, now_s: float) -> float:
        """Return phi, at least 0; 0 before the first heartbeat."""
        if self._last_s is None:
            return 0.0
        count = len(self._intervals)
        mean = self._sum / count
        variance = max(0.0, self._squares / count - mean * mean)
        std = max(self._policy.min_std_s, math.sqrt(variance))
        y = (now_s - self._last_s - mean - self._policy.pause_s) / std
        x = y * (1.5976 + 0.070566 * y * y)
        # log(1 + e^x), either side without overflow.
        softplus = x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))
        return softplus / math.log(10.0)

    def suspect(self, now_s: float) -> bool:
        """Return whether phi has reached the threshold."""
        return self.phi(now_s) >= self._policy.threshold

    def _add(self, interval_s: float) -> None:
        intervals = self._intervals
        if len(intervals) == intervals.maxlen:
            oldest = intervals[0]
            self._sum -= oldest
            self._squares -= oldest * oldest
        intervals.append(interval_s)
        self._sum += interval_s
        self._squares += interval_s * interval_s
        self._since_sum += 1
        if self._since_sum >= self._policy.window:
            # Rounding of many additions and subtractions does not pile up.
            self._since_sum = 0
            self._sum = math.fsum(intervals)
            self._squares = math.fsum(interval * interval for interval in intervals)
