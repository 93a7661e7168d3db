"""One client's connection: bytes in, answers out, in order.

One task lives as long as the connection and answers its requests one after the other; a
client that goes away cancels it, and with it whatever it waits for upstream. Whether the
client has shut down only its sending side is not asked: end of input is cancellation, as
in most proxies.
"""

from __future__ import annotations

import asyncio
import logging
import select
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

from eoc_distributed.http import Headers, HTTPRequest, HTTPResponse

from .body import Whole, close_body
from .deadline import Deadline
from .framing import HOP_BY_HOP, LAST_CHUNK, NO_BODY, Fields, chunk, render, status_line
from .intake import Arrival, Intake
from .refusals import refusal

if TYPE_CHECKING:
    from .server import Server

Handle = Callable[[HTTPRequest], Awaitable[HTTPResponse]]
"""Answers a request; cancelled when the client goes away."""

_LINGER_S = 2.0
"""How long input is dropped after a refusal, so that the client can read it before the
connection is reset."""
_NO_CONTENT = 204
_HANGUP_LOOK_S = 1.0
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_log = logging.getLogger(__name__)


class Connection(asyncio.Protocol):
    """Speaks HTTP/1.1 with one client."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._limits = server.limits
        self._intake = Intake(server.limits)
        self._deadline = Deadline(server.loop, self._on_deadline)
        self._transport: asyncio.Transport
        self._task: asyncio.Task[None] | None = None
        self._arrived: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._reading_paused = False
        self._answering = False
        self._lingering = False
        self._eof = False
        self._body_began_s: float | None = None

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # No isinstance: uvloop's transports are not subclasses of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=self._limits.write_buffer_bytes)
        if len(self._server.connections) >= self._limits.connections:
            self._transport.abort()
            return
        self._server.connections.add(self)
        self._task = self._server.tasks.create_task(self._run(self._transport))
        self._deadline.set(self._limits.head_timeout_s)

    def data_received(self, data: bytes) -> None:
        if self._lingering:
            return
        intake = self._intake
        head_before = intake.in_head
        intake.feed(data)
        if intake.requests:
            if self._arrived is not None and not self._arrived.done():
                self._arrived.set_result(None)
            if len(intake.requests) > self._limits.pipelined:
                self._pause_reading()
        if self._answering:
            if intake.ahead_bytes > self._limits.read_ahead_bytes:
                self._pause_reading()
        else:
            if intake.wants_continue:
                self._say_continue()
            if intake.in_body:
                self._await_body()
            elif intake.in_head and not head_before:
                self._deadline.set(self._limits.head_timeout_s)

    def eof_received(self) -> bool:
        self._eof = True
        self._cancel()
        return False

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._eof = True
        self._deadline.close()
        self._server.forget(self)
        self.resume_writing()
        self._cancel()

    def pause_writing(self) -> None:
        self._writable = self._server.loop.create_future()
        self._deadline.set(self._limits.write_timeout_s)

    def resume_writing(self) -> None:
        if self._writable is not None:
            if not self._writable.done():
                self._writable.set_result(None)
            self._writable = None
            self._deadline.clear()

    # Called by the server.

    def drain(self) -> None:
        """Close the connection if nothing is asked of it; otherwise after the answer."""
        if not self._answering and not self._intake.requests and not self._intake.in_body:
            self._close()

    def cut(self) -> None:
        """Break the connection off."""
        self._transport.abort()
        self._cancel()

    # The connection's task.

    async def _run(self, transport: asyncio.Transport) -> None:
        server = self._server
        requests = self._intake.requests
        try:
            while not self._eof:
                while not requests:
                    arrived = self._arrived = server.loop.create_future()
                    await arrived
                arrival = requests.popleft()
                request = arrival.request
                self._intake.ahead_bytes -= len(request.body)
                self._deadline.clear()
                self._body_began_s = None
                self._answering = True
                response = arrival.refusal
                if response is None:
                    try:
                        response = await server.handle(request)
                    except Exception:  # noqa: BLE001 - a fault of ours must not take the server down
                        _log.exception("%s %s failed", request.method, request.path)
                        response = refusal(500, "internal error", code="internal_error")
                body = response.body
                if isinstance(body, Whole):
                    keep_alive = self._send_whole(transport, response, body.data, arrival)
                    if self._writable is not None:
                        await self._writable
                else:
                    try:
                        keep_alive = await self._send_pieces(transport, response, arrival)
                    finally:
                        await close_body(response)
                self._answering = False
                if not keep_alive:
                    break
                self._between_requests()
        except Exception:  # noqa: BLE001 - one connection must not end the others
            _log.exception("a connection failed")
        finally:
            self._close(linger=self._intake.refused and not self._eof)

    def _between_requests(self) -> None:
        intake = self._intake
        if self._reading_paused and (
            not intake.requests
            or (
                len(intake.requests) <= self._limits.pipelined // 2
                and intake.ahead_bytes <= self._limits.read_ahead_bytes
            )
        ):
            self._reading_paused = False
            self._transport.resume_reading()
        if self._intake.wants_continue:
            self._say_continue()
        if self._server.draining and not self._intake.requests and not self._intake.in_body:
            self._close()
        elif not self._intake.requests:
            busy = self._intake.in_head or self._intake.in_body
            limits = self._limits
            self._deadline.set(limits.body_idle_timeout_s if busy else limits.keep_alive_s)

    def _send_whole(
        self, transport: asyncio.Transport, response: HTTPResponse, data: bytes, arrival: Arrival
    ) -> bool:
        """Send an answer that is here in one write; return whether the connection may go on."""
        keep_alive = arrival.keep_alive and not self._server.draining
        head, length = self._head(response)
        bodiless = arrival.request.method == "HEAD" or response.status in NO_BODY
        if length is None and response.status not in NO_BODY:
            head += b"content-length: %d\r\n" % len(data)
        elif length is not None and length != len(data) and not bodiless:
            _log.error("a body of %d bytes has the content-length %d", len(data), length)
            keep_alive = False
            data = data if len(data) < length else b""  # either way the client sees it cut
        head += _end(keep_alive=keep_alive, http10=arrival.http10)
        transport.write(head if bodiless else head + data)
        return keep_alive

    async def _send_pieces(
        self, transport: asyncio.Transport, response: HTTPResponse, arrival: Arrival
    ) -> bool:
        """Send an answer that is still coming; return whether the connection may go on."""
        keep_alive = arrival.keep_alive and not self._server.draining
        head, length = self._head(response)
        bodiless = arrival.request.method == "HEAD" or response.status in NO_BODY
        chunked = length is None and not bodiless and not arrival.http10
        if chunked:
            head += b"transfer-encoding: chunked\r\n"
        elif length is None and not bodiless:
            keep_alive = False  # the end of the body is the end of the connection
        transport.write(head + _end(keep_alive=keep_alive, http10=arrival.http10))
        if bodiless:
            return keep_alive
        return await self._send_body(transport, response, chunked, length) and keep_alive

    async def _send_body(
        self,
        transport: asyncio.Transport,
        response: HTTPResponse,
        chunked: bool,
        length: int | None,
    ) -> bool:
        """Send pieces as they come; return whether all that was promised was sent."""
        sent = 0
        try:
            async for piece in response.body:
                if piece:
                    sent += len(piece)
                    if length is not None and sent > length:
                        _log.error("a body is longer than its content-length of %d", length)
                        return False
                    transport.write(chunk(piece) if chunked else piece)
                    if self._writable is not None:
                        await self._writable
                    if transport.is_closing():
                        return False
        except Exception as error:  # noqa: BLE001 - whatever broke it, the client must see the cut
            _log.debug("a body broke off: %s", error)
            return False
        if chunked:
            transport.write(LAST_CHUNK)
        return length is None or sent == length

    def _head(self, response: HTTPResponse) -> tuple[bytes, int | None]:
        """Return the head without framing and end, and the length that the response tells."""
        headers = response.headers
        if type(headers) is Fields:
            lines, length, dated = headers.lines, None, headers.dated
        else:
            lines, length, dated = self._lines(response.status, headers)
        added = response.added
        if type(added) is Fields:
            lines += added.lines
        elif added:
            more, told, _ = self._lines(response.status, added)
            lines += more
            length = told if length is None else length
        if not dated:
            lines += self._server.date_line()
        return status_line(response.status) + lines, length

    def _lines(self, status: int, headers: Headers) -> tuple[bytes, int | None, bool]:
        """Return headers as lines, the length that they tell, and whether there is a Date."""
        kept: list[tuple[bytes, bytes]] = []
        length: int | None = None
        dated = False
        for field in headers:
            name, value = field
            if name == b"content-length":
                if length is not None or not value.isdigit() or status == _NO_CONTENT:
                    continue
                length = int(value)
            elif name == b"date":
                dated = True
            elif name in HOP_BY_HOP:
                continue
            kept.append(field)
        return render(tuple(kept)), length, dated

    # Small moves.

    def _say_continue(self) -> None:
        self._intake.wants_continue = False
        self._transport.write(_CONTINUE)

    def _pause_reading(self) -> None:
        if not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()
            self._server.loop.call_later(_HANGUP_LOOK_S, self._look_for_hangup)

    def _look_for_hangup(self) -> None:
        """See that the client has gone though nothing is read; once a second while so."""
        if not self._reading_paused or self._eof:
            return
        if hung_up(self._transport):
            self.eof_received()
            self._transport.abort()
        else:
            self._server.loop.call_later(_HANGUP_LOOK_S, self._look_for_hangup)

    def _await_body(self) -> None:
        """Wait for more of a body, as long as it may stand still and take in all."""
        now_s = self._server.loop.time()
        if self._body_began_s is None:
            self._body_began_s = now_s
        left_s = self._body_began_s + self._limits.body_timeout_s - now_s
        self._deadline.set(max(0.0, min(self._limits.body_idle_timeout_s, left_s)))

    def _on_deadline(self) -> None:
        if self._lingering or self._writable is not None:
            self.cut()
        elif self._intake.in_head or self._intake.in_body:
            self._intake.time_out()
            if self._arrived is not None and not self._arrived.done():
                self._arrived.set_result(None)
        else:
            self._close()

    def _cancel(self) -> None:
        task = self._task
        if task is not None and not task.done() and task is not asyncio.current_task():
            task.cancel()

    def _close(self, *, linger: bool = False) -> None:
        transport = self._transport
        if transport.is_closing():
            return
        if linger and transport.can_write_eof() and not self._server.draining:
            self._lingering = True
            transport.write_eof()
            self._deadline.set(_LINGER_S)
        else:
            transport.close()


def hung_up(transport: asyncio.Transport) -> bool:
    """Return whether the peer has shut its sending side down, unread bytes or not.

    Always False where the system cannot tell (other than Linux).
    """
    event = getattr(select, "POLLRDHUP", 0)
    sock = transport.get_extra_info("socket")
    if not event or sock is None or sock.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(sock.fileno(), event)
    return bool(poll.poll(0))


def _end(*, keep_alive: bool, http10: bool) -> bytes:
    """Return the end of a head, with what is said of the connection."""
    if not keep_alive:
        return b"connection: close\r\n\r\n"
    return b"connection: keep-alive\r\n\r\n" if http10 else b"\r\n"
