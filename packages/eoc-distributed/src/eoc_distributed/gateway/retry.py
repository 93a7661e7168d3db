"""When a request may be sent to a further worker.

Only before the first byte has reached the client, at most twice, and within a budget: a
share of all requests, so that retries cannot double the load of a fleet in trouble.
Source: Envoy's and Finagle's retry budgets (deposit 0.2 a request).
"""

from __future__ import annotations

MAX_EXTRA_ATTEMPTS = 2
DEPOSIT = 0.2
MAX_TOKENS = 10.0

RETRIED = frozenset({429, 500, 502, 503, 504})
"""Statuses of one worker after which another may do better."""
SERVER_ERRORS = frozenset({500, 502, 504})
"""Statuses that speak against a worker's health; 429 and 503 are overload."""


class RetryBudget:
    """A bucket of retries: each request puts a share in, each retry takes one out."""

    def __init__(self) -> None:
        self._tokens = MAX_TOKENS

    def deposit(self) -> None:
        """Note a request."""
        if self._tokens < MAX_TOKENS:
            self._tokens = min(MAX_TOKENS, self._tokens + DEPOSIT)

    def withdraw(self) -> bool:
        """Return whether a retry may be made, and take it out."""
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True
