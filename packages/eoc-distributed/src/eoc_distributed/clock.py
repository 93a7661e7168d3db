"""Time as a parameter: who needs it is handed a clock."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Seconds that never go back."""

    def now_s(self) -> float:
        """Return seconds since an arbitrary start; monotonic."""
        ...


class SystemClock:
    """The machine's monotonic clock."""

    now_s = staticmethod(time.monotonic)


class ManualClock:
    """A clock that moves only when told; for tests and simulations."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s

    def now_s(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        """Move forward by `seconds` (at least 0)."""
        if seconds < 0:
            raise ValueError(f"a clock does not go back: {seconds} s")
        self._now_s += seconds

    def reach(self, now_s: float) -> None:
        """Move forward to an instant; one that has passed changes nothing."""
        self._now_s = max(self._now_s, now_s)
