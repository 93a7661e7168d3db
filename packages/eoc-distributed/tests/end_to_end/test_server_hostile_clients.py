from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from eoc_distributed.config import Limits
from eoc_distributed.gateway import Server
from eoc_distributed.gateway.body import Whole
from eoc_distributed.http import HTTPRequest, HTTPResponse

pytestmark = pytest.mark.end_to_end

GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /z HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


async def echo(request: HTTPRequest) -> HTTPResponse:
    data = b"%b %b %b;" % (request.method.encode(), request.path.encode(), request.body)
    return HTTPResponse(200, ((b"content-length", b"%d" % len(data)),), Whole(data))


async def talk(server: Server, *pieces: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        async with asyncio.timeout(20):
            return await reader.read()
    finally:
        writer.close()


SMUGGLING = {
    "length beside chunks": b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks beside length": b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    "two lengths that differ": b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "two lengths in one": b"Content-Length: 3, 3\r\n\r\nabc",
    "length with a sign": b"Content-Length: +3\r\n\r\nabc",
    "folded line": b"X: a\r\n b\r\n\r\n",
    "bare line feed": b"X: a\nY: b\r\n\r\n",
    "bare carriage return": b"X: a\rY: b\r\n\r\n",
    "NUL": b"X: a\0b\r\n\r\n",
    "space before the colon": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "unknown coding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "two codings": b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "second host": b"Host: y\r\n\r\n",
    "chunk size with a bare line feed": b"Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("rest", SMUGGLING.values(), ids=SMUGGLING.keys())
async def test_refuses_what_two_parsers_could_read_in_two_ways(rest: bytes) -> None:
    async with Server(echo) as server:
        got = await talk(server, b"POST / HTTP/1.1\r\nHost: x\r\n" + rest + GET)
    status = int(got.split(b" ")[1])
    assert status in (400, 501)
    assert b"connection: close" in got
    assert b"GET /a" not in got


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 505),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\na", 417),
        (b"GET /" + b"u" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 300 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 900_000, 431),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413),
    ],
)
async def test_refuses_what_is_no_request_or_too_large(head: bytes, status: int) -> None:
    async with Server(echo) as server:
        got = await talk(server, head)
    assert int(got.split(b" ")[1]) == status


async def test_a_chunked_body_above_the_limit_is_refused_before_its_end() -> None:
    async with Server(echo, limits=Limits(body_bytes=1000)) as server:
        got = await talk(
            server,
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
            *([b"1f4\r\n" + b"a" * 500 + b"\r\n"] * 3),
        )
    assert got.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"request_too_large"' in got


async def test_endless_trailers_are_refused() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
    async with Server(echo) as server:
        got = await talk(server, head, b"y" * 500_000)
    assert got.startswith(b"HTTP/1.1 400 ")


async def test_a_request_may_be_cut_at_every_byte() -> None:
    message = (
        b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n" + LAST
    )
    async with Server(echo) as server:
        whole = await talk(server, message)
        assert b"POST /a abcde;" in whole
        assert b"GET /z ;" in whole
        for cut in range(1, len(message)):
            got = await talk(server, message[:cut], message[cut:])
            assert got.count(b"HTTP/1.1 200") == 2, cut
            assert b"POST /a abcde;" in got
        one_by_one = await talk(server, *(message[n : n + 1] for n in range(len(message))))
    assert b"POST /a abcde;" in one_by_one


async def test_pipelined_requests_are_answered_in_order() -> None:
    requests = [b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % n for n in range(100)]
    async with Server(echo, limits=Limits(pipelined=4)) as server:
        got = await talk(server, b"".join(requests) + LAST)
    paths = [part.split(b" ")[1] for part in got.split(b"GET ")[1:] for part in [b"GET " + part]]
    assert paths == [b"/%d" % n for n in range(100)] + [b"/z"]


async def test_nothing_is_read_after_connection_close() -> None:
    async with Server(echo) as server:
        got = await talk(server, LAST + GET)
    assert got.count(b"HTTP/1.1 200") == 1


async def test_a_client_that_expects_continue_gets_it_before_its_body() -> None:
    async with Server(echo) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            b"POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
            b"Connection: close\r\nContent-Length: 3\r\n\r\n"
        )
        async with asyncio.timeout(20):
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"abc")
            assert b"POST /e abc;" in await reader.read()
        writer.close()


