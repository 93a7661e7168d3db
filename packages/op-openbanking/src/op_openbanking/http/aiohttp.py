"""Transport over aiohttp.

Install with the extra `[aiohttp]`. aiohttp has no blocking client, so there is one class. No
redirect is followed, no cookie is kept, the environment is not read.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from op_openbanking.errors import ExtraMissing, ProtocolViolation, TransportError
from op_openbanking.flow import Request, Response

from .content import Body
from .settings import TransportSettings, failure, outgoing_headers
from .tls import client_context

try:
    import aiohttp
    from yarl import URL
except ModuleNotFoundError as error:
    raise ExtraMissing("the aiohttp transport", extra="aiohttp") from error

_CHUNK_BYTES = 64 * 1024
_LOWEST_STATUS, _HIGHEST_STATUS = 100, 599
# What aiohttp would otherwise add by itself.
_NO_DEFAULTS = frozenset({"Content-Type", "Accept"})


class AiohttpTransport:
    """An asyncio `flow.AsyncTransport`; an async context manager.

    Sessions open at the first request, inside the running event loop.

    Args:
        settings: Certificate, trust, proxy, time-outs. aiohttp has no limit of its own for
            writing: `timeout_s` of the request bounds it.

    Raises:
        ConfigError: The trust anchors are unreadable.
        UnusableKey: The client certificate cannot serve.
    """

    def __init__(self, settings: TransportSettings | None = None) -> None:
        self._settings = settings or TransportSettings()
        self._contexts = {
            presents: client_context(
                self._settings.trust, certificate=self._settings.certificate if presents else None
            )
            for presents in (False, True)
        }
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def send(self, request: Request) -> Response:
        """Perform a request; see `flow.AsyncTransport`.

        The library's exceptions hold the headers that were sent, with the token in them. So an
        error of ours is raised outside of their handling, and neither cause nor context shows one.
        """
        outcome = await self._attempt(request)
        if isinstance(outcome, Response):
            return outcome
        raise outcome

    async def _attempt(self, request: Request) -> Response | TransportError:
        session = self._session(presents=self._settings.check_certificate(request))
        try:
            async with (
                asyncio.timeout(request.timeout_s),
                session.request(
                    request.method,
                    URL(request.url, encoded=True),
                    headers=outgoing_headers(request),
                    data=request.body or None,
                    allow_redirects=False,
                    proxy=self._settings.proxy,
                ) as answer,
            ):
                if not _LOWEST_STATUS <= answer.status <= _HIGHEST_STATUS:
                    raise ProtocolViolation(
                        "the status of the answer is none", section="RFC 9110 15"
                    )
                body = Body(
                    limit_bytes=request.max_response_bytes,
                    content_encoding=answer.headers.get("content-encoding"),
                )
                async for chunk in answer.content.iter_chunked(_CHUNK_BYTES):
                    body.feed(chunk)
                headers = tuple((name.lower(), value) for name, value in answer.headers.items())
                return Response(answer.status, headers, body.finish())
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError):
            return failure(request, phase="no connection", sent=False)
        except aiohttp.ConnectionTimeoutError:
            return failure(request, phase="no connection in time", sent=False)
        except TimeoutError:
            return failure(request, phase="no answer in time", sent=True)
        except (aiohttp.ClientError, OSError):
            return failure(request, phase="the connection broke off", sent=True)

    async def aclose(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _session(self, *, presents: bool) -> aiohttp.ClientSession:
        if presents not in self._sessions:
            limits = self._settings.timeouts
            self._sessions[presents] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    ssl=self._contexts[presents], limit=self._settings.max_connections
                ),
                timeout=aiohttp.ClientTimeout(
                    total=None,
                    connect=limits.pool_s + limits.connect_s,
                    sock_connect=limits.connect_s,
                    sock_read=limits.read_s,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                skip_auto_headers=_NO_DEFAULTS,
            )
        return self._sessions[presents]
