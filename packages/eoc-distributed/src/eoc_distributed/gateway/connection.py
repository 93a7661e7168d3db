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

from eoc_distributed.http import HTTPRequest, HTTPResponse

from .body import Whole, close_body
from .deadline import Deadline
from .framing import HOP_BY_HOP, LAST_CHUNK, NO_BODY, chunk, is_clean, status_line
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
        try:
            while not self._eof:
                arrival = await self._next()
                self._answering = True
                keep_alive = await self._answer(transport, arrival)
                self._answering = False
                if not keep_alive:
                    break
                self._between_requests()
        except Exception:  # noqa: BLE001 - one connection must not end the others
            _log.exception("a connection failed")
        finally:
            self._close(linger=self._intake.refused and not self._eof)

    async def _next(self) -> Arrival:
        requests = self._intake.requests
        while not requests:
            self._arrived = self._server.loop.create_future()
            try:
                await self._arrived
            finally:
                self._arrived = None
        self._deadline.clear()
        self._body_began_s = None
        arrival = requests.popleft()
        self._intake.ahead_bytes -= len(arrival.request.body)
        return arrival

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

    async def _answer(self, transport: asyncio.Transport, arrival: Arrival) -> bool:
        """Answer one request; return whether the connection may go on."""
        if arrival.refusal is not None:
            return await self._send(transport, arrival.refusal, arrival, head_only=False)
        request = arrival.request
        try:
            response = await self._server.handle(request)
        except Exception:  # noqa: BLE001 - a fault of ours must not take the server down
            _log.exception("%s %s failed", request.method, request.path)
            response = refusal(500, "internal error", code="internal_error")
        try:
            return await self._send(
                transport, response, arrival, head_only=request.method == "HEAD"
            )
        finally:
            await close_body(response)

    async def _send(
        self,
        transport: asyncio.Transport,
        response: HTTPResponse,
        arrival: Arrival,
        *,
        head_only: bool,
    ) -> bool:
        body = response.body
        bodiless = head_only or response.status in NO_BODY
        keep_alive = arrival.keep_alive and not self._server.draining
        head, length = self._head(response, bodiless=bodiless, http10=arrival.http10)
        chunked = length is None and not bodiless and not arrival.http10
        if length is None and not bodiless and arrival.http10:
            keep_alive = False  # the end of the body is the end of the connection
        if not keep_alive:
            head += b"connection: close\r\n\r\n"
        elif arrival.http10:
            head += b"connection: keep-alive\r\n\r\n"
        else:
            head += b"\r\n"
        if bodiless:
            transport.write(head)
            return keep_alive
        if isinstance(body, Whole) and length == len(body.data):
            transport.write(head + body.data)
            if self._writable is not None:
                await self._writable
            return keep_alive
        transport.write(head)
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

    def _head(
        self, response: HTTPResponse, *, bodiless: bool, http10: bool
    ) -> tuple[bytes, int | None]:
        """Return the head without its end, and the length of the body if it is known."""
        lines = [status_line(response.status)]
        length: int | None = None
        dated = False
        for name, value in response.headers:
            if name == b"content-length":
                if length is not None or not value.isdigit() or response.status == _NO_CONTENT:
                    continue
                length = int(value)
            elif name == b"date":
                dated = True
            elif name in HOP_BY_HOP:
                continue
            lines.append(b"%b: %b\r\n" % (name, value))
        if not dated:
            lines.append(self._server.date_line())
        if length is None and not http10 and not bodiless:
            lines.append(b"transfer-encoding: chunked\r\n")
        head = b"".join(lines)
        if not is_clean(head=head, lines=len(lines)):
            raise ValueError("a header of the response has a line break in it")
        return head, length

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
