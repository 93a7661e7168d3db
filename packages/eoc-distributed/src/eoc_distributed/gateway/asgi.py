"""The same gateway inside any ASGI server (ASGI 3.0, HTTP)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from eoc_distributed.config import Limits
from eoc_distributed.http import HTTPRequest, HTTPResponse, first_header

from .body import Whole, close_body
from .connection import Handle
from .framing import NO_BODY, end_to_end
from .refusals import refusal

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_NO_CONTENT = 204


class ASGI:
    """An ASGI application around a handler.

    Args:
        handle: Answers requests.
        limits: Of these only `body_bytes` counts; the rest is the ASGI server's.
    """

    def __init__(self, handle: Handle, *, limits: Limits | None = None) -> None:
        self._handle = handle
        self._body_bytes = (limits if limits is not None else Limits()).body_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request; other kinds of connection are refused by returning."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        if scope["type"] != "http":
            return
        body = await self._read(receive)
        if body is None:
            return
        if isinstance(body, HTTPResponse):
            await _send(body, send, head_only=False)
            return
        path = scope.get("raw_path") or scope["path"].encode("utf-8")
        if scope.get("query_string"):
            path += b"?" + scope["query_string"]
        request = HTTPRequest(
            scope["method"], path.decode("latin-1"), tuple(map(tuple, scope["headers"])), body
        )
        async with asyncio.TaskGroup() as group:
            work = group.create_task(self._answer(request, send))
            watching = group.create_task(_until_gone(receive, work))
            work.add_done_callback(lambda _: watching.cancel())

    async def _read(self, receive: Receive) -> bytes | HTTPResponse | None:
        """Return the body, a refusal if it is too large, or None if the client went away."""
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            piece = message.get("body", b"")
            size += len(piece)
            if size > self._body_bytes:
                limit = f"the body is larger than {self._body_bytes} bytes"
                return refusal(413, limit, code="request_too_large")
            pieces.append(piece)
            if not message.get("more_body", False):
                return b"".join(pieces)

    async def _answer(self, request: HTTPRequest, send: Send) -> None:
        response = await self._handle(request)
        try:
            await _send(response, send, head_only=request.method == "HEAD")
        finally:
            await close_body(response)


async def _send(response: HTTPResponse, send: Send, *, head_only: bool) -> None:
    """Send a response.

    Raises:
        StreamBroken: The body broke off; the ASGI server then cuts the connection.
    """
    headers = end_to_end(response.headers + response.added)
    body = response.body
    if response.status in NO_BODY:
        head_only = True
        if response.status == _NO_CONTENT:
            headers = end_to_end(headers, also_drop=frozenset({b"content-length"}))
    elif isinstance(body, Whole) and first_header(headers, b"content-length") is None:
        headers = (*headers, (b"content-length", b"%d" % len(body.data)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    if not head_only:
        async for piece in response.body:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive, work: asyncio.Task[None]) -> None:
    """Cancel the work once the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass
    work.cancel()


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
