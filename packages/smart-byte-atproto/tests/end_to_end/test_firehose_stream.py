"""A local repository streamed over real WebSockets to our own reader, and hosts that fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import anyio
import pytest
from websockets.asyncio.server import ServerConnection, serve

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import RequestRefused, ResponseInvalid, XRPCError
from smart_byte_atproto.firehose.cursors import SQLiteCursors
from smart_byte_atproto.firehose.encode import encode_frame
from smart_byte_atproto.firehose.events import CommitEvent
from smart_byte_atproto.firehose.follow import follow
from smart_byte_atproto.firehose.publisher import Publisher
from smart_byte_atproto.firehose.subscription import Backoff, Received, Reconnected
from smart_byte_atproto.firehose.verdict import Outcome, StreamVerifier
from smart_byte_atproto.labels import (
    SUBSCRIBE_LABELS,
    Label,
    parse_labels,
    sign_label,
    verify_label,
)
from smart_byte_atproto.net.publish import serve_firehose
from smart_byte_atproto.net.websocket import WebSocketTransport
from smart_byte_atproto.repo import Repo
from smart_byte_atproto.stores.memory import MemoryStore
from smart_byte_atproto.syntax import DID, Datetime

pytestmark = pytest.mark.end_to_end

ACCOUNT, TIME = DID("did:plc:gito43bv6lbityhgk36c23h2"), "2026-01-01T00:00:00.000Z"
KEY = PrivateKey.from_hex(KeyType.K256, "".join(f"{n:02x}" for n in range(1, 33)))
POST = "app.bsky.feed.post"
QUICK = Backoff(base_s=0.01, most_s=0.05, healthy_s=30)


def frame(seq: int) -> bytes:
    return encode_frame("#identity", {"seq": seq, "did": str(ACCOUNT), "time": TIME})


async def take(url: str, count: int, **options: object) -> list[object]:
    """Follow a stream for so many items."""
    seen: list[object] = []
    transport = WebSocketTransport(local=True, open_timeout_s=2, ping_s=0.5)
    with anyio.fail_after(20):
        async with follow(
            transport,
            url,
            rng=Random(1),
            backoff=QUICK,
            **options,  # type: ignore[arg-type]
        ) as stream:
            async for item in stream:
                seen.append(item)
                if len(seen) == count:
                    break
    return seen


@asynccontextmanager
async def host(behave: Callable[[ServerConnection, int], Awaitable[None]]) -> AsyncIterator[str]:
    """Serve WebSockets that behave as told; the number of the connection is handed along."""
    number = 0

    async def handle(connection: ServerConnection) -> None:
        nonlocal number
        number += 1
        await behave(connection, number)

    async with serve(handle, "127.0.0.1", 0, ping_interval=None, max_size=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"http://127.0.0.1:{port}"


async def test_a_repository_is_published_and_followed_with_everything_verified(
    tmp_path: Path,
) -> None:
    publisher, repo = Publisher(), Repo.create(ACCOUNT, MemoryStore())
    verifier = StreamVerifier(lambda _: KEY.public_key)
    cursors = SQLiteCursors(tmp_path / "cursors")
    async with serve_firehose(publisher) as server:
        publisher.account(ACCOUNT, active=True, time=TIME)
        for number in range(5):
            record: dict[str, Value] = {"$type": POST, "text": str(number)}
            staged = repo.create_record(f"{POST}/{number}", record)
            made = staged.commit(KEY, rev=f"3jzfcijpj2z{'abcdefg'[number]}2")
            publisher.commit(made, time=TIME)
            repo = made.repo
        server.wake()
        items = await take(server.url, 4, cursor=0, cursors=cursors)
        seen = [item for item in items if isinstance(item, Received)]
        assert [item.seq for item in seen] == [1, 2, 3, 4]
        # The fourth was not handled to its end: it comes again.
        seen += [i for i in await take(server.url, 3, cursors=cursors) if isinstance(i, Received)]
        assert [item.seq for item in seen[4:]] == [4, 5, 6]
        for item in (*seen[:3], *seen[4:]):
            verdict = verifier.verify(item.data)
            assert verdict.outcome is Outcome.APPLIED, verdict
        assert isinstance(seen[-1].event, CommitEvent)
    cursors.close()


async def test_what_is_published_later_arrives_and_many_readers_follow() -> None:
    publisher = Publisher()
    async with serve_firehose(publisher) as server:
        found: list[list[object]] = []

        async def reader() -> None:
            found.append(await take(server.url, 3, cursor=0))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(reader)
            for _ in range(3):
                await anyio.sleep(0.02)
                publisher.identity(ACCOUNT, time=TIME)
                server.wake()
        assert [[item.seq for item in one if isinstance(item, Received)] for one in found] == [
            [1, 2, 3]
        ] * 5
        assert server.readers <= 5


async def test_a_reader_that_falls_behind_is_told_and_goes_on() -> None:
    publisher = Publisher(window=2)
    publisher.identity(ACCOUNT, time=TIME)
    async with serve_firehose(publisher) as server:
        for _ in range(5):
            publisher.identity(ACCOUNT, time=TIME)
        items = await take(server.url, 3, cursor=1)
        received = [item for item in items if isinstance(item, Received)]
        assert [item.seq for item in received] == [None, 5, 6]


async def test_requests_that_are_no_subscription_are_refused() -> None:
    async with serve_firehose(Publisher()) as server:
        with pytest.raises(XRPCError, match="FutureCursor"):
            await take(server.url, 1, cursor=99)
        transport = WebSocketTransport(local=True)
        for path, name in (
            ("/xrpc/com.example.other", "XRPCNotSupported"),
            ("/xrpc/com.atproto.sync.subscribeRepos?cursor=x", "InvalidRequest"),
        ):
            with pytest.raises(XRPCError, match=name):
                async with transport.connect(server.url + path):
                    pass


async def test_a_host_that_closes_cuts_or_goes_silent_is_connected_to_anew() -> None:
    async def behave(connection: ServerConnection, number: int) -> None:
        await connection.send(frame(number))
        if number == 1:
            await connection.close(1011, "sorry")
        elif number == 2:
            connection.transport.abort()
        elif number == 3:
            # Half a frame, and nothing any more, not even answers to pings.
            connection.transport.write(b"\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff")
            connection.transport.pause_reading()
            await asyncio.sleep(3)
            connection.transport.abort()
        else:
            await connection.wait_closed()

    async with host(behave) as url:
        items = await take(url, 7)
    kinds = [item.seq if isinstance(item, Received) else "again" for item in items]
    assert kinds == [1, "again", 2, "again", 3, "again", 4]


async def test_frames_that_are_none_are_events_of_their_own() -> None:
    async def behave(connection: ServerConnection, _: int) -> None:
        for message in (frame(1), "text", b"", b"\xa0", frame(2), frame(1), frame(3)):
            await connection.send(message)
        await connection.wait_closed()

    async with host(behave) as url:
        items = await take(url, 6)
    seen = [item for item in items if isinstance(item, Received)]
    assert [item.seq for item in seen] == [1, None, None, None, 2, 3]
    assert [item.problem is not None for item in seen] == [False, True, True, True, False, False]


async def test_a_frame_of_5_mb_comes_and_a_longer_one_does_not() -> None:
    big = encode_frame("#later", {"seq": 1, "x": b"\0" * 4_900_000})

    async def behave(connection: ServerConnection, number: int) -> None:
        await connection.send(big if number == 1 else frame(2))
        if number == 1:
            await connection.send(b"\0" * 6_000_000)
        await connection.wait_closed()

    async with host(behave) as url:
        items = await take(url, 3)
    assert [item.seq if isinstance(item, Received) else "again" for item in items] == [
        1,
        "again",
        2,
    ]
    again = items[1]
    assert isinstance(again, Reconnected)
    assert "longer" in again.why


async def test_a_page_in_place_of_a_stream_is_told() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ResponseInvalid):
            await take(f"http://127.0.0.1:{port}", 1)


async def test_hosts_inside_are_not_asked() -> None:
    for url in ("wss://10.0.0.1", "ws://example.com", "wss://user@example.com", "ws://127.0.0.1:1"):
        with pytest.raises(RequestRefused):
            async with WebSocketTransport().connect(url + "/xrpc/x"):
                pass


async def test_nobody_there_is_tried_again() -> None:
    server = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    items = await take(f"http://127.0.0.1:{port}", 3)
    assert all(isinstance(item, Reconnected) for item in items)


async def test_a_slow_reader_slows_the_socket() -> None:
    sent = 0

    async def behave(connection: ServerConnection, _: int) -> None:
        nonlocal sent
        body = encode_frame("#later", {"x": b"\0" * 100_000})
        for _ in range(2000):
            await connection.send(body)
            sent += 1

    async with host(behave) as url:
        transport = WebSocketTransport(local=True)
        async with transport.connect(url.replace("http", "ws") + "/xrpc/x") as frames:
            await anext(frames)
            await anyio.sleep(0.5)
            assert sent < 500
    assert sent < 2000


async def test_labels_are_followed_over_a_lost_connection(tmp_path: Path) -> None:
    asked: list[str] = []

    async def behave(connection: ServerConnection, number: int) -> None:
        assert connection.request is not None
        asked.append(connection.request.path)
        said = Label(ACCOUNT, str(ACCOUNT), f"value-{number}", Datetime(TIME))
        signed = sign_label(said, KEY).to_fields()
        await connection.send(encode_frame("#labels", {"seq": number, "labels": [signed]}))
        await connection.close()

    seen: list[Label] = []
    async with host(behave) as url:
        cursors = SQLiteCursors(tmp_path / "cursors")
        for item in await take(url, 5, nsid=SUBSCRIBE_LABELS, cursors=cursors):
            if isinstance(item, Received):
                event = parse_labels(item.data)
                assert event is not None
                seen += event.labels
    for label in seen:
        verify_label(label, KEY.public_key)
    assert [label.val for label in seen] == ["value-1", "value-2", "value-3"]
    where = f"/xrpc/{SUBSCRIBE_LABELS}"
    assert asked[:3] == [where, f"{where}?cursor=1", f"{where}?cursor=2"]
