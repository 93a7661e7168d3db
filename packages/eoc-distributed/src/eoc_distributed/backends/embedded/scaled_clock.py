"""A clock that runs faster than the machine's."""

from __future__ import annotations

from eoc_distributed.clock import Clock, SystemClock


class ScaledClock:
    """Simulated seconds since its making.

    Args:
        speedup: Simulated seconds for each second of `base`, above 0.
        base: The clock beneath; the machine's by default.
    """

    def __init__(self, *, speedup: float = 1.0, base: Clock | None = None) -> None:
        if not speedup > 0:
            raise ValueError(f"a clock runs forward: speedup {speedup}")
        self.speedup = speedup
        self._base: Clock = base if base is not None else SystemClock()
        self._started_s = self._base.now_s()

    def now_s(self) -> float:
        return (self._base.now_s() - self._started_s) * self.speedup

    def until(self, at_s: float) -> float:
        """Return how many seconds of the base clock are left until `at_s`, at least 0."""
        return max(0.0, (at_s - self.now_s()) / self.speedup)
