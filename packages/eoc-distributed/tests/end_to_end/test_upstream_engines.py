from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from eoc_distributed.config import UpstreamLimits
from eoc_distributed.errors import StreamBroken, WorkerTimeout, WorkerUnreachable
from eoc_distributed.gateway.upstream import Upstream

pytestmark = pytest.mark.end_to_end

HEAD = b"POST /v1/x HTTP/1.1\r\nhost: e\r\ncontent-length: 2\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]


@asynccontextmanager
async def engine(*answers: list[bytes]) -> AsyncIterator[tuple[Upstream, list[int]]]:
    """Each connection answers its requests from the next list; then it is closed."""
    left = list(answers)
    accepted: list[int] = []

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(1)
        try:
            for answer in left.pop(0) if left else []:
                await reader.readexactly(len(HEAD) + 2)
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    limits = UpstreamLimits(first_byte_timeout_s=0.3, idle_timeout_s=0.3)
    upstream = Upstream("w", host="127.0.0.1", port=port, limits=limits)
    try:
        async with asyncio.timeout(20):
            yield upstream, accepted
    finally:
        upstream.close()
        server.close()


async def ask(upstream: Upstream) -> bytes:
    exchange = await upstream.send(HEAD, b"{}")
    return b"".join([piece async for piece in exchange])


@pytest.mark.parametrize(
    "answer",
    [
        OK,
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        b"HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n" + OK,
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
            b"1;x\r\nh\r\n1\r\ni\r\n0\r\nT: 1\r\n\r\n"
        ),
        b"HTTP/1.1 200 OK\r\n\r\nhi",
        b"HTTP/1.0 200 OK\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi",
    ],
    ids=["length", "after 100", "after 103", "chunks", "by close", "1.0", "close"],
)
async def test_reads_bodies_of_every_framing(answer: bytes) -> None:
    async with engine([answer]) as (upstream, _):
        assert await ask(upstream) == b"hi"


async def test_a_connection_is_used_again() -> None:
    async with engine([OK, OK, OK]) as (upstream, accepted):
        for _ in range(3):
            assert await ask(upstream) == b"hi"
        assert len(accepted) == 1


async def test_an_answer_without_body_leaves_the_connection_usable() -> None:
    async with engine([b"HTTP/1.1 204 No Content\r\n\r\n", OK]) as (upstream, accepted):
        assert await ask(upstream) == b""
        assert await ask(upstream) == b"hi"
        assert len(accepted) == 1


async def test_a_stale_connection_is_replaced_once_without_a_word() -> None:
    async with engine([OK], [OK]) as (upstream, accepted):
        assert await ask(upstream) == b"hi"
        assert await ask(upstream) == b"hi"
        assert len(accepted) == 2


async def test_a_fresh_connection_that_closes_is_a_failure() -> None:
    async with engine([b""]) as (upstream, accepted):
        with pytest.raises(WorkerUnreachable):
            await ask(upstream)
        assert len(accepted) == 1


async def test_bytes_of_an_answer_forbid_sending_again() -> None:
    async with engine([OK, b"HTTP/1.1 2"], [OK]) as (upstream, accepted):
        assert await ask(upstream) == b"hi"
        with pytest.raises(WorkerUnreachable):
            await ask(upstream)
        assert len(accepted) == 1


async def test_a_body_cut_short_is_broken_after_what_has_come() -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi"
    async with engine([answer]) as (upstream, _):
        exchange = await upstream.send(HEAD, b"{}")
        assert await anext(exchange) == b"hi"
        with pytest.raises(StreamBroken):
            await anext(exchange)


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 700_000,
        b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ],
    ids=["not http", "length and chunks", "two lengths", "endless head", "upgrade"],
)
async def test_an_answer_that_is_not_http_is_a_failure(answer: bytes) -> None:
    async with engine([answer, OK]) as (upstream, _):
        with pytest.raises(WorkerUnreachable):
            await ask(upstream)
        assert upstream.idle == 0


async def test_bytes_after_an_answer_end_the_connection() -> None:
    async with engine([OK + b"more"], [OK]) as (upstream, accepted):
        assert await ask(upstream) == b"hi"
        assert await ask(upstream) == b"hi"
        assert len(accepted) == 2


async def test_no_answer_in_time_is_a_timeout() -> None:
    async with engine([b"", OK]) as (upstream, accepted):
        with pytest.raises(WorkerTimeout):
            await ask(upstream)
        assert len(accepted) == 1


async def test_a_stream_that_stands_still_breaks() -> None:
    answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nh\r\n"
    async with engine([answer, OK]) as (upstream, _):
        exchange = await upstream.send(HEAD, b"{}")
        assert await anext(exchange) == b"h"
        with pytest.raises(StreamBroken, match="stood still"):
            await anext(exchange)


async def test_closing_an_answer_early_closes_the_connection() -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi"
    async with engine([answer, OK]) as (upstream, _):
        exchange = await upstream.send(HEAD, b"{}")
        await exchange.aclose()
        assert upstream.idle == 0


async def test_an_unread_answer_holds_the_engine_back() -> None:
    sent = 0
    release = asyncio.Event()

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readexactly(len(HEAD) + 2)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.transport.set_write_buffer_limits(high=1024)
        try:
            while sent < 1 << 28:
                writer.write(bytes(1 << 16))
                sent += 1 << 16
                async with asyncio.timeout(0.3):
                    await writer.drain()
        except TimeoutError:
            release.set()
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(flood, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    upstream = Upstream("w", host="127.0.0.1", port=port, limits=UpstreamLimits())
    async with asyncio.timeout(20):
        await upstream.send(HEAD, b"{}")
        await release.wait()
    assert sent < 64 << 20
    upstream.close()
    server.close()
