"""Slow start: a newcomer, or a worker that returns, is given its share step by step.

factor = max(least, (age / window)^(1 / aggression)), at most 1: the share of its weight, or
of its concurrency, that a worker of that age is given. Aggression above 1 gives more early.

Source: slow start of Envoy's load balancers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlowStart:
    """The ramp.

    Attributes:
        window_s: Age from which a worker has its full share, s; 0 for no ramp.
        aggression: Above 0; 1 is a straight line.
        least: Share from the first moment, above 0 to 1.

    Raises:
        ValueError: A parameter is out of its range.
    """

    window_s: float = 30.0
    aggression: float = 1.0
    least: float = 0.1

    def __post_init__(self) -> None:
        if self.window_s < 0 or self.aggression <= 0 or not 0 < self.least <= 1:
            raise ValueError(f"a parameter is out of its range: {self}")

    def factor(self, age_s: float) -> float:
        """Return the share, `least` to 1, of a worker that came `age_s` seconds ago."""
        if age_s >= self.window_s:
            return 1.0
        share: float = (max(0.0, age_s) / self.window_s) ** (1.0 / self.aggression)
        return max(self.least, share)

    def concurrency(self, limit: int, age_s: float) -> int:
        """Return how many of its `limit` requests at a time such a worker is given, at least 1."""
        return max(1, int(limit * self.factor(age_s)))
