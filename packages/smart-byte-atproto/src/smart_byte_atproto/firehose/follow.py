"""Reading a stream for as long as one likes: connections, waits and the durable cursor.

    async with follow(transport, service, cursors=SQLiteCursors(path)) as stream:
        async for item in stream: ...

The cursor is kept after the item has been handled, that is when the next one is asked for: a crash
in between brings the item again, and nothing is lost.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random

import anyio

from smart_byte_atproto.errors import ATProtoError

from .cursors import Cursors
from .subscription import SUBSCRIBE_REPOS, Backoff, Followed, Received, Subscription
from .transport import Transport


@asynccontextmanager
async def follow(
    transport: Transport,
    service: str,
    *,
    nsid: str = SUBSCRIBE_REPOS,
    cursor: int | None = None,
    cursors: Cursors | None = None,
    backoff: Backoff | None = None,
    rng: Random | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> AsyncIterator[AsyncIterator[Followed]]:
    """Follow the stream of a host.

    Args:
        transport: Opens connections.
        service: Origin of the host.
        nsid: The stream; that of labels is read with `labels.parse_labels` from the data.
        cursor: Where to begin; where `cursors` left off by default, else at the present end.
        cursors: Keeps how far everything has been handled.
        backoff: Waits between connections.
        rng: Draws them.
        clock: Seconds that do not go back.
        sleep: Waits.

    Raises:
        ATProtoError: The stream does not go on, such as `FutureCursor`; while it is read.
    """
    key = f"{service} {nsid.rpartition('.')[2]}"
    if cursor is None and cursors is not None:
        cursor = cursors.load(key)
    subscription = Subscription(
        service,
        nsid=nsid,
        cursor=cursor,
        backoff=backoff,
        rng=rng if rng is not None else Random(),  # noqa: S311 - spreads waits
    )

    def handled(received: Received) -> None:
        subscription.handled(received)
        if cursors is not None and subscription.cursor is not None:
            cursors.save(key, subscription.cursor)

    async def items() -> AsyncIterator[Followed]:
        while True:
            error: ATProtoError | None = None
            try:
                async with transport.connect(subscription.url()) as frames:
                    subscription.connected(clock())
                    async for data in frames:
                        received = subscription.take(data)
                        if received is not None:
                            yield received
                            handled(received)
            except ATProtoError as lost:
                error = lost
            again = subscription.lost(error, now_s=clock())
            yield again
            await sleep(again.wait_s)

    stream = items()
    try:
        yield stream
    finally:
        await stream.aclose()  # type: ignore[attr-defined] # an async generator
