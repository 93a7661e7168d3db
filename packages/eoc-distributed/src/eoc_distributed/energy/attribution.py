"""Energy per token from a meter's counter and the tokens served meanwhile.

A meter counts all energy of its device, idle time included. What it counts between two
readings belongs to requests if any was under way or has ended, and to idling otherwise.
Over a window of such time with enough tokens, µJ/token = energy / tokens; windows are joined
by an average that forgets with time constant `tau_s`. Idle energy is kept apart: it says
nothing about the energy of a token.

Tokens of prompts and of answers are weighed equally. They are known when a request ends, so
a window stays open while requests are under way and none has ended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from eoc_distributed.units import MicroJoules

TAU_S = 60.0
"""Default time constant of the average, s."""
MIN_TOKENS = 16
"""A window is kept open until it has that many tokens: fewer make a noisy quotient."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A meter's counter at an instant.

    Attributes:
        micro_joules: Energy since an arbitrary start; a smaller value than the one before
            means that the counter began anew.
        at_s: Monotonic time, s.
    """

    micro_joules: MicroJoules
    at_s: float


class TokenEnergy:
    """Learns a worker's energy per token from readings.

    Args:
        tau_s: Time constant of the average, s.
    """

    def __init__(self, *, tau_s: float = TAU_S) -> None:
        self._tau_s = tau_s
        self._last: Reading | None = None
        self._window_micro_joules = 0
        self._window_tokens = 0
        self._window_s = 0.0
        self._average: float | None = None
        self.idle_micro_joules = 0
        """Energy of the time in which nothing was under way, µJ."""
        self.served_micro_joules = 0
        """Energy of the windows that made the average, µJ."""

    @property
    def micro_joules_per_token(self) -> MicroJoules | None:
        """The average, rounded; None before the first full window."""
        return None if self._average is None else MicroJoules(round(self._average))

    def add(self, reading: Reading, *, tokens: int, busy: bool) -> None:
        """Take a reading.

        Args:
            reading: The meter's counter.
            tokens: Tokens of the requests that have ended since the reading before.
            busy: Whether a request is under way.
        """
        last, self._last = self._last, reading
        if last is None or reading.micro_joules < last.micro_joules:
            self._forget_window()
            return
        spent = reading.micro_joules - last.micro_joules
        if not busy and tokens == 0:
            self.idle_micro_joules += spent
            return
        self._window_micro_joules += spent
        self._window_tokens += tokens
        self._window_s += reading.at_s - last.at_s
        if self._window_tokens >= MIN_TOKENS and self._window_micro_joules > 0:
            quotient = self._window_micro_joules / self._window_tokens
            keep = 0.0 if self._average is None else math.exp(-self._window_s / self._tau_s)
            self._average = keep * (self._average or 0.0) + (1.0 - keep) * quotient
            self.served_micro_joules += self._window_micro_joules
            self._forget_window()

    def _forget_window(self) -> None:
        self._window_micro_joules = 0
        self._window_tokens = 0
        self._window_s = 0.0
