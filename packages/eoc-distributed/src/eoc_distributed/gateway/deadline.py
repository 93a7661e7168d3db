"""One timer for a connection, armed seldom.

A deadline moves with every request, while an event loop's timers are dear to move. So the
timer is left where it is when the deadline moves back, and on firing looks at the deadline:
not yet due, it is armed again for the rest. A busy connection arms a timer every few
seconds instead of twice a request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls `expired` once the time that was set last has passed.

    Args:
        loop: The loop whose clock counts.
        expired: Called without arguments, in the loop.
    """

    __slots__ = ("_armed_at_s", "_at_s", "_expired", "_handle", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, expired: Callable[[], None]) -> None:
        self._loop = loop
        self._expired = expired
        self._handle: asyncio.TimerHandle | None = None
        self._armed_at_s = 0.0
        self._at_s: float | None = None

    def set(self, after_s: float) -> None:
        """Move the deadline to `after_s` seconds from this moment."""
        at_s = self._at_s = self._loop.time() + after_s
        if self._handle is not None:
            if self._armed_at_s <= at_s:
                return
            self._handle.cancel()
        self._armed_at_s = at_s
        self._handle = self._loop.call_at(at_s, self._fire)

    def clear(self) -> None:
        """Wait for nothing; the timer stays armed and will find nothing due."""
        self._at_s = None

    def close(self) -> None:
        """Drop the timer."""
        self._at_s = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        at_s = self._at_s
        if at_s is None:
            return
        if at_s > self._loop.time() + 0.001:
            self._armed_at_s = at_s
            self._handle = self._loop.call_at(at_s, self._fire)
            return
        self._at_s = None
        self._expired()
