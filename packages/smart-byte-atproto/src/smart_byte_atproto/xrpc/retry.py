"""When a call is sent again.

A query may be sent again after any failure that may pass. A procedure is, only where it is sure
that it was not taken: the service said 429, or no connection came about.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from smart_byte_atproto.errors import ATProtoError, NetworkFailed, XRPCError

from .call import Call, finite

_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long between.

    Attributes:
        attempts: Sendings of one call in all, at least 1.
        base_s: First wait; each further one is twice as long, and each is drawn from half of it
            to all of it.
        most_s: Longest wait; a service that wants a longer one is not waited for.
    """

    attempts: int = 3
    base_s: float = 0.5
    most_s: float = 30.0

    def wait_s(
        self, call: Call, error: ATProtoError, *, attempt: int, sent: bool, rng: Random
    ) -> float | None:
        """Return how long to wait before a call is sent again; None for never.

        Args:
            call: What was called.
            error: How it failed.
            attempt: How often it has been sent, from 1.
            sent: Whether any of it may have reached the service.
            rng: Draws the wait.
        """
        if attempt >= self.attempts or not error.retryable:
            return None
        refused = isinstance(error, XRPCError) and error.status == _TOO_MANY
        unsent = isinstance(error, NetworkFailed) and not sent
        if call.is_procedure and not (refused or unsent):
            return None
        told = error.retry_after_s if isinstance(error, XRPCError) else None
        if told is not None:
            return finite(told, self.most_s)
        wait_s = min(self.most_s, self.base_s * 2.0 ** (attempt - 1))
        return wait_s * (0.5 + 0.5 * rng.random())
