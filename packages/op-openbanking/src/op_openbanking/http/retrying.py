"""Transports that repeat what may be repeated, around any other transport.

The decision is `retry.RetryPolicy`'s; these two classes wait and send. Clock, sleep and randomness
are handed in.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from op_openbanking.errors import TransportError
from op_openbanking.flow import AsyncTransport, Clock, Request, Response, Transport

from .retry import RetryPolicy


class RetryingTransport:
    """A blocking transport that repeats requests under a policy.

    Args:
        inner: Sends each attempt.
        policy: Decides.
        rng: Draws jitter; it need not be unpredictable.
        clock: Seconds since 1970.
        sleep: Waits that many seconds.
    """

    def __init__(
        self,
        inner: Transport,
        *,
        policy: RetryPolicy | None = None,
        rng: random.Random | None = None,
        clock: Clock = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._inner = inner
        self._policy = policy or RetryPolicy()
        self._rng = rng or random.Random()  # noqa: S311 (jitter, no secret)
        self._clock = clock
        self._sleep = sleep

    def send(self, request: Request) -> Response:
        attempts = _Attempts(request, self._policy, self._rng, self._clock)
        while True:
            outcome: Response | TransportError
            try:
                outcome = self._inner.send(request)
            except TransportError as error:
                outcome = error
            wait_s = attempts.after(outcome)
            if wait_s is None:
                return _delivered(outcome)
            self._sleep(wait_s)


class AsyncRetryingTransport:
    """`RetryingTransport` for asyncio."""

    def __init__(
        self,
        inner: AsyncTransport,
        *,
        policy: RetryPolicy | None = None,
        rng: random.Random | None = None,
        clock: Clock = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._inner = inner
        self._policy = policy or RetryPolicy()
        self._rng = rng or random.Random()  # noqa: S311 (jitter, no secret)
        self._clock = clock
        self._sleep = sleep

    async def send(self, request: Request) -> Response:
        attempts = _Attempts(request, self._policy, self._rng, self._clock)
        while True:
            outcome: Response | TransportError
            try:
                outcome = await self._inner.send(request)
            except TransportError as error:
                outcome = error
            wait_s = attempts.after(outcome)
            if wait_s is None:
                return _delivered(outcome)
            await self._sleep(wait_s)


class _Attempts:
    """Counts the attempts of one request."""

    def __init__(
        self, request: Request, policy: RetryPolicy, rng: random.Random, clock: Clock
    ) -> None:
        self._request, self._policy, self._rng, self._clock = request, policy, rng, clock
        self._began_s = clock()
        self._count = 0

    def after(self, outcome: Response | TransportError) -> float | None:
        self._count += 1
        now_s = self._clock()
        return self._policy.wait_s(
            self._request,
            outcome,
            attempt=self._count,
            elapsed_s=now_s - self._began_s,
            now_s=now_s,
            rng=self._rng,
        )


def _delivered(outcome: Response | TransportError) -> Response:
    if isinstance(outcome, Response):
        return outcome
    raise outcome
