from __future__ import annotations

import asyncio
from typing import cast

from hypothesis import given, strategies as st

from eoc_distributed.config import Limits, UpstreamLimits
from eoc_distributed.errors import WorkerFailed
from eoc_distributed.gateway.exchange import UpstreamConnection
from eoc_distributed.gateway.head_memo import HeadMemo
from eoc_distributed.gateway.intake import Intake
from eoc_distributed.gateway.upstream import Upstream

_HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\nX-Id: 7\r\n\r\n"
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


@st.composite
def messages(draw: st.DrawFn, head: bytes) -> list[bytes]:
    """Messages of one connection: most alike, some with a byte changed, added or left out."""
    made = []
    for _ in range(draw(st.integers(2, 6))):
        body = draw(st.binary(max_size=12))
        message = head % len(body) + body
        if draw(st.booleans()):
            at = draw(st.integers(0, len(message)))
            new = draw(st.sampled_from([b"", b"0", b"9", b"+", b"\r", b"\n", b" ", b"\r\n", b"z"]))
            message = message[:at] + new + message[at + draw(st.integers(0, 1)) :]
        made.append(message)
    return made


@given(messages(_HEAD))
def test_a_known_request_head_means_what_the_parser_says(sent: list[bytes]) -> None:
    whole, in_pieces = Intake(Limits()), Intake(Limits())
    for message in sent:
        whole.feed(message)
        # In two pieces no message is ever known.
        in_pieces.feed(message[:-1])
        in_pieces.feed(message[-1:])
    assert [_seen(arrival) for arrival in _after_each(sent)] == [
        _seen(arrival) for arrival in in_pieces.requests
    ]
    assert [_seen(arrival) for arrival in whole.requests] == [
        _seen(arrival) for arrival in in_pieces.requests
    ]
    assert whole.ahead_bytes == in_pieces.ahead_bytes


def _after_each(sent: list[bytes]) -> list[object]:
    """Feed messages as a quiet client sends them: the next when the last has been taken."""
    intake = Intake(Limits())
    taken: list[object] = []
    for message in sent:
        intake.feed(message)
        while intake.requests:
            arrival = intake.requests.popleft()
            intake.ahead_bytes -= len(arrival.request.body)
            taken.append(arrival)
    return taken


def _seen(arrival: object) -> object:
    request, refusal, keep_alive, http10 = cast(tuple[object, object, bool, bool], arrival)
    return request, refusal is None, keep_alive, http10


class _Wire(asyncio.Transport):
    """Takes what is sent, and remembers whether the connection was broken off."""

    def __init__(self) -> None:
        super().__init__()
        self.aborted = False

    def write(self, data: object) -> None:
        """Drop it."""

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        """Read on: there is nothing to read."""

    def resume_reading(self) -> None:
        """Read on."""


async def _answers(sent: list[bytes], *, pieces: int) -> list[object]:
    """Return what exchanges on one connection make of answers that come in so many pieces."""
    pool = Upstream("w", host="127.0.0.1", port=1, limits=UpstreamLimits())
    connection = UpstreamConnection(pool, asyncio.get_running_loop())
    wire = _Wire()
    connection.connection_made(wire)
    seen: list[object] = []
    for answer in sent:
        exchange = connection.begin(b"GET / HTTP/1.1\r\n\r\n", b"")
        cut = len(answer) if pieces == 1 else len(answer) - 1
        for piece in (answer[:cut], answer[cut:]):
            if piece and not wire.aborted:
                connection.data_received(piece)
        if not exchange.complete:
            connection.connection_lost(None)
        try:
            await exchange.head()
            body = b"".join([piece async for piece in exchange])
        except WorkerFailed as error:
            seen.append(type(error))
            break
        fields = [field for field in exchange.headers if field[0] != b"content-length"]
        seen.append((exchange.status, fields, body))
        if wire.aborted:
            break
    connection.connection_lost(None)
    return seen


@given(messages(_ANSWER))
def test_a_known_answer_head_means_what_the_parser_says(sent: list[bytes]) -> None:
    async def both() -> tuple[list[object], list[object]]:
        return await _answers(sent, pieces=1), await _answers(sent, pieces=2)

    whole, in_pieces = asyncio.run(both())
    assert whole == in_pieces


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(0, 120))
def test_only_the_length_may_differ(first: bytes, second: bytes, at: int) -> None:
    memo = HeadMemo()
    assert memo.note(_HEAD % len(first) + first)
    known = _HEAD % len(second) + second
    assert memo.body_length(known) == len(second)
    assert memo.size == len(known) - len(second)
    size = memo.size
    at %= size
    if not known[at : at + 1].isdigit():
        changed = known[:at] + bytes([known[at] ^ 1]) + known[at + 1 :]
        assert memo.body_length(changed) == -1
    assert memo.body_length(known + b"x") == -1
    assert memo.body_length(known[:-1]) == -1


def test_heads_that_always_differ_are_not_noted_for_ever() -> None:
    memo = HeadMemo()
    noted = [memo.note(b"POST /%d HTTP/1.1\r\nContent-Length: 0\r\n\r\n" % n) for n in range(20)]
    assert noted == [True] * 8 + [False] * 12
