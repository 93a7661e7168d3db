"""Connections to one engine: kept open, used again, and given up in time.

The connection used last is taken first, so that few stay warm and the others age out.
Engines close idle connections after 5 s and more; ours are dropped at `max_idle_s`. Where
an engine closes one at the very moment at which it is used again, nothing of an answer has
come, and the request is sent once more on a fresh connection; never in any other case.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from eoc_distributed.config import UpstreamLimits
from eoc_distributed.errors import WorkerTimeout, WorkerUnreachable

from .exchange import Exchange, UpstreamConnection


class Upstream:
    """A pool of connections to one origin.

    Args:
        worker_id: Whom errors name.
        host: Name or address.
        port: TCP port.
        limits: Time-outs and bounds.
        tls: For `https`.
    """

    def __init__(
        self,
        worker_id: str,
        *,
        host: str,
        port: int,
        limits: UpstreamLimits,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.worker_id = worker_id
        self.limits = limits
        self._host = host
        self._port = port
        self._tls = tls
        self._idle: list[UpstreamConnection] = []
        self._open: set[UpstreamConnection] = set()
        self.opened = 0
        """Connections opened so far."""

    @property
    def idle(self) -> int:
        """Connections that wait for a request."""
        return len(self._idle)

    async def send(self, head: bytes, body: bytes) -> Exchange:
        """Send a request; return when the head of its answer is here.

        Args:
            head: Request line and headers, the empty line included.
            body: Exactly the bytes that the head announces.

        Raises:
            WorkerUnreachable: No connection, or it broke before the head was complete.
            WorkerTimeout: The head did not come in time.
        """
        connection = self._take()
        if connection is not None:
            exchange = connection.begin(head, body)
            try:
                await exchange.head()
            except WorkerUnreachable:
                if exchange.bytes_seen:
                    raise
            else:
                return exchange
        connection = await self._connect()
        exchange = connection.begin(head, body)
        await exchange.head()
        return exchange

    def close(self) -> None:
        """Break off every connection."""
        for connection in tuple(self._open):
            connection.abort()

    # Called by connections.

    def give_back(self, connection: UpstreamConnection) -> None:
        """Keep a connection for the next request."""
        self._idle.append(connection)

    def forget(self, connection: UpstreamConnection) -> None:
        """Drop a connection that is closed."""
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def _take(self) -> UpstreamConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable(self.limits.max_idle_s):
                return connection
            connection.abort()
        return None

    async def _connect(self) -> UpstreamConnection:
        loop = asyncio.get_running_loop()
        make: Callable[[], UpstreamConnection] = lambda: UpstreamConnection(self, loop)  # noqa: E731
        try:
            async with asyncio.timeout(self.limits.connect_timeout_s):
                _, connection = await loop.create_connection(
                    make, self._host, self._port, ssl=self._tls
                )
        except TimeoutError as error:
            raise WorkerTimeout(self.worker_id, "no connection in time") from error
        except OSError as error:
            what = f"no connection to {self._host}:{self._port}: {error.strerror or error}"
            raise WorkerUnreachable(self.worker_id, what) from error
        self._open.add(connection)
        self.opened += 1
        return connection
