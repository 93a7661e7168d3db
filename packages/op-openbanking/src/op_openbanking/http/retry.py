"""When to send a request again: a pure decision.

A request is sent again only if that cannot do a thing twice. Either nothing of it was sent, or the
request says that it is idempotent; a POST may say so only under a fixed idempotency key, and as a
`Request` is frozen, the octets and the key of the second attempt are those of the first. So a
payment is never repeated under another key or with another body. A request with a DPoP proof is not
repeated once it may have been sent: its caller makes a fresh proof.

`Retry-After` is honoured as a lower bound, up to `max_wait_s`: a bank that asks for more gets no
second attempt, and the caller the answer. Otherwise the wait grows exponentially with full jitter.

Source: RFC 9110 section 10.2.3 (Retry-After); UK Open Banking Read/Write 3.1 (wait at least 1 s
before a repeated payment); "Exponential Backoff And Jitter", AWS Architecture Blog 2015.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

from op_openbanking.errors import ConfigError, OpenBankingError, TransportError
from op_openbanking.flow import Request, Response

RETRYABLE_STATUSES: Final = frozenset({429, 502, 503, 504})
_MAX_SECONDS_DIGITS = 9


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently.

    Attributes:
        max_attempts: Attempts in all, the first included.
        base_s: Longest first wait, in seconds; it doubles with each attempt.
        min_s: Shortest wait. OBIE asks for one second before a payment is repeated.
        cap_s: Longest wait that we choose.
        max_wait_s: Longest wait that a bank may ask for by `Retry-After`.
        max_total_s: Longest time from the first attempt to the start of the last.
    """

    max_attempts: int = 3
    base_s: float = 1.0
    min_s: float = 1.0
    cap_s: float = 20.0
    max_wait_s: float = 60.0
    max_total_s: float = 120.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1 or min(self.base_s, self.min_s, self.cap_s) < 0:
            raise ConfigError("max_attempts must be at least 1 and no wait negative")

    def wait_s(
        self,
        request: Request,
        outcome: Response | OpenBankingError,
        *,
        attempt: int,
        elapsed_s: float,
        now_s: float,
        rng: random.Random,
    ) -> float | None:
        """How long to wait before the same octets are sent again, or None to stop.

        Args:
            request: What was sent.
            outcome: What came of it.
            attempt: Number of this attempt; the first is 1.
            elapsed_s: Seconds since the first attempt began.
            now_s: Seconds since 1970, to read a date in `Retry-After`.
            rng: Draws the jitter.
        """
        if attempt >= self.max_attempts or not _may_repeat(request, outcome):
            return None
        asked_s = retry_after_s(outcome, now_s=now_s)
        if asked_s is not None and asked_s > self.max_wait_s:
            return None
        ceiling_s = min(self.cap_s, self.base_s * 2 ** min(attempt - 1, 30))
        chosen_s = max(self.min_s, rng.uniform(0.0, ceiling_s), asked_s or 0.0)
        return chosen_s if elapsed_s + chosen_s <= self.max_total_s else None


def retry_after_s(outcome: Response | OpenBankingError, *, now_s: float) -> float | None:
    """Seconds that the peer asks to wait, or None where it does not say so readably.

    Args:
        outcome: An answer with or without `Retry-After` (seconds or an HTTP date), or an error.
        now_s: Seconds since 1970.
    """
    if not isinstance(outcome, Response):
        return outcome.retry_after_s if isinstance(outcome, TransportError) else None
    text = (outcome.header("retry-after") or "").strip()
    if text.isascii() and text.isdigit() and len(text) <= _MAX_SECONDS_DIGITS:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None


def _may_repeat(request: Request, outcome: Response | OpenBankingError) -> bool:
    if request.header("dpop") is not None and (isinstance(outcome, Response) or request.idempotent):
        # A proof is good for one request [RFC 9449 11.1]. For an idempotent request a transport
        # does not say whether anything was sent.
        return False
    if isinstance(outcome, Response):
        return request.idempotent and outcome.status in RETRYABLE_STATUSES
    # A transport error that says retryable knows that nothing was sent, or read `idempotent`.
    return isinstance(outcome, TransportError) and outcome.retryable
