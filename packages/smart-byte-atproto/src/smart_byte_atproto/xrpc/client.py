"""Clients of XRPC services, blocking and awaited, over one conversation.

Source: atproto specification "HTTP API (XRPC)"; reference sections 13 and 14.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from random import Random
from threading import Lock
from types import TracebackType
from typing import Final, Self, cast
from urllib.parse import urlsplit

import anyio
import httpx2

from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import (
    ATProtoError,
    HashMismatch,
    ResponseInvalid,
    XRPCError,
)
from smart_byte_atproto.net.http import USER_AGENT, async_transport, failed, transport

from .call import MAX_ANSWER, Answer, Call, HTTPCall, build, judge
from .exchange import Came, Failure, Refresh, Send, Step, Wait, exchange
from .pages import Pages
from .retry import RetryPolicy
from .session import Save, Tokens, create, end, read_tokens, refresh

TIMEOUT_S: Final = 30.0
MAX_DOWNLOAD: Final = 4 << 30
"""Longest download, bytes (ours)."""
_REFRESH_ENDS: Final = frozenset({"ExpiredToken", "InvalidToken", "AccountTakedown"})


def _headers(proxy: str | None, labelers: Sequence[str]) -> dict[str, str]:
    sent = {"user-agent": USER_AGENT}
    if proxy is not None:
        sent["atproto-proxy"] = proxy
    if labelers:
        sent["atproto-accept-labelers"] = ", ".join(labelers)
    return sent


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _unsent(error: Exception) -> bool:
    """Tell if a failure came before anything could have been sent."""
    return isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)


def _answer(response: httpx2.Response, body: bytes, host: str) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, body, host)


def _too_large(host: str, most: int) -> ResponseInvalid:
    return ResponseInvalid(host, f"an answer of more than {most} bytes", code="size")


class _Caller:
    """What both clients know: the service, and whose session it is."""

    def __init__(
        self, service: str, tokens: Tokens | None, save: Save | None, headers: dict[str, str]
    ) -> None:
        self.service = service.rstrip("/")
        self._tokens = tokens
        self._save = save
        self._headers = headers

    @property
    def tokens(self) -> Tokens | None:
        """The present session."""
        return self._tokens

    @property
    def did(self) -> str | None:
        """Whose session it is."""
        return self._tokens.did if self._tokens is not None else None

    def _keep(self, tokens: Tokens) -> Tokens:
        if self._save is not None:
            self._save(tokens)
        self._tokens = tokens
        return tokens

    def _end(self) -> None:
        self._tokens = None
        if self._save is not None:
            self._save(None)


class Client(_Caller):
    """Calls one service, blocking; may be shared by threads.

    Args:
        service: Origin, such as `https://bsky.social`.
        tokens: A session to go on with; `login` begins one.
        save: Is handed every new pair of tokens before it is used.
        proxy: `did#service` that the service passes calls on to (`atproto-proxy`).
        labelers: DIDs whose labels are wanted (`atproto-accept-labelers`).
        local: Whether services on loopback may be called, for development.
        timeout_s: For each step of a call: connecting, sending, each piece of an answer.
        policy: When a call is sent again.
        rng: Draws waits.
        http: A client of the caller's, in place of a guarded one.
    """

    def __init__(
        self,
        service: str,
        *,
        tokens: Tokens | None = None,
        save: Save | None = None,
        proxy: str | None = None,
        labelers: Sequence[str] = (),
        local: bool = False,
        timeout_s: float = TIMEOUT_S,
        policy: RetryPolicy | None = None,
        rng: Random | None = None,
        http: httpx2.Client | None = None,
    ) -> None:
        super().__init__(service, tokens, save, _headers(proxy, labelers))
        self._policy = policy if policy is not None else RetryPolicy()
        self._rng = rng if rng is not None else Random()  # noqa: S311 - spreads waits
        self._http = http or httpx2.Client(transport=transport(local=local), timeout=timeout_s)
        self._refreshing = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the session goes on."""
        self._http.close()

    def login(self, identifier: str, password: str, *, factor_token: str | None = None) -> Tokens:
        """Begin a session with an app password.

        Raises:
            XRPCError: `AuthenticationRequired`, `AuthFactorTokenRequired` and others.
        """
        answer = self.call(create(identifier, password, factor_token=factor_token))
        return self._keep(read_tokens(answer, service=self.service))

    def logout(self) -> None:
        """End the session."""
        tokens = self._tokens
        if tokens is not None:
            self.call(end(tokens))
            self._end()

    def query(self, nsid: str, params: Mapping[str, Value] | None = None) -> dict[str, Value]:
        """Ask for something; return the JSON map that is answered.

        Raises:
            XRPCError: The service refused.
            NetworkFailed: No answer.
            ResponseInvalid: An answer that is none.
        """
        return self.call(Call(nsid, params or {})).data()

    def procedure(
        self,
        nsid: str,
        data: Value = None,
        *,
        params: Mapping[str, Value] | None = None,
    ) -> dict[str, Value]:
        """Do something; return the JSON map that is answered, empty where nothing is.

        Raises:
            XRPCError, NetworkFailed, ResponseInvalid: See `query`. After `NetworkFailed` it may
                have been done all the same.
        """
        answer = self.call(Call(nsid, params or {}, data=data, is_procedure=True))
        return answer.data() if answer.body else {}

    def pages(
        self, nsid: str, params: Mapping[str, Value] | None = None
    ) -> Iterator[dict[str, Value]]:
        """Yield the answers of a query that pages by `cursor`, until there is no further one.

        Raises:
            ResponseInvalid: A cursor comes twice: the pages would never end.
        """
        pages = Pages(params or {})
        while not pages.ended:
            data = self.query(nsid, pages.params())
            pages.take(data, host=_host(self.service))
            yield data

    def upload_blob(self, content: bytes, *, mime_type: str) -> dict[str, Value]:
        """Upload a file; return the blob to be put into a record.

        Raises:
            HashMismatch: What the service says that it has is another file.
        """
        call = Call(
            "com.atproto.repo.uploadBlob", body=content, encoding=mime_type, is_procedure=True
        )
        return _uploaded(self.call(call), content)

    def download(
        self, nsid: str, params: Mapping[str, Value], *, max_bytes: int = MAX_DOWNLOAD
    ) -> Iterator[bytes]:
        """Yield the pieces of an answer that is not JSON, such as a repository or a blob.

        Raises:
            XRPCError, NetworkFailed: See `query`; also in mid-stream.
            ResponseInvalid: `size`.
        """
        tokens = self._tokens
        bearer = tokens.access if tokens is not None else None
        origin = tokens.service if tokens is not None and tokens.service else self.service
        sent = build(origin, Call(nsid, params, bearer=bearer), headers=self._headers)
        host, size = _host(sent.url), 0
        try:
            with self._http.stream(sent.method, sent.url, headers=dict(sent.headers)) as response:
                if response.status_code >= 300:  # noqa: PLR2004 - not a success
                    body = b"".join(_bounded(response.iter_bytes(), MAX_ANSWER, host))
                    judge(_answer(response, body, host), now_s=time.time())
                for piece in response.iter_bytes():
                    size += len(piece)
                    if size > max_bytes:
                        raise _too_large(host, max_bytes)
                    yield piece
        except httpx2.HTTPError as error:
            raise failed(host, error) from error

    def blob(self, did: str, cid: str, *, max_bytes: int = 100 << 20) -> bytes:
        """Download a blob and check that it is the one.

        Raises:
            HashMismatch: It is another file.
        """
        params: dict[str, Value] = {"did": did, "cid": cid}
        content = b"".join(self.download("com.atproto.sync.getBlob", params, max_bytes=max_bytes))
        return _checked_blob(content, cid)

    def call(self, call: Call) -> Answer:
        """Make any call.

        Raises:
            XRPCError, NetworkFailed, ResponseInvalid, RequestRefused: See `query`.
        """
        steps = exchange(
            call,
            service=self.service,
            tokens=self._tokens,
            headers=self._headers,
            policy=self._policy,
            rng=self._rng,
            clock=time.time,
        )
        try:
            step = next(steps)
            while True:
                step = steps.send(self._do(step))
        except StopIteration as done:
            return cast("Answer", done.value)

    def _do(self, step: Step) -> Came:
        match step:
            case Send():
                return self._send(step.call)
            case Refresh():
                return self._refresh(step.tokens)
            case Wait():
                time.sleep(step.seconds)
                return None

    def _send(self, call: HTTPCall) -> Answer | Failure:
        host = _host(call.url)
        try:
            with self._http.stream(
                call.method, call.url, headers=dict(call.headers), content=call.content
            ) as response:
                body = b"".join(_bounded(response.iter_bytes(), MAX_ANSWER, host))
                return _answer(response, body, host)
        except httpx2.HTTPError as error:
            return Failure(failed(host, error), sent=not _unsent(error))
        except ATProtoError as error:
            return Failure(error, sent=True)

    def _refresh(self, old: Tokens) -> Tokens | None:
        with self._refreshing:
            if self._tokens is not old:
                return self._tokens
            try:
                answer = self.call(refresh(old))
            except XRPCError as error:
                if error.name in _REFRESH_ENDS:
                    self._end()
                raise
            return self._keep(read_tokens(answer, service=old.service or self.service))


