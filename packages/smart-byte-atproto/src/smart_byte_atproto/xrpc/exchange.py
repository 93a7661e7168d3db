"""One call from beginning to end, as a conversation: sent, waited for, sent again, signed anew.

A generator, so that the blocking and the awaited client are drivers of the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias, cast

from smart_byte_atproto.errors import ATProtoError

from .call import Answer, Call, HTTPCall, build, judge
from .retry import RetryPolicy
from .session import Tokens, is_expired


@dataclass(frozen=True, slots=True)
class Send:
    """Send this; answered with an `Answer` or a `Failure`."""

    call: HTTPCall


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Refresh:
    """Get new tokens in place of these, unless somebody has; answered with the present ones."""

    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Failure:
    """How a sending failed, and whether any of it may have arrived."""

    error: ATProtoError
    sent: bool


Step: TypeAlias = Send | Wait | Refresh
Came: TypeAlias = "Answer | Failure | Tokens | None"
Exchange: TypeAlias = Generator[Step, Came, Answer]


def exchange(
    call: Call,
    *,
    service: str,
    tokens: Tokens | None,
    headers: Mapping[str, str],
    policy: RetryPolicy,
    rng: Random,
    clock: Callable[[], float],
) -> Exchange:
    """Return the conversation of one call.

    Args:
        call: What is called.
        service: Origin of the service; that of the tokens where there are any.
        tokens: The session; None for none.
        headers: Of the client.
        policy: When it is sent again.
        rng: Draws waits.
        clock: Seconds since 1970.

    Raises:
        ATProtoError: How it failed in the end.
    """
    attempt, refreshed = 0, False
    while True:
        attempt += 1
        with_token = call
        if tokens is not None and call.bearer is None:
            with_token = replace(call, bearer=tokens.access)
        origin = tokens.service if tokens is not None and tokens.service else service
        came = yield Send(build(origin, with_token, headers=headers))
        sent = True
        if isinstance(came, Failure):
            error, sent = came.error, came.sent
        else:
            try:
                return judge(cast("Answer", came), now_s=clock())
            except ATProtoError as refused:
                error = refused
        if is_expired(error) and tokens is not None and call.bearer is None and not refreshed:
            refreshed = True
            renewed = yield Refresh(tokens)
            if isinstance(renewed, Tokens):
                tokens = renewed
                continue
        wait_s = policy.wait_s(call, error, attempt=attempt, sent=sent, rng=rng)
        if wait_s is None:
            raise error
        yield Wait(wait_s)
