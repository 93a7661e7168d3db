"""Transports over httpx2: the default.

Install with the extra `[http]`. No redirect is followed, no cookie is kept, the environment is not
read (proxies and certificates come from the settings alone).
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, closing
from types import TracebackType
from typing import Self

from op_openbanking.errors import ExtraMissing
from op_openbanking.flow import Request, Response

from .content import Body
from .settings import TransportSettings, failure, outgoing_headers
from .tls import client_context

try:
    import httpx2
except ModuleNotFoundError as error:
    raise ExtraMissing("the httpx2 transport", extra="http") from error

# Raised before the first octet of the request leaves.
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)


class HTTPX2Transport:
    """A blocking `flow.Transport`; a context manager.

    `timeout_s` of a request caps each phase and is checked between the pieces of the body. A server
    that drips its header octet by octet is stopped by the library's limit on the header's size, not
    by the clock; the async transport stops it by the clock.

    Args:
        settings: Certificate, trust, proxy, time-outs.

    Raises:
        ConfigError: The trust anchors are unreadable.
        UnusableKey: The client certificate cannot serve.
    """

    def __init__(self, settings: TransportSettings | None = None) -> None:
        self._settings = settings or TransportSettings()
        self._plain = self._client(presents=False)
        self._mutual = self._client(presents=True) if self._settings.certificate else None

    def send(self, request: Request) -> Response:
        mutual = self._settings.check_certificate(request)
        client = self._mutual if mutual and self._mutual else self._plain
        ends_s = time.monotonic() + request.timeout_s
        try:
            with closing(client.handle_request(_outgoing(self._settings, request))) as answer:
                body = _body(answer, request)
                for chunk in answer.iter_raw():
                    body.feed(chunk)
                    if time.monotonic() > ends_s:
                        raise failure(request, phase="no complete answer in time", sent=True)
                return _response(answer, body)
        except _NOT_SENT as error:
            raise failure(request, phase=_phase(error), sent=False) from error
        except httpx2.TransportError as error:
            raise failure(request, phase=_phase(error), sent=True) from error

    def close(self) -> None:
        """Close every connection."""
        self._plain.close()
        if self._mutual:
            self._mutual.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _client(self, *, presents: bool) -> httpx2.HTTPTransport:
        # The lowest layer of the library: it follows, keeps and adds nothing.
        settings = self._settings
        return httpx2.HTTPTransport(
            verify=client_context(
                settings.trust, certificate=settings.certificate if presents else None
            ),
            proxy=httpx2.Proxy(settings.proxy) if settings.proxy else None,
            trust_env=False,
            limits=httpx2.Limits(max_connections=settings.max_connections),
        )


class AsyncHTTPX2Transport:
    """An asyncio `flow.AsyncTransport`; an async context manager."""

    def __init__(self, settings: TransportSettings | None = None) -> None:
        self._settings = settings or TransportSettings()
        self._plain = self._client(presents=False)
        self._mutual = self._client(presents=True) if self._settings.certificate else None

    async def send(self, request: Request) -> Response:
        mutual = self._settings.check_certificate(request)
        client = self._mutual if mutual and self._mutual else self._plain
        try:
            async with asyncio.timeout(request.timeout_s):
                answer = await client.handle_async_request(_outgoing(self._settings, request))
                async with aclosing(answer):
                    body = _body(answer, request)
                    async for chunk in answer.aiter_raw():
                        body.feed(chunk)
                    return _response(answer, body)
        except _NOT_SENT as error:
            raise failure(request, phase=_phase(error), sent=False) from error
        except TimeoutError as error:
            raise failure(request, phase="no complete answer in time", sent=True) from error
        except httpx2.TransportError as error:
            raise failure(request, phase=_phase(error), sent=True) from error

    async def aclose(self) -> None:
        """Close every connection."""
        await self._plain.aclose()
        if self._mutual:
            await self._mutual.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _client(self, *, presents: bool) -> httpx2.AsyncHTTPTransport:
        settings = self._settings
        return httpx2.AsyncHTTPTransport(
            verify=client_context(
                settings.trust, certificate=settings.certificate if presents else None
            ),
            proxy=httpx2.Proxy(settings.proxy) if settings.proxy else None,
            trust_env=False,
            limits=httpx2.Limits(max_connections=settings.max_connections),
        )


def _outgoing(settings: TransportSettings, request: Request) -> httpx2.Request:
    limits, cap_s = settings.timeouts, request.timeout_s
    return httpx2.Request(
        request.method,
        request.url,
        headers=outgoing_headers(request),
        content=request.body,
        extensions={
            "timeout": {
                "connect": min(limits.connect_s, cap_s),
                "read": min(limits.read_s, cap_s),
                "write": min(limits.write_s, cap_s),
                "pool": min(limits.pool_s, cap_s),
            }
        },
    )


def _body(answer: httpx2.Response, request: Request) -> Body:
    return Body(
        limit_bytes=request.max_response_bytes,
        content_encoding=answer.headers.get("content-encoding"),
    )


def _response(answer: httpx2.Response, body: Body) -> Response:
    headers = tuple((name.lower(), value) for name, value in answer.headers.multi_items())
    return Response(answer.status_code, headers, body.finish())


def _phase(error: Exception) -> str:
    """The kind of failure in words; the library's own text may quote the URL's query."""
    return {
        "ConnectError": "no connection",
        "ConnectTimeout": "no connection in time",
        "PoolTimeout": "no free connection in time",
        "ProxyError": "the proxy refused",
        "ReadTimeout": "no answer in time",
        "WriteTimeout": "the request could not be sent in time",
    }.get(type(error).__name__, "the connection broke off")
