"""Circuit breaker: a worker that keeps failing is left alone, then tried with care.

    closed --failures within window--> open --open time over--> half-open
      ^                                  ^                          |
      +------- successes in a row -------|------ a failure ---------+

Half-open lets few requests through at a time. Each time it opens again without having been
closed for a whole window, the open time doubles, up to a limit: a worker that flaps is
tried ever more rarely.

A request gets a pass when it begins and gives it back with its outcome. A pass of an
earlier state has no say: what began before the breaker opened does not close it, and is
not counted as a failed probe.

Source: M. Nygard, "Release It!", 2007; default figures are sglang-router's.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum

from .outcome import Outcome


class State(Enum):
    """Whether requests pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """Parameters of a breaker.

    Attributes:
        failures: Failures within the window that open it, at least 1.
        window_s: Length of that window, s.
        open_s: How long it stays open the first time, s.
        max_open_s: How long it stays open at most, s.
        probes: Requests at a time while it is half-open, at least 1.
        successes: Successes in a row that close it, at least 1.

    Raises:
        ValueError: A parameter is out of its range.
    """

    failures: int = 10
    window_s: float = 120.0
    open_s: float = 60.0
    max_open_s: float = 600.0
    probes: int = 1
    successes: int = 3

    def __post_init__(self) -> None:
        if min(self.failures, self.probes, self.successes) < 1:
            raise ValueError(f"failures, probes and successes are at least 1: {self}")
        if self.window_s <= 0 or not 0 < self.open_s <= self.max_open_s:
            raise ValueError(f"times are above 0, and open_s at most max_open_s: {self}")


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave to send one request; returned once, with its outcome."""

    epoch: int


class CircuitBreaker:
    """Guards one worker."""

    __slots__ = (
        "_changed_s",
        "_epoch",
        "_failed_s",
        "_last_probe_s",
        "_open_s",
        "_policy",
        "_probing",
        "_state",
        "_successes",
    )

    def __init__(self, policy: BreakerPolicy | None = None) -> None:
        self._policy = policy if policy is not None else BreakerPolicy()
        self._state = State.CLOSED
        self._epoch = 0
        self._failed_s: deque[float] = deque(maxlen=self._policy.failures)
        self._changed_s = float("-inf")
        self._open_s = self._policy.open_s
        self._probing = 0
        self._last_probe_s = float("-inf")
        self._successes = 0

    def state(self, now_s: float) -> State:
        """Return the state; an open breaker is half-open once its time is over."""
        if self._state is State.OPEN and now_s - self._changed_s >= self._open_s:
            self._enter(State.HALF_OPEN, now_s)
        return self._state

    def allows(self, now_s: float) -> bool:
        """Return whether `begin` would give a pass."""
        match self.state(now_s):
            case State.CLOSED:
                return True
            case State.OPEN:
                return False
            case State.HALF_OPEN:
                return (
                    self._probing < self._policy.probes
                    or now_s - self._last_probe_s >= self._policy.open_s
                )

    def begin(self, now_s: float) -> Pass | None:
        """Ask leave to send a request; None if it is not given."""
        if not self.allows(now_s):
            return None
        if self._state is State.HALF_OPEN:
            if self._probing >= self._policy.probes:
                # Probes that never came back hold nobody up for longer than the open time.
                self._enter(State.HALF_OPEN, now_s)
            self._probing += 1
            self._last_probe_s = now_s
        return Pass(self._epoch)

    def end(self, granted: Pass, outcome: Outcome, now_s: float) -> None:
        """Give a pass back with the outcome of its request."""
        if granted.epoch != self._epoch:
            return
        if self._state is State.CLOSED:
            if outcome is Outcome.FAILURE:
                self._count_failure(now_s)
            return
        self._probing -= 1
        if outcome is Outcome.FAILURE:
            self._open_again(now_s)
        elif outcome is Outcome.SUCCESS:
            self._successes += 1
            if self._successes >= self._policy.successes:
                self._enter(State.CLOSED, now_s)

    def _count_failure(self, now_s: float) -> None:
        failed, policy = self._failed_s, self._policy
        failed.append(now_s)
        if len(failed) < policy.failures or now_s - failed[0] > policy.window_s:
            return
        if now_s - self._changed_s > policy.window_s:
            self._open_s = policy.open_s
            self._enter(State.OPEN, now_s)
        else:
            self._open_again(now_s)

    def _open_again(self, now_s: float) -> None:
        self._open_s = min(2.0 * self._open_s, self._policy.max_open_s)
        self._enter(State.OPEN, now_s)

    def _enter(self, state: State, now_s: float) -> None:
        self._state = state
        self._epoch += 1
        self._changed_s = now_s
        self._failed_s.clear()
        self._probing = 0
        self._successes = 0
