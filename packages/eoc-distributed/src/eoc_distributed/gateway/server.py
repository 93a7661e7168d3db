"""The HTTP/1.1 server: listens, keeps its connections, and goes away in good order."""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from types import TracebackType
from typing import Self

from eoc_distributed.config import Limits

from .connection import Connection, Handle


class Server:
    """Serves a handler on a TCP port; `async with` opens it, and leaving cuts what is left.

    Args:
        handle: Answers requests.
        host: Address to listen on.
        port: Port; 0 for any free one.
        limits: What is taken from clients.

    Attributes:
        port: The port that is listened on, once open.
        url: Where the server is, `http://host:port`, once open.
        draining: Whether answers end their connections.
    """

    loop: asyncio.AbstractEventLoop
    tasks: asyncio.TaskGroup
    port: int
    url: str

    def __init__(
        self,
        handle: Handle,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        limits: Limits | None = None,
    ) -> None:
        self.handle = handle
        self.limits = limits if limits is not None else Limits()
        self.connections: set[Connection] = set()
        self.draining = False
        self._host = host
        self._port = port
        self._listener: asyncio.Server | None = None
        self._empty: asyncio.Future[None] | None = None
        self._date = b""
        self._date_s = -1.0

    async def __aenter__(self) -> Self:
        self.loop = asyncio.get_running_loop()
        self.tasks = asyncio.TaskGroup()
        self._listener = await self.loop.create_server(
            lambda: Connection(self), self._host, self._port, backlog=2048, start_serving=False
        )
        try:
            await self.tasks.__aenter__()
            await self._listener.start_serving()
        except BaseException:
            self._listener.close()
            raise
        bound = self._listener.sockets[0]
        host, self.port = bound.getsockname()[:2]
        self.url = f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.draining = True
        self._stop_listening()
        for connection in tuple(self.connections):
            connection.cut()
        # Cancellation is the group's to know of; an error of the body is not, it would be wrapped.
        if isinstance(error, asyncio.CancelledError):
            await self.tasks.__aexit__(kind, error, trace)
        else:
            await self.tasks.__aexit__(None, None, None)

    async def drain(self, timeout_s: float) -> int:
        """Take no further connection, let running answers end, then cut what is left.

        Args:
            timeout_s: How long answers may take.

        Returns:
            How many connections were cut.
        """
        self.draining = True
        self._stop_listening()
        for connection in tuple(self.connections):
            connection.drain()
        if self.connections:
            self._empty = self.loop.create_future()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._empty
            except TimeoutError:
                pass
            finally:
                self._empty = None
        left = tuple(self.connections)
        for connection in left:
            connection.cut()
        return len(left)

    def forget(self, connection: Connection) -> None:
        """Take a connection that is gone off the list."""
        self.connections.discard(connection)
        if not self.connections and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    def date_line(self) -> bytes:
        """Return the Date header, made once a second."""
        now_s = self.loop.time()
        if now_s - self._date_s >= 1.0:
            self._date_s = now_s
            self._date = b"date: %b\r\n" % formatdate(usegmt=True).encode("ascii")
        return self._date

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()