async def test_head_has_the_length_and_no_body() -> None:
    async with Server(echo) as server:
        got = await talk(server, b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + LAST)
    first, _, rest = got.partition(b"\r\n\r\n")
    assert b"content-length: 9" in first
    assert rest.startswith(b"HTTP/1.1 200")


async def test_an_offer_to_upgrade_is_ignored() -> None:
    offer = b"GET /u HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    async with Server(echo) as server:
        got = await talk(server, offer + LAST)
    assert b"GET /u ;" in got
    assert b"GET /z ;" in got


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: %d\r\n\r\n%b" % (len(GET), GET),
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(GET), GET),
    ],
    ids=["length", "chunks"],
)
async def test_a_body_behind_an_offer_to_upgrade_is_the_body_of_its_request(body: bytes) -> None:
    offer = b"POST /u HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n" + body
    async with Server(echo) as server:
        whole = await talk(server, offer + LAST)
        pieces = await talk(server, *((offer + LAST)[n : n + 7] for n in range(0, 400, 7)))
    for got in (whole, pieces):
        assert b"POST /u " + GET + b";" in got
        assert got.count(b"HTTP/1.1 200") == 2
        assert b"GET /z ;" in got


async def test_more_offers_to_upgrade_than_the_stack_is_deep_are_answered() -> None:
    offer = b"GET /u HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    async with Server(echo) as server:
        got = await talk(server, offer * 1200 + LAST)
    assert got.count(b"GET /u ;") == 1200


async def test_a_whole_url_as_target_is_read_as_its_path() -> None:
    async with Server(echo) as server:
        got = await talk(
            server, b"GET http://x/v1?q HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
    assert b"GET /v1?q ;" in got


async def test_http_1_0_gets_a_body_that_ends_with_the_connection() -> None:
    async def stream(_: HTTPRequest) -> HTTPResponse:
        async def pieces() -> AsyncIterator[bytes]:
            yield b"ab"
            yield b"cd"

        return HTTPResponse(200, (), pieces())

    async with Server(stream) as server:
        got = await talk(server, b"GET / HTTP/1.0\r\n\r\n")
    assert b"transfer-encoding" not in got
    assert got.endswith(b"\r\n\r\nabcd")


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"GET / HTTP/1.1\r\nHost: ", b"HTTP/1.1 408 "),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab", b"HTTP/1.1 408 "),
        (b"", b""),
        (GET, b"HTTP/1.1 200 "),
    ],
    ids=["head", "body", "nothing", "kept alive"],
)
async def test_a_client_that_falls_silent_is_let_go(sent: bytes, answer: bytes) -> None:
    limits = Limits(head_timeout_s=0.1, body_idle_timeout_s=0.1, keep_alive_s=0.1)
    async with Server(echo, limits=limits) as server:
        got = await talk(server, sent)
        assert got.startswith(answer)
        assert bool(got) == bool(answer)


async def test_a_slow_reader_holds_the_source_back() -> None:
    made = 0
    reached = asyncio.Event()

    async def endless(_: HTTPRequest) -> HTTPResponse:
        async def pieces() -> AsyncIterator[bytes]:
            nonlocal made
            try:
                while True:
                    made += 1
                    yield bytes(65536)
            finally:
                reached.set()

        return HTTPResponse(200, (), pieces())

    async with Server(endless, limits=Limits(write_timeout_s=0.3)) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
        writer.write(GET)
        async with asyncio.timeout(20):
            await reached.wait()  # cut, since nothing was read
        writer.transport.abort()
    assert made * 65536 < 32 * 1024 * 1024


async def test_a_client_that_leaves_ends_the_work_behind_its_request() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def slow(_: HTTPRequest) -> HTTPResponse:
        started.set()
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()
        raise AssertionError

    async with Server(slow) as server, asyncio.timeout(20):
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET)
        await started.wait()
        writer.close()
        await ended.wait()


