"""One request and its answer on a connection to an engine.

An `Exchange` outlives its use of the connection: once the answer is complete the connection
goes back to the pool, while pieces not yet read stay with the exchange.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, cast

import httptools

from eoc_distributed.errors import (
    StreamBroken,
    WorkerFailed,
    WorkerTimeout,
    WorkerUnreachable,
)
from eoc_distributed.http import Headers

from .deadline import Deadline
from .head_memo import HeadMemo

if TYPE_CHECKING:
    from .upstream import Upstream

_FIRST_FINAL = 200
_BODILESS = frozenset({204, 304})


class Exchange:
    """An answer that is coming in; its body is an async iterator of bytes.

    Attributes:
        status: Final status; 0 until the head is here.
        headers: Names in lower case, all of them, as they came.
        complete: Whether the whole body has come; pieces may still be unread.
        bytes_seen: Whether any byte of an answer has come.
    """

    __slots__ = (
        "_connection",
        "_error",
        "_pieces",
        "_size",
        "_waiter",
        "bytes_seen",
        "complete",
        "headers",
        "status",
    )

    def __init__(self, connection: UpstreamConnection) -> None:
        self.status = 0
        self.headers: Headers = ()
        self.complete = False
        self.bytes_seen = False
        self._connection = connection
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._error: WorkerFailed | None = None
        self._waiter: asyncio.Future[None] | None = None

    def __aiter__(self) -> Exchange:
        return self

    async def __anext__(self) -> bytes:
        pieces = self._pieces
        while not pieces:
            if self._error is not None:
                raise self._error
            if self.complete:
                raise StopAsyncIteration
            await self._more()
        piece = pieces.popleft() if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._size = 0
        if not self.complete:
            self._connection.resume()
        return piece

    async def aclose(self) -> None:
        """Give the answer up; the engine sees the connection close and stops."""
        if not self.complete and self._error is None:
            self._connection.abort()
        self._pieces.clear()

    async def head(self) -> None:
        """Wait for the head.

        Raises:
            WorkerFailed: It will not come.
        """
        try:
            while not self.status:
                if self._error is not None:
                    raise self._error
                await self._more()
        except asyncio.CancelledError:
            self._connection.abort()
            raise

    def take_whole(self) -> bytes | None:
        """Return the unread body if all of it is here, else None."""
        if not self.complete:
            return None
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        return data

    def _more(self) -> asyncio.Future[None]:
        """Return what is done when there is more to see; for one who waits."""
        waiter = self._waiter = self._connection.loop.create_future()
        return waiter

    # Called by the connection.

    def add(self, data: bytes) -> int:
        """Take a piece of the body; return how many bytes are unread."""
        self._pieces.append(data)
        self._size += len(data)
        return self._size

    def fail(self, error: WorkerFailed) -> None:
        """End with an error, after the pieces that have come."""
        if not self.complete and self._error is None:
            self._error = error
            self.wake()

    def wake(self) -> None:
        """Let whoever waits look again."""
        waiter = self._waiter
        if waiter is not None:
            self._waiter = None
            if not waiter.done():
                waiter.set_result(None)


class UpstreamConnection(asyncio.Protocol):
    """A connection to an engine; carries one exchange at a time."""

    def __init__(self, pool: Upstream, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._pool = pool
        self._limits = pool.limits
        self._transport: asyncio.Transport
        self._deadline = Deadline(loop, self._on_deadline)
        self._exchange: Exchange | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._parsed = False
        self._memo = HeadMemo()
        self._known_status = 0
        self._known_headers: Headers = ()
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_size = 0
        self._head_done = False
        self._framed = True
        self._keep_alive = False
        self._finished = False
        self._paused = False
        self._closed = False
        self._idle_since_s = 0.0
        self._began_s = 0.0

    def begin(self, head: bytes, body: bytes) -> Exchange:
        """Send a request; its answer comes into the exchange returned."""
        exchange = self._exchange = Exchange(self)
        if self._parsed:
            self._parser = httptools.HttpResponseParser(self)
            self._parsed = False
        self._headers = []
        self._head_size = 0
        self._head_done = self._finished = False
        self._framed = True
        self._began_s = self.loop.time()
        limits = self._limits
        self._deadline.set(min(limits.first_byte_timeout_s, limits.total_timeout_s))
        if self._transport.is_closing():
            exchange.fail(WorkerUnreachable(self._pool.worker_id, "the connection was closed"))
        elif len(body) < 16384:  # noqa: PLR2004 - copying so little is cheaper than a second write
            self._transport.write(head + body)
        else:
            self._transport.write(head)
            self._transport.write(body)
        return exchange

    def usable(self, max_idle_s: float) -> bool:
        """Return whether another request may be sent."""
        return not self._closed and self.loop.time() - self._idle_since_s < max_idle_s

    def resume(self) -> None:
        """Read on, after the exchange has been emptied."""
        if self._paused and not self._closed:
            self._paused = False
            self._transport.resume_reading()
            self._wait_for_more()

    def abort(self) -> None:
        """Break the connection off."""
        self._closed = True
        self._transport.abort()

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # No isinstance: uvloop's transports are not subclasses of asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            self.abort()  # bytes that nobody asked for
            return
        exchange.bytes_seen = True
        if self._take_known(exchange, data):
            return
        alone = not self._parsed
        self._parsed = True
        if not self._head_done:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._break("the engine changed protocols unasked")
            return
        except (httptools.HttpParserError, ValueError) as error:
            if not self._finished:
                self._break(f"not HTTP/1.1: {error}")
                return
            self._keep_alive = False  # bytes after the answer: not a connection to use again
        if self._finished:
            self._note(exchange, data, alone=alone)
            self._finish(exchange)
        elif self._head_done:
            self._wait_for_more()
            exchange.wake()
        elif self._head_size > self._limits.head_bytes:
            self._break("the head of the answer is too large")

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed = True
        self._deadline.close()
        self._pool.forget(self)
        exchange = self._exchange
        if exchange is None:
            return
        self._exchange = None
        if self._head_done and not self._framed and exc is None:
            exchange.complete = True  # a body that ends with its connection
            exchange.wake()
            return
        why = f": {exc}" if exc is not None else ""
        exchange.fail(self._failure(f"the connection closed before the answer ended{why}"))

    def _take_known(self, exchange: Exchange, data: bytes) -> bool:
        """Take a whole answer whose head is the last one's; return whether it is that."""
        if self._parsed or not self._known_status or self._memo.body_length(data) < 0:
            return False
        exchange.headers = self._known_headers
        exchange.status = self._known_status
        body = data[self._memo.size :]
        if body:
            exchange.add(body)
        self._keep_alive = True
        self._finish(exchange)
        return True

    def _note(self, exchange: Exchange, data: bytes, *, alone: bool) -> None:
        """Remember the head of an answer that came in one piece, if more may follow."""
        self._known_status = 0
        if (
            alone
            and self._keep_alive
            and exchange.status not in _BODILESS
            and not any(name == b"transfer-encoding" for name, _ in exchange.headers)
            and self._memo.note(data)
        ):
            self._known_status = exchange.status
            self._known_headers = tuple(
                [field for field in exchange.headers if field[0] != b"content-length"]
            )

    # Called by the parser.

    def on_message_begin(self) -> None:
        if self._finished:
            raise ValueError("a second answer to one request")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._head_done:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status: int = self._parser.get_status_code()
        if status < _FIRST_FINAL:
            return
        self._head_done = True
        self._framed = status in _BODILESS or any(
            name in (b"content-length", b"transfer-encoding") for name, _ in self._headers
        )
        exchange = self._exchange
        if exchange is not None:
            exchange.headers = tuple(self._headers)
            exchange.status = status

    def on_body(self, data: bytes) -> None:
        exchange = self._exchange
        if (
            exchange is not None
            and exchange.add(data) >= self._limits.read_buffer_bytes
            and not self._paused
        ):
            self._paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if not self._head_done:
            self._headers = []  # an interim answer: 100 or 103
            return
        self._finished = True
        self._keep_alive = self._parser.should_keep_alive()

    # Small moves.

    def _wait_for_more(self) -> None:
        limits = self._limits
        if self._paused:
            # The client is slow, not the engine; the server watches the client.
            self._deadline.clear()
            return
        left_s = self._began_s + limits.total_timeout_s - self.loop.time()
        self._deadline.set(max(0.0, min(limits.idle_timeout_s, left_s)))

    def _finish(self, exchange: Exchange) -> None:
        self._exchange = None
        exchange.complete = True
        exchange.wake()
        if self._paused:
            self._paused = False
            self._transport.resume_reading()
        unsent = self._transport.get_write_buffer_size()
        if self._keep_alive and not self._closed and not unsent:
            self._idle_since_s = self.loop.time()
            self._deadline.set(self._limits.max_idle_s)
            self._pool.give_back(self)
        else:
            self.abort()

    def _failure(self, what: str) -> WorkerFailed:
        kind = StreamBroken if self._head_done else WorkerUnreachable
        return kind(self._pool.worker_id, what)

    def _break(self, what: str) -> None:
        exchange = self._exchange
        self._exchange = None
        if exchange is not None:
            exchange.fail(self._failure(what))
        self.abort()

    def _on_deadline(self) -> None:
        exchange = self._exchange
        if exchange is not None:
            self._exchange = None
            exchange.fail(
                StreamBroken(self._pool.worker_id, "the answer stood still for too long")
                if self._head_done
                else WorkerTimeout(self._pool.worker_id, "no answer in time")
            )
        self.abort()
