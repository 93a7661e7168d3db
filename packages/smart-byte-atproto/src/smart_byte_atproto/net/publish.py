"""Serves a stream of one's own over WebSocket.

Every reader follows at its own pace out of the publisher's window; one that falls behind it is told
`ConsumerTooSlow` and let go. What is sent and not taken is bounded by the socket alone.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from smart_byte_atproto.firehose.publisher import Publisher, error_frame
from smart_byte_atproto.firehose.subscription import SUBSCRIBE_REPOS

_BATCH: Final = 64
_READERS: Final = 1000
_PATH: Final = f"/xrpc/{SUBSCRIBE_REPOS}"


class FirehoseServer:
    """Readers of one publisher; call `wake` after each event.

    Attributes:
        url: Where it is served.
        readers: How many follow.
    """

    def __init__(self, publisher: Publisher) -> None:
        self.publisher = publisher
        self.url = ""
        self.readers = 0
        self._news = asyncio.Event()

    def wake(self) -> None:
        """Let readers see what has been published."""
        self._news.set()
        self._news = asyncio.Event()

    async def handle(self, connection: ServerConnection) -> None:
        """Serve one reader."""
        self.readers += 1
        try:
            await self._serve(connection)
        except ConnectionClosed:
            return
        finally:
            self.readers -= 1

    async def _serve(self, connection: ServerConnection) -> None:
        asked = connection.request
        cursor = _cursor(asked.path) if asked is not None else None
        beginning = self.publisher.begin(cursor)
        if beginning.refusal is not None:
            await connection.send(beginning.refusal)
            return
        for frame in beginning.first:
            await connection.send(frame)
        seq = beginning.after
        closed = asyncio.ensure_future(connection.wait_closed())
        try:
            while not closed.done():
                news = self._news
                events = self.publisher.after(seq, most=_BATCH)
                if events is None:
                    await connection.send(error_frame("ConsumerTooSlow"))
                    return
                for event in events:
                    await connection.send(event.frame)
                    seq = event.seq
                if not events:
                    waiting = asyncio.ensure_future(news.wait())
                    await asyncio.wait((waiting, closed), return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
        finally:
            closed.cancel()

    def check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse what is no subscription, before the upgrade."""
        parts = urlsplit(request.path)
        if parts.path != _PATH:
            return _refusal(connection, HTTPStatus.NOT_FOUND, "XRPCNotSupported")
        if self.readers >= _READERS:
            return _refusal(connection, HTTPStatus.TOO_MANY_REQUESTS, "RateLimitExceeded")
        try:
            _cursor(request.path)
        except ValueError:
            return _refusal(connection, HTTPStatus.BAD_REQUEST, "InvalidRequest")
        return None


@asynccontextmanager
async def serve_firehose(
    publisher: Publisher, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[FirehoseServer]:
    """Serve a publisher's stream while the context is open.

    Args:
        publisher: What is served.
        host: Address to listen on.
        port: 0 for any free one.
    """
    readers = FirehoseServer(publisher)
    async with serve(
        readers.handle,
        host,
        port,
        process_request=readers.check,
        max_size=1024,
        compression=None,
        ping_interval=20,
        ping_timeout=20,
        close_timeout=2,
    ) as server:
        readers.url = f"ws://{_bound(server)}"
        yield readers


def _bound(server: Server) -> str:
    host, port = next(iter(server.sockets)).getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _cursor(path: str) -> int | None:
    """Return the cursor of a request.

    Raises:
        ValueError: It is no sequence.
    """
    asked = parse_qs(urlsplit(path).query, keep_blank_values=True).get("cursor")
    if asked is None:
        return None
    if len(asked) != 1 or not asked[0].isascii() or not asked[0].isdigit() or len(asked[0]) > 16:  # noqa: PLR2004 - 2^53
        raise ValueError("cursor")
    return int(asked[0])


def _refusal(connection: ServerConnection, status: HTTPStatus, name: str) -> Response:
    response = connection.respond(status, json.dumps({"error": name, "message": status.phrase}))
    del response.headers["Content-Type"]
    response.headers["Content-Type"] = "application/json"
    return response
