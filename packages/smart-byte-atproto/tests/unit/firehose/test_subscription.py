from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from smart_byte_atproto.errors import (
    ATProtoError,
    InvalidFrame,
    NetworkFailed,
    RequestRefused,
    XRPCError,
    XRPCUnavailable,
)
from smart_byte_atproto.firehose.cursors import MemoryCursors, SQLiteCursors
from smart_byte_atproto.firehose.encode import encode_frame
from smart_byte_atproto.firehose.follow import follow
from smart_byte_atproto.firehose.memory import MemoryTransport
from smart_byte_atproto.firehose.publisher import Publisher, error_frame, info_frame
from smart_byte_atproto.firehose.subscription import (
    Backoff,
    Received,
    Reconnected,
    Subscription,
    stream_origin,
)

DID, TIME = "did:plc:gito43bv6lbityhgk36c23h2", "2026-01-01T00:00:00.000Z"


def frame(seq: int) -> bytes:
    return encode_frame("#identity", {"seq": seq, "did": DID, "time": TIME})


async def read(
    transport: MemoryTransport, *, until: int, cursors: MemoryCursors | None = None
) -> list[int | str | None]:
    """Follow a scripted stream for so many items; sequences, and words for other things."""
    seen: list[int | str | None] = []

    async def no_wait(_: float) -> None:
        """Wait for nothing."""

    async with follow(
        transport, "https://host.test", cursors=cursors, rng=Random(1), sleep=no_wait
    ) as stream:
        async for item in stream:
            match item:
                case Reconnected():
                    seen.append("again")
                case Received(problem=InvalidFrame()):
                    seen.append("unreadable")
                case Received():
                    seen.append(item.seq)
            if len(seen) >= until:
                break
    return seen


async def test_the_stream_goes_on_where_it_broke() -> None:
    transport = MemoryTransport(
        [
            [frame(1), frame(2), NetworkFailed("h", "cut")],
            [frame(2), frame(3)],
            [frame(4)],
        ]
    )
    assert await read(transport, until=6) == [1, 2, "again", 3, "again", 4]
    assert transport.cursors == [None, 2, 3]


async def test_a_cursor_counts_once_the_event_has_been_handled() -> None:
    cursors = MemoryCursors()
    transport = MemoryTransport([[frame(1), frame(2), frame(3)]])
    assert await read(transport, until=2, cursors=cursors) == [1, 2]
    # The second was handed out and its handling never ended.
    assert cursors.load("https://host.test subscribeRepos") == 1
    again = MemoryTransport([[frame(1), frame(2), frame(3)]])
    assert await read(again, until=2, cursors=cursors) == [2, 3]
    assert again.cursors == [1]


async def test_a_frame_that_cannot_be_read_does_not_end_the_stream() -> None:
    transport = MemoryTransport([[frame(1), b"\xff", b"", frame(2), frame(1), frame(2), frame(3)]])
    assert await read(transport, until=5) == [1, "unreadable", "unreadable", 2, 3]


async def test_remarks_and_unknown_types_pass() -> None:
    other = encode_frame("#later", {"seq": 5})
    transport = MemoryTransport([[info_frame("OutdatedCursor"), frame(4), other, frame(6)]])
    assert await read(transport, until=4) == [None, 4, 5, 6]


@pytest.mark.parametrize(
    "final", [RequestRefused("inside", code="address"), XRPCError(400, "InvalidRequest", "")]
)
async def test_what_connecting_anew_does_not_mend_ends_the_stream(final: ATProtoError) -> None:
    with pytest.raises(type(final)):
        await read(MemoryTransport([[frame(1), final]]), until=9)


async def test_a_cursor_of_the_future_is_told() -> None:
    with pytest.raises(XRPCError, match="FutureCursor"):
        await read(MemoryTransport([[error_frame("FutureCursor")]]), until=9)
    slow = MemoryTransport([[frame(1), error_frame("ConsumerTooSlow")], [frame(2)]])
    assert await read(slow, until=3) == [1, "again", 2]


def test_waits_grow_with_failures_and_begin_anew_after_a_healthy_while() -> None:
    subscription = Subscription(
        "https://h.test", rng=Random(1), backoff=Backoff(base_s=1, most_s=16, healthy_s=30)
    )
    now_s, waits = 0.0, []
    for _ in range(8):
        subscription.connected(now_s)
        now_s += 1
        waits.append(subscription.lost(NetworkFailed("h", "x"), now_s=now_s).wait_s)
    assert all(2**n / 2 <= wait <= 2**n for n, wait in enumerate(waits[:5]))
    assert all(8 <= wait <= 16 for wait in waits[4:])
    subscription.connected(now_s)
    assert subscription.lost(None, now_s=now_s + 60).wait_s <= 1
    told = XRPCUnavailable(429, "RateLimitExceeded", "", retry_after_s=12)
    assert 12 <= subscription.lost(told, now_s=now_s + 61).wait_s <= 16


def test_origins_of_streams() -> None:
    assert stream_origin("https://a.test/") == "wss://a.test"
    assert stream_origin("http://localhost:1") == "ws://localhost:1"
    assert stream_origin("wss://a.test") == "wss://a.test"
    assert stream_origin("a.test") == "wss://a.test"


def test_cursors_survive_in_a_file(tmp_path: Path) -> None:
    with SQLiteCursors(tmp_path / "cursors") as kept:
        assert kept.load("a") is None
        kept.save("a", 5)
        kept.save("a", 7)
        kept.save("b", 1)
    with SQLiteCursors(tmp_path / "cursors") as kept:
        assert (kept.load("a"), kept.load("b")) == (7, 1)


def test_a_publisher_keeps_a_window_and_says_where_readers_begin() -> None:
    publisher = Publisher(window=3)
    for _ in range(5):
        publisher.identity(DID, time=TIME)
    assert (publisher.oldest_seq, publisher.last_seq) == (3, 5)
    assert publisher.begin(None).after == 5
    assert publisher.begin(4).after == 4
    outdated = publisher.begin(0)
    assert (outdated.after, len(outdated.first)) == (2, 1)
    assert publisher.begin(9).refusal is not None
    events = publisher.after(3, most=10)
    assert events is not None
    assert [event.seq for event in events] == [4, 5]
    assert publisher.after(1, most=10) is None
    small = Publisher(window_bytes=1)
    small.identity(DID, time=TIME)
    small.identity(DID, time=TIME)
    assert small.oldest_seq == 2
