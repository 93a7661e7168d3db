"""Energy per token from a meter's counter and the tokens served meanwhile.

A meter counts all energy of its device, idle time included. Over a window with tokens,
µJ/token = energy of the window / tokens of the window; windows are joined by an average
that forgets with time constant `tau_s`. A window without tokens says nothing about the
energy of a token; its energy is kept apart as idle energy.
Tokens of prompts and of answers are weighed equally.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from eoc_distributed.units import MicroJoules

TAU_S = 60.0
"""Default time constant of the average, s."""
MIN_TOKENS = 16
"""A window is kept open until it has that many tokens: fewer make a noisy quotient."""
MAX_WINDOW_S = 30.0
"""A window without enough tokens is closed after this time, its energy counted as idle."""


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
        self._start: Reading | None = None
        self._tokens = 0
        self._average: float | None = None
        self.idle_micro_joules = 0
        """Energy of windows in which too few tokens were served, µJ."""
        self.served_micro_joules = 0
        """Energy of the windows that made the average, µJ."""

    @property
    def micro_joules_per_token(self) -> MicroJoules | None:
        """The average, rounded; None before the first full window."""
        return None if self._average is None else MicroJoules(round(self._average))

    def add(self, reading: Reading, *, tokens: int) -> None:
        """Take a reading and the tokens served since the reading before it."""
        start = self._start
        self._tokens += tokens
        if start is None or reading.micro_joules < start.micro_joules:
            self._start, self._tokens = reading, 0
            return
        spent = reading.micro_joules - start.micro_joules
        elapsed_s = reading.at_s - start.at_s
        if self._tokens >= MIN_TOKENS and spent > 0:
            quotient = spent / self._tokens
            keep = math.exp(-elapsed_s / self._tau_s) if self._average is not None else 0.0
            self._average = keep * (self._average or 0.0) + (1.0 - keep) * quotient
            self.served_micro_joules += spent
        elif elapsed_s >= MAX_WINDOW_S:
            self.idle_micro_joules += spent
        else:
            return
        self._start, self._tokens = reading, 0
