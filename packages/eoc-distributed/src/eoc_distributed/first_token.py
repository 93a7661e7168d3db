"""When the first token of the next request will come, from those of the last ones.

What a request waits for is what stood before it: the prompt tokens that its worker had not read,
and its own. So the time is fitted as

    t = base + tokens x slope,    tokens = unread when it was sent + its own,

by least squares that forget, and what the fit misses is kept as a mean deviation. The slope takes
in what a data sheet does not tell: prompts are read in passes that also decode. The prediction is
the fit plus three mean deviations, as a retransmission timer is set, since it is held against an
objective for the tail.

Source: recursive least squares with a forgetting factor; Jacobson, "Congestion Avoidance and
Control", SIGCOMM 1988, for the mean deviation.
"""

from __future__ import annotations

from typing import Final

MAX_AGE_S: Final = 60.0
"""What is older does not count, so that a worker that was slow once is tried again."""
_FORGET: Final = 0.97
_DEVIATIONS: Final = 3.0
_DEVIATION_GAIN: Final = 0.05
_FLAT: Final = 1e-6
"""Share of the squares below which all counts are taken for one and the same."""


class FirstTokenModel:
    """Predicts times to first token of one worker."""

    __slots__ = (
        "_base",
        "_deviation",
        "_last_s",
        "_ones",
        "_own",
        "_slope",
        "_x",
        "_xx",
        "_xy",
        "_y",
    )

    def __init__(self) -> None:
        self._ones = self._x = self._xx = self._y = self._xy = 0.0
        self._base = self._slope = self._deviation = self._own = 0.0
        self._last_s = float("-inf")

    def add(self, now_s: float, ttft_ms: float, *, tokens: int, own: int) -> None:
        """Take a time to first token.

        Args:
            now_s: When it came, s.
            ttft_ms: The time, ms.
            tokens: Prompt tokens that had to be read before it, its own included.
            own: Its own.
        """
        if now_s - self._last_s > MAX_AGE_S:
            self._ones = self._x = self._xx = self._y = self._xy = 0.0
            self._deviation, self._own = 0.0, float(own)
        elif self._ones:
            missed = abs(ttft_ms - self._base - self._slope * tokens)
            self._deviation += _DEVIATION_GAIN * (missed - self._deviation)
            self._own += _DEVIATION_GAIN * (own - self._own)
        self._last_s = now_s
        keep = _FORGET
        self._ones = keep * self._ones + 1.0
        self._x = keep * self._x + tokens
        self._xx = keep * self._xx + tokens * tokens
        self._y = keep * self._y + ttft_ms
        self._xy = keep * self._xy + tokens * ttft_ms
        spread = self._ones * self._xx - self._x * self._x
        if spread > _FLAT * self._ones * self._xx:
            slope = (self._ones * self._xy - self._x * self._y) / spread
            # A slope below 0, or a base below 0, is noise; through the origin is the next best.
            self._slope = max(0.0, slope)
            if (self._y - self._slope * self._x) < 0:
                self._slope = self._xy / self._xx
        self._base = max(0.0, (self._y - self._slope * self._x) / self._ones)

    def predict_ms(self, now_s: float, *, unread: int) -> float | None:
        """Return the time to the first token of a request of usual length, ms.

        Args:
            now_s: This moment, s.
            unread: Prompt tokens that the worker has not read.

        Returns:
            None where nothing recent is known.
        """
        if now_s - self._last_s > MAX_AGE_S:
            return None
        return self._base + self._slope * (unread + self._own) + _DEVIATIONS * self._deviation
