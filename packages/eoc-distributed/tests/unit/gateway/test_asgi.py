from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from eoc_distributed.config import Limits
from eoc_distributed.gateway.asgi import ASGI
from eoc_distributed.gateway.body import Whole
from eoc_distributed.http import HTTPRequest, HTTPResponse

SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "POST",
    "path": "/v1/é",
    "raw_path": b"/v1/%C3%A9",
    "query_string": b"a=b",
    "headers": [(b"x", b"y")],
}


async def call(app: ASGI, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    for message in messages:
        queue.put_nowait(message)
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(dict(message))

    async with asyncio.timeout(20):
        await app(dict(SCOPE), queue.get, send)
    return sent


async def echo(request: HTTPRequest) -> HTTPResponse:
    return HTTPResponse(200, request.headers, Whole(request.path.encode() + b" " + request.body))


async def test_a_request_in_pieces_is_answered() -> None:
    sent = await call(
        ASGI(echo),
        {"type": "http.request", "body": b"ab", "more_body": True},
        {"type": "http.request", "body": b"c"},
    )
    assert sent[0]["status"] == 200
    assert sent[0]["headers"] == (
        (b"x", b"y"),
        (b"content-length", b"%d" % len(b"/v1/%C3%A9?a=b abc")),
    )
    assert b"".join(message["body"] for message in sent[1:]) == b"/v1/%C3%A9?a=b abc"
    assert [message["more_body"] for message in sent[1:]] == [True, False]


async def test_a_body_too_large_is_refused() -> None:
    sent = await call(
        ASGI(echo, limits=Limits(body_bytes=2)), {"type": "http.request", "body": b"abc"}
    )
    assert sent[0]["status"] == 413


async def test_headers_of_this_one_answer_are_sent_too() -> None:
    async def costly(_: HTTPRequest) -> HTTPResponse:
        return HTTPResponse(200, ((b"x", b"y"),), Whole(b"z"), added=((b"x-cost", b"1"),))

    sent = await call(ASGI(costly), {"type": "http.request", "body": b""})
    assert sent[0]["headers"] == ((b"x", b"y"), (b"x-cost", b"1"), (b"content-length", b"1"))


async def test_an_answer_without_content_has_no_length_and_no_body() -> None:
    async def nothing(_: HTTPRequest) -> HTTPResponse:
        return HTTPResponse(204, ((b"content-length", b"3"),), Whole(b"abc"))

    sent = await call(ASGI(nothing), {"type": "http.request", "body": b""})
    assert sent[0]["headers"] == ()
    assert b"".join(message["body"] for message in sent[1:]) == b""


async def test_a_client_that_leaves_ends_the_body() -> None:
    closed = asyncio.Event()

    async def endless(_: HTTPRequest) -> HTTPResponse:
        async def body() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x"
                    await asyncio.sleep(0)
            finally:
                closed.set()

        return HTTPResponse(200, (), body())

    await call(ASGI(endless), {"type": "http.request"}, {"type": "http.disconnect"})
    assert closed.is_set()


async def test_lifespan_is_acknowledged() -> None:
    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    sent: list[str] = []

    async def receive() -> dict[str, Any]:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await ASGI(echo)({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
