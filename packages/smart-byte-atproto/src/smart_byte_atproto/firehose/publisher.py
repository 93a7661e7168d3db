"""A stream of one's own: events in order, kept for a while, for any number of readers.

A core: it numbers events, keeps a window of them, and says where a reader begins. `net.publish`
serves it.

Source: atproto specification "Event Stream"; reference sections 8.2 and 8.3.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.repo.repo import Committed

from .encode import commit_body, encode_frame
from .frame import ERROR


@dataclass(frozen=True, slots=True)
class Published:
    """An event of the stream.

    Attributes:
        seq: Its place, from 1.
        frame: As it is sent.
    """

    seq: int
    frame: bytes


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a reader begins.

    Attributes:
        after: The sequence that comes before its first event.
        first: Frames that go before all events, such as the remark that the cursor is too old.
        refusal: The error frame that is sent in place of a stream; None where there is one.
    """

    after: int
    first: tuple[bytes, ...] = ()
    refusal: bytes | None = None


class Publisher:
    """Events in order. Not for several threads.

    Args:
        window: Events that are kept for readers who come later, at least 1.
        window_bytes: Bytes of them.
        last_seq: The last sequence of before, where a stream goes on after a restart.
    """

    def __init__(
        self, *, window: int = 10_000, window_bytes: int = 256 << 20, last_seq: int = 0
    ) -> None:
        if window < 1 or window_bytes < 1 or last_seq < 0:
            raise ValueError("window and window_bytes are at least 1, last_seq at least 0")
        self._window = window
        self._window_bytes = window_bytes
        self._bytes = 0
        self._kept: deque[Published] = deque()
        self.last_seq = last_seq

    @property
    def oldest_seq(self) -> int:
        """Sequence of the oldest event that is kept; one more than the last where none is."""
        return self._kept[0].seq if self._kept else self.last_seq + 1

    def commit(self, made: Committed, *, time: str) -> Published:
        """Publish a commit of a repository.

        Args:
            made: What `Repo.commit` returned.
            time: Datetime as text.
        """
        body = commit_body(made, seq=self.last_seq + 1, time=time)
        return self._publish("#commit", body)

    def identity(self, did: str, *, time: str, handle: str | None = None) -> Published:
        """Publish that the identity of an account may have changed."""
        body: dict[str, dag_cbor.Value] = {"seq": self.last_seq + 1, "did": str(did), "time": time}
        if handle is not None:
            body["handle"] = str(handle)
        return self._publish("#identity", body)

    def account(self, did: str, *, active: bool, time: str, status: str | None = None) -> Published:
        """Publish the hosting status of an account."""
        body: dict[str, dag_cbor.Value] = {
            "seq": self.last_seq + 1,
            "did": str(did),
            "time": time,
            "active": active,
        }
        if status is not None:
            body["status"] = status
        return self._publish("#account", body)

    def begin(self, cursor: int | None) -> Beginning:
        """Say where a reader with a cursor begins; None for the present end."""
        if cursor is None:
            return Beginning(self.last_seq)
        if cursor > self.last_seq:
            return Beginning(self.last_seq, refusal=error_frame("FutureCursor"))
        if cursor + 1 < self.oldest_seq:
            first = () if cursor == 0 and self.oldest_seq == 1 else (info_frame("OutdatedCursor"),)
            return Beginning(self.oldest_seq - 1, first)
        return Beginning(cursor)

    def after(self, seq: int, *, most: int) -> list[Published] | None:
        """Return the next events after a sequence; None if they are no longer kept."""
        if seq + 1 < self.oldest_seq:
            return None
        start = bisect_right(self._kept, seq, key=lambda one: one.seq)
        return list(islice(self._kept, start, start + most))

    def _publish(self, kind: str, body: Mapping[str, dag_cbor.Value]) -> Published:
        made = Published(self.last_seq + 1, encode_frame(kind, body))
        self.last_seq = made.seq
        self._kept.append(made)
        self._bytes += len(made.frame)
        while len(self._kept) > self._window or (
            self._bytes > self._window_bytes and len(self._kept) > 1
        ):
            self._bytes -= len(self._kept.popleft().frame)
        return made


def error_frame(name: str, message: str | None = None) -> bytes:
    """Return the frame that ends a stream with an error."""
    body: dict[str, dag_cbor.Value] = {"error": name}
    if message is not None:
        body["message"] = message
    return dag_cbor.encode({"op": ERROR}) + dag_cbor.encode(body)


def info_frame(name: str) -> bytes:
    """Return a remark."""
    return encode_frame("#info", {"name": name})
