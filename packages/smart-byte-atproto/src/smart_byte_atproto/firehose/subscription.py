"""Following a stream: what each frame is to the reader, and when to connect anew.

A core: it is told of frames and failures and answers with what is to be done. A frame that cannot
be read is an event of its own and never ends the stream; a sequence that does not increase is
dropped, since hosts repeat the frame at the cursor; a cursor counts only once the event before it
has been handled.

Source: atproto specification "Event Stream", "Sync"; reference sections 8.1 and 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias
from urllib.parse import urlencode

from smart_byte_atproto.errors import (
    ATProtoError,
    InvalidFrame,
    NetworkFailed,
    XRPCError,
)

from .events import ErrorEvent, Event, parse_event
from .frame import MESSAGE, Frame, decode_frame

SUBSCRIBE_REPOS: Final = "com.atproto.sync.subscribeRepos"
_FUTURE: Final = "FutureCursor"
_NOT_IMPLEMENTED: Final = 501


@dataclass(frozen=True, slots=True)
class Received:
    """A frame of the stream.

    Attributes:
        data: The frame as it came.
        seq: Its place in the stream; None where it has none, or could not be read.
        event: What it says; None for types that are not known, and for frames that are no event.
        problem: Why it could not be read; None where it could.
    """

    data: bytes
    seq: int | None
    event: Event | None
    problem: InvalidFrame | None = None


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The connection was lost and is opened anew.

    Attributes:
        why: How it was lost.
        wait_s: How long is waited before.
        cursor: Where the stream goes on; None for its present end.
    """

    why: str
    wait_s: float
    cursor: int | None


Followed: TypeAlias = Received | Reconnected


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits between connections.

    Attributes:
        base_s: The first; each further one is twice as long, and is drawn from half of it to all.
        most_s: The longest.
        healthy_s: How long a connection must have lasted for the waits to begin anew.
    """

    base_s: float = 0.5
    most_s: float = 60.0
    healthy_s: float = 30.0


class Subscription:
    """The state of one reader.

    Args:
        service: Origin, `wss://HOST` or `https://HOST`.
        nsid: The stream.
        cursor: Last sequence that was handled; None for the present end.
        backoff: Waits.
        rng: Draws them.

    Attributes:
        cursor: Last sequence that was handled.
        skipped: Frames that were dropped, since they do not come after what was seen.
    """

    def __init__(
        self,
        service: str,
        *,
        nsid: str = SUBSCRIBE_REPOS,
        cursor: int | None = None,
        backoff: Backoff | None = None,
        rng: Random,
    ) -> None:
        self.cursor = cursor
        self.skipped = 0
        self._service = stream_origin(service)
        self._nsid = nsid
        self._backoff = backoff if backoff is not None else Backoff()
        self._rng = rng
        self._seen = cursor or 0
        self._failures = 0
        self._since_s = 0.0

    def url(self) -> str:
        """Return where to connect."""
        query = "" if self.cursor is None else "?" + urlencode({"cursor": self.cursor})
        return f"{self._service}/xrpc/{self._nsid}{query}"

    def connected(self, now_s: float) -> None:
        """Note that a connection is there."""
        self._since_s = now_s
        self._seen = self.cursor or 0

    def take(self, data: bytes) -> Received | None:
        """Read a frame; None for one that is to be dropped.

        Raises:
            XRPCError: The stream ends with an error that connecting anew does not mend.
            NetworkFailed: It ends with one that it does.
        """
        try:
            frame = decode_frame(data)
            event = parse_event(frame)
        except InvalidFrame as problem:
            return Received(data, None, None, problem)
        if isinstance(event, ErrorEvent):
            if event.error == _FUTURE:
                raise XRPCError(400, event.error, event.message or "")
            raise NetworkFailed(self._service, f"the stream ended with {event.error}")
        seq = _seq(frame)
        if seq is not None:
            if seq <= self._seen:
                self.skipped += 1
                return None
            self._seen = seq
        return Received(data, seq, event)

    def handled(self, received: Received) -> None:
        """Note that everything a frame asks for has been done."""
        if received.seq is not None:
            self.cursor = received.seq

    def lost(self, error: ATProtoError | None, *, now_s: float) -> Reconnected:
        """Say how the stream goes on after a connection has ended.

        Args:
            error: How it ended; None where the host closed in good order.
            now_s: On the clock of `connected`.

        Raises:
            ATProtoError: It does not go on: the error itself.
        """
        if error is not None and not error.retryable and not isinstance(error, InvalidFrame):
            raise error
        if isinstance(error, XRPCError) and error.status == _NOT_IMPLEMENTED:
            raise error
        healthy = self._since_s and now_s - self._since_s >= self._backoff.healthy_s
        self._failures = 0 if healthy else self._failures + 1
        self._since_s = 0.0
        told = error.retry_after_s if isinstance(error, XRPCError) else None
        longest = min(
            self._backoff.most_s, self._backoff.base_s * 2.0 ** min(16, max(0, self._failures - 1))
        )
        wait_s = longest * (0.5 + 0.5 * self._rng.random())
        if told is not None:
            wait_s = min(self._backoff.most_s, max(wait_s, told))
        return Reconnected(str(error) if error is not None else "closed", wait_s, self.cursor)


def stream_origin(service: str) -> str:
    """Return the origin of a stream: `wss` for `https`, `ws` for `http`."""
    service = service.rstrip("/")
    for plain, stream in (("https://", "wss://"), ("http://", "ws://")):
        if service.startswith(plain):
            return stream + service.removeprefix(plain)
    return service if "://" in service else f"wss://{service}"


def _seq(frame: Frame) -> int | None:
    seq = frame.body.get("seq")
    return seq if frame.op == MESSAGE and type(seq) is int and seq > 0 else None
