"""A worker that is an engine behind a URL."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from eoc_distributed.config import UpstreamLimits
from eoc_distributed.errors import WorkerFailed, WorkerTimeout
from eoc_distributed.gateway.framing import HOP_BY_HOP, end_to_end, render
from eoc_distributed.gateway.upstream import Upstream
from eoc_distributed.http import Headers, HTTPRequest, HTTPResponse
from eoc_distributed.worker import Capability, Load

from .address import Address

MAX_FETCHED_BYTES = 16 << 20
_SPACE: Final = re.compile(rb"[\x00-\x20]")
_HEADS_KEPT: Final = 64
"""Clients send the same head again and again; so many are kept as they go to the engine."""
_REPLACED = frozenset({b"host", b"content-length", b"expect", b"accept-encoding", b"x-eoc-worker"})
"""Fields that are about this hop. Without Accept-Encoding answers come plain and can be read."""


class HTTPWorker:
    """Passes requests to an engine and its answers back, unchanged.

    Args:
        worker_id: Name in the cluster.
        address: Where the engine is.
        capability: What it can do.
        load: What it carries, to begin with.
        limits: Time-outs and bounds.
        api_key: Bearer token in place of the client's; None to pass the client's on.
        via: Pseudonym of the gateway for the field `Via` (RFC 9110 section 7.6.3), by which a
            gateway knows a request that it has sent itself; empty for none.
    """

    def __init__(
        self,
        worker_id: str,
        *,
        address: Address,
        capability: Capability,
        load: Load | None = None,
        limits: UpstreamLimits | None = None,
        api_key: str | None = None,
        via: str = "",
    ) -> None:
        self.id = worker_id
        self.capability = capability
        self.address = address
        self._load = load if load is not None else Load()
        self._listeners: list[Callable[[Load], None]] = []
        self._prefix = address.path.encode("ascii")
        self._host_line = b"host: %b\r\n" % address.netloc.encode("ascii")
        self._replaced = _REPLACED | {b"authorization"} if api_key else _REPLACED
        self._dropped = HOP_BY_HOP | self._replaced
        self._own_lines = b"via: 1.1 %b\r\n" % via.encode("ascii") if via else b""
        if api_key:
            self._own_lines += b"authorization: Bearer %b\r\n" % api_key.encode("ascii")
        self._head = lru_cache(_HEADS_KEPT)(self._new_head)
        self.upstream = Upstream(
            worker_id,
            host=address.host,
            port=address.port,
            limits=limits if limits is not None else UpstreamLimits(),
            tls=ssl.create_default_context() if address.scheme == "https" else None,
        )

    @property
    def load(self) -> Load:
        return self._load

    def set_load(self, load: Load) -> None:
        """Replace the load and tell those who watch."""
        self._load = load
        for listener in tuple(self._listeners):
            listener(load)

    def watch(self, listener: Callable[[Load], None]) -> None:
        self._listeners.append(listener)

    def unwatch(self, listener: Callable[[Load], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    async def serve(self, request: HTTPRequest) -> HTTPResponse:
        body = request.body
        head = self._head(request.method, request.path, request.headers)
        head = b"%bcontent-length: %d\r\n\r\n" % (head, len(body))
        exchange = await self.upstream.send(head, body)
        return HTTPResponse(exchange.status, exchange.headers, exchange)

    async def fetch(self, path: str, *, timeout_s: float) -> tuple[int, bytes]:
        """Get a page of the engine, at most 16 MiB.

        Raises:
            WorkerFailed: It could not be had.
        """
        head = b"GET %b%b HTTP/1.1\r\n%b%baccept: */*\r\n\r\n" % (
            self._prefix,
            path.encode("ascii"),
            self._host_line,
            self._own_lines,
        )
        try:
            async with asyncio.timeout(timeout_s):
                exchange = await self.upstream.send(head, b"")
                pieces: list[bytes] = []
                size = 0
                try:
                    async for piece in exchange:
                        pieces.append(piece)
                        size += len(piece)
                        if size > MAX_FETCHED_BYTES:
                            raise WorkerFailed(self.id, f"{path} is too large")
                finally:
                    await exchange.aclose()
                return exchange.status, b"".join(pieces)
        except TimeoutError as error:
            raise WorkerTimeout(self.id, f"{path} did not answer in {timeout_s} s") from error

    def close(self) -> None:
        """Break off every connection to the engine."""
        self.upstream.close()

    def _new_head(self, method: str, path: str, headers: Headers) -> bytes:
        """Return the head of a request, all but its Content-Length and its end.

        Raises:
            WorkerFailed: It cannot be said in HTTP/1.1.
        """
        dropped = self._dropped
        for field in headers:
            if field[0] == b"connection":
                headers = end_to_end(headers)
                break
        target = self._prefix + path.encode("latin-1", "replace")
        try:
            lines = render(tuple([field for field in headers if field[0] not in dropped]))
        except ValueError as error:
            raise WorkerFailed(self.id, f"the request: {error}") from error
        name = method.encode("ascii", "replace")
        if _SPACE.search(name + target):
            raise WorkerFailed(self.id, "the request's method or target has a space in it")
        start = b"%b %b HTTP/1.1\r\n" % (name, target)
        return start + self._host_line + self._own_lines + lines