async def test_a_fault_of_a_handler_is_a_500_and_the_server_goes_on() -> None:
    async def faulty(request: HTTPRequest) -> HTTPResponse:
        if request.path == "/a":
            raise RuntimeError("fault")
        return await echo(request)

    async with Server(faulty) as server:
        got = await talk(server, GET + LAST)
    assert got.startswith(b"HTTP/1.1 500 ")
    assert b"fault" not in got
    assert b"GET /z ;" in got


async def test_a_body_shorter_than_its_length_cuts_the_connection() -> None:
    async def short(_: HTTPRequest) -> HTTPResponse:
        return HTTPResponse(200, ((b"content-length", b"10"),), Whole(b"abc"))

    async with Server(short) as server:
        got = await talk(server, GET + LAST)
    assert got.count(b"HTTP/1.1 200") == 1


async def test_a_port_in_use_is_an_error_of_the_system_not_a_group() -> None:
    async with Server(echo) as server:
        with pytest.raises(OSError, match="in use"):
            await Server(echo, port=server.port).__aenter__()


async def test_an_error_inside_an_open_server_comes_out_as_it_is() -> None:
    with pytest.raises(LookupError, match="mine"):
        async with Server(echo):
            raise LookupError("mine")


@pytest.mark.parametrize(
    "ahead",
    [GET * 40, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + b"a" * 100_000],
    ids=["many requests", "a large body"],
)
async def test_a_client_that_leaves_is_seen_though_reading_is_paused(ahead: bytes) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def slow(_: HTTPRequest) -> HTTPResponse:
        started.set()
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()
        raise AssertionError

    async with Server(slow, limits=Limits(read_ahead_bytes=1000)) as server, asyncio.timeout(20):
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET)
        await started.wait()
        writer.write(ahead)
        await asyncio.sleep(0)
        writer.close()
        await ended.wait()


async def test_bodies_are_not_read_far_ahead_and_still_all_answered() -> None:
    post = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" + b"a" * 300_000
    async with Server(echo, limits=Limits(read_ahead_bytes=1000)) as server:
        got = await talk(server, post * 3 + LAST)
    assert got.count(b"HTTP/1.1 200") == 4


async def test_a_body_that_trickles_on_is_refused_in_the_end() -> None:
    async with Server(echo, limits=Limits(body_timeout_s=0.2)) as server:
        got = await talk(server, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\na")
    assert got.startswith(b"HTTP/1.1 408 ")


async def test_connections_above_the_limit_are_closed() -> None:
    async with Server(echo, limits=Limits(connections=1)) as server, asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET)
        await reader.readuntil(b";")
        other, second = await asyncio.open_connection("127.0.0.1", server.port)
        with suppress(ConnectionError):
            assert await other.read() == b""
        second.close()
        writer.close()


async def test_an_answer_without_content_has_no_length() -> None:
    async def empty(_: HTTPRequest) -> HTTPResponse:
        return HTTPResponse(204, ((b"content-length", b"0"),), Whole(b""))

    async with Server(empty) as server:
        got = await talk(server, LAST)
    assert b"content-length" not in got


@pytest.mark.parametrize("path", [b"/v1/../x", b"/v1/%2E%2e/x", b"/v1/..", b"/v1/./x?q"])
async def test_dot_segments_are_refused(path: bytes) -> None:
    async with Server(echo) as server:
        got = await talk(server, b"POST " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        fine = await talk(server, LAST.replace(b"/z", b"/v1/models/a..b/.c?d=/../"))
    assert got.startswith(b"HTTP/1.1 400 ")
    assert fine.startswith(b"HTTP/1.1 200 ")


async def test_a_whole_url_without_a_path_keeps_its_query() -> None:
    async with Server(echo) as server:
        got = await talk(server, LAST.replace(b"/z", b"http://x?q=/1"))
    assert b"GET /?q=/1 ;" in got


async def test_an_answer_that_cannot_be_sent_ends_its_connection_and_no_other() -> None:
    async def odd(request: HTTPRequest) -> HTTPResponse:
        headers = ((b"x", b"a\nb"),) if request.path == "/odd" else ()
        return HTTPResponse(200, headers, Whole(b""))

    async with Server(odd) as server:
        assert await talk(server, b"GET /odd HTTP/1.1\r\nhost: x\r\n\r\n") == b""
        assert b"200" in await talk(server, GET + LAST)
