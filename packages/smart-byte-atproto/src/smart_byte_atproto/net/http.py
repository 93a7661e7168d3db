"""HTTP under the guard: connections go to the address that was judged, within bounds.

`transport` and `async_transport` are for clients that keep connections; `fetch` and `afetch` get
one page and are bounded in bytes and in time as a whole, so that a server that sends a byte a
minute ends nobody's patience. Proxies and other settings of the environment are not read.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urljoin

import anyio
import httpcore2
import httpx2

from smart_byte_atproto.errors import NetworkFailed, RequestRefused, ResponseInvalid

from .fetch import Fetch, Fetched
from .guard import Target, check_address, check_url

USER_AGENT: Final = "smart-byte-atproto"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_Options = Iterable[Any] | None


class _Deadline:
    """The end of a request; None for none."""

    def __init__(self, at_s: float | None = None) -> None:
        self.at_s = at_s

    def left(self, timeout_s: float | None, error: type[Exception]) -> float | None:
        if self.at_s is None:
            return timeout_s
        left_s = self.at_s - time.monotonic()
        if left_s <= 0:
            raise error("the time for the whole answer is over")
        return left_s if timeout_s is None else min(left_s, timeout_s)


class _Stream(httpcore2.NetworkStream):
    """A connection that also ends with its deadline."""

    def __init__(self, inner: httpcore2.NetworkStream, deadline: _Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left_s = self._deadline.left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left_s), self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    """Connects to addresses that have been judged."""

    def __init__(self, *, local: bool, deadline: _Deadline | None = None) -> None:
        self._inner = httpcore2.SyncBackend()
        self._local = local
        self._deadline = deadline if deadline is not None else _Deadline()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.NetworkStream:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"the name {host} has no address") from error
        failure: Exception = httpcore2.ConnectError(f"the name {host} has no address")
        for address in _judged(found, host, local=self._local):
            left_s = self._deadline.left(timeout, httpcore2.ConnectTimeout)
            try:
                stream = self._inner.connect_tcp(
                    address, port, left_s, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(stream, self._deadline)
        raise failure


class _AsyncBackend(httpcore2.AsyncNetworkBackend):
    """The same, awaited."""

    def __init__(self, *, local: bool) -> None:
        self._inner = httpcore2.AnyIOBackend()
        self._local = local

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface's
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"no address of {host} in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"the name {host} has no address") from error
        failure: Exception = httpcore2.ConnectError(f"the name {host} has no address")
        for address in _judged(found, host, local=self._local):
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


def _judged(found: Iterable[Any], host: str, *, local: bool) -> list[str]:
    """Return the addresses of a name; one that leads inside condemns them all."""
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        check_address(address, host, local=local)
    return addresses


class _Transport(httpx2.HTTPTransport):
    def __init__(self, *, local: bool, deadline: _Deadline | None = None) -> None:
        super().__init__(trust_env=False)
        context = httpx2.create_ssl_context(trust_env=False)
        self._local = local
        self._pool = httpcore2.ConnectionPool(
            ssl_context=context, network_backend=_Backend(local=local, deadline=deadline)
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        check_url(str(request.url), local=self._local)
        return super().handle_request(request)


class _AsyncTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, *, local: bool) -> None:
        super().__init__(trust_env=False)
        context = httpx2.create_ssl_context(trust_env=False)
        self._local = local
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context, network_backend=_AsyncBackend(local=local)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        check_url(str(request.url), local=self._local)
        return await super().handle_async_request(request)


def transport(*, local: bool = False) -> httpx2.BaseTransport:
    """Return a transport for `httpx2.Client` that judges every URL and address.

    Args:
        local: Whether services on loopback may be asked, also without TLS.
    """
    return _Transport(local=local)


def async_transport(*, local: bool = False) -> httpx2.AsyncBaseTransport:
    """Return a transport for `httpx2.AsyncClient` that judges every URL and address."""
    return _AsyncTransport(local=local)


def fetch(request: Fetch, *, local: bool = False) -> Fetched:
    """Get one page.

    Raises:
        RequestRefused: The URL, an address or a redirect is not to be asked.
        NetworkFailed: No answer, not in time, or cut off.
        ResponseInvalid: `size`: the body is too long.
    """
    deadline = _Deadline(time.monotonic() + request.timeout_s)
    target = check_url(request.url, local=local)
    with httpx2.Client(
        transport=_Transport(local=local, deadline=deadline), timeout=request.timeout_s
    ) as client:
        for _ in range(request.redirects + 1):
            try:
                with client.stream("GET", target.url, headers=_headers(request)) as response:
                    moved = _moved(response, target, local=local)
                    if moved is None:
                        body = bytearray()
                        for piece in response.iter_bytes():
                            body += piece
                            _check_size(body, request, target)
                        return _fetched(response, bytes(body), target)
            except (httpx2.HTTPError, httpcore2.TimeoutException) as error:
                raise failed(target.host, error) from error
            target = moved
    raise RequestRefused(f"{target.host}: too many redirects", code="redirects")


async def afetch(request: Fetch, *, local: bool = False) -> Fetched:
    """Get one page; see `fetch`."""
    target = check_url(request.url, local=local)
    try:
        with anyio.fail_after(request.timeout_s):
            async with httpx2.AsyncClient(
                transport=_AsyncTransport(local=local), timeout=request.timeout_s
            ) as client:
                for _ in range(request.redirects + 1):
                    async with client.stream(
                        "GET", target.url, headers=_headers(request)
                    ) as response:
                        moved = _moved(response, target, local=local)
                        if moved is None:
                            body = bytearray()
                            async for piece in response.aiter_bytes():
                                body += piece
                                _check_size(body, request, target)
                            return _fetched(response, bytes(body), target)
                    target = moved
    except TimeoutError as error:
        raise NetworkFailed(target.host, f"no answer in {request.timeout_s:g} s") from error
    except httpx2.HTTPError as error:
        raise failed(target.host, error) from error
    raise RequestRefused(f"{target.host}: too many redirects", code="redirects")


def failed(host: str, error: Exception) -> NetworkFailed:
    """Return our error for one of the HTTP library's."""
    if isinstance(error, httpx2.TimeoutException | httpcore2.TimeoutException):
        return NetworkFailed(host, "no answer in time")
    return NetworkFailed(host, f"{type(error).__name__}: {str(error)[:200]}")


def _headers(request: Fetch) -> dict[str, str]:
    return {"accept": request.accept, "user-agent": USER_AGENT}


def _moved(response: httpx2.Response, target: Target, *, local: bool) -> Target | None:
    """Return where a redirect leads, judged; None for no redirect."""
    if response.status_code not in _REDIRECTS:
        return None
    location = response.headers.get("location", "")
    return check_url(urljoin(target.url, location), local=local)


def _check_size(body: bytearray, request: Fetch, target: Target) -> None:
    if len(body) > request.max_bytes:
        raise ResponseInvalid(
            target.host, f"a body of more than {request.max_bytes} bytes", code="size"
        )


def _fetched(response: httpx2.Response, body: bytes, target: Target) -> Fetched:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Fetched(response.status_code, headers, body, target.host)