class AsyncClient(_Caller):
    """Calls one service, awaited; for the tasks of one event loop. See `Client`."""

    def __init__(
        self,
        service: str,
        *,
        tokens: Tokens | None = None,
        save: Save | None = None,
        proxy: str | None = None,
        labelers: Sequence[str] = (),
        local: bool = False,
        timeout_s: float = TIMEOUT_S,
        policy: RetryPolicy | None = None,
        rng: Random | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        super().__init__(service, tokens, save, _headers(proxy, labelers))
        self._policy = policy if policy is not None else RetryPolicy()
        self._rng = rng if rng is not None else Random()  # noqa: S311 - spreads waits
        self._http = http or httpx2.AsyncClient(
            transport=async_transport(local=local), timeout=timeout_s
        )
        self._refreshing = anyio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections; the session goes on."""
        await self._http.aclose()

    async def login(
        self, identifier: str, password: str, *, factor_token: str | None = None
    ) -> Tokens:
        """Begin a session with an app password; see `Client.login`."""
        answer = await self.call(create(identifier, password, factor_token=factor_token))
        return self._keep(read_tokens(answer, service=self.service))

    async def logout(self) -> None:
        """End the session."""
        tokens = self._tokens
        if tokens is not None:
            await self.call(end(tokens))
            self._end()

    async def query(self, nsid: str, params: Mapping[str, Value] | None = None) -> dict[str, Value]:
        """Ask for something; see `Client.query`."""
        return (await self.call(Call(nsid, params or {}))).data()

    async def procedure(
        self, nsid: str, data: Value = None, *, params: Mapping[str, Value] | None = None
    ) -> dict[str, Value]:
        """Do something; see `Client.procedure`."""
        answer = await self.call(Call(nsid, params or {}, data=data, is_procedure=True))
        return answer.data() if answer.body else {}

    async def pages(
        self, nsid: str, params: Mapping[str, Value] | None = None
    ) -> AsyncIterator[dict[str, Value]]:
        """Yield the answers of a query that pages by `cursor`; see `Client.pages`."""
        pages = Pages(params or {})
        while not pages.ended:
            data = await self.query(nsid, pages.params())
            pages.take(data, host=_host(self.service))
            yield data

    async def upload_blob(self, content: bytes, *, mime_type: str) -> dict[str, Value]:
        """Upload a file; see `Client.upload_blob`."""
        call = Call(
            "com.atproto.repo.uploadBlob", body=content, encoding=mime_type, is_procedure=True
        )
        return _uploaded(await self.call(call), content)

    async def call(self, call: Call) -> Answer:
        """Make any call; see `Client.call`."""
        steps = exchange(
            call,
            service=self.service,
            tokens=self._tokens,
            headers=self._headers,
            policy=self._policy,
            rng=self._rng,
            clock=time.time,
        )
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._do(step))
        except StopIteration as done:
            return cast("Answer", done.value)

    async def _do(self, step: Step) -> Came:
        match step:
            case Send():
                return await self._send(step.call)
            case Refresh():
                return await self._refresh(step.tokens)
            case Wait():
                await anyio.sleep(step.seconds)
                return None

    async def _send(self, call: HTTPCall) -> Answer | Failure:
        host = _host(call.url)
        try:
            async with self._http.stream(
                call.method, call.url, headers=dict(call.headers), content=call.content
            ) as response:
                body = bytearray()
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > MAX_ANSWER:
                        raise _too_large(host, MAX_ANSWER)
                return _answer(response, bytes(body), host)
        except httpx2.HTTPError as error:
            return Failure(failed(host, error), sent=not _unsent(error))
        except ATProtoError as error:
            return Failure(error, sent=True)

    async def _refresh(self, old: Tokens) -> Tokens | None:
        async with self._refreshing:
            if self._tokens is not old:
                return self._tokens
            try:
                answer = await self.call(refresh(old))
            except XRPCError as error:
                if error.name in _REFRESH_ENDS:
                    self._end()
                raise
            return self._keep(read_tokens(answer, service=old.service or self.service))


def _bounded(pieces: Iterator[bytes], most: int, host: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise _too_large(host, most)
        yield piece


def _uploaded(answer: Answer, content: bytes) -> dict[str, Value]:
    blob = answer.data().get("blob")
    if not isinstance(blob, dict):
        raise ResponseInvalid(answer.host, "no blob", code="form")
    told = blob.get("ref")
    if not isinstance(told, CID):
        raise ResponseInvalid(answer.host, "a blob without a link", code="form")
    if told != CID.of(content, codec=Codec.RAW):
        raise HashMismatch(told)
    return blob


def _checked_blob(content: bytes, cid: str) -> bytes:
    wanted = CID.parse(cid)
    if CID.of(content, codec=Codec.RAW) != wanted:
        raise HashMismatch(wanted)
    return content
