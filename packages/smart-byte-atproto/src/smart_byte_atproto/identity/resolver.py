"""From a handle or DID to an identity that both sides confirm, kept for a while.

`Resolver` blocks and may be shared by threads, `AsyncResolver` is awaited; both drive the same
flows. Several who ask for the same DID at the same time cause one request.

Source: atproto specification "Handle", section "Handle Resolution"; reference sections 10 to 12.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Final, TypeVar, cast

import anyio

from smart_byte_atproto.errors import (
    ATProtoError,
    IdentityMismatch,
    IdentityNotFound,
    ResolutionFailed,
)
from smart_byte_atproto.net.dns import DNS
from smart_byte_atproto.net.fetch import Fetch, Fetched, TextRecords
from smart_byte_atproto.net.http import afetch, fetch
from smart_byte_atproto.syntax import DID, Handle, parse_at_identifier

from .cache import Age, Cache, Cached, CacheLimits
from .document import DIDDocument
from .flow import AsyncNetwork, Flow, Network, arun, run
from .handle import resolve_handle
from .methods import METHODS

T = TypeVar("T")
DIRECTORY: Final = "https://plc.directory"


@dataclass(frozen=True, slots=True)
class Identity:
    """An account.

    Attributes:
        did: Its permanent name.
        handle: Its handle, if handle and DID name each other; None else.
        document: Its DID document.
    """

    did: DID
    handle: Handle | None
    document: DIDDocument

    @property
    def pds(self) -> str:
        """Origin of its server.

        Raises:
            ResolutionFailed: The document names none.
        """
        found = self.document.pds
        if found is None:
            raise ResolutionFailed(self.did, "the document names no server")
        return found


def resolve_did(did: DID, *, directory: str) -> Flow[DIDDocument]:
    """Return the flow that gets the document of a DID.

    Raises:
        IdentityNotFound: Nobody by that name, or a method that atproto does not take.
    """
    method = METHODS.get(did.method)
    if method is None:
        raise IdentityNotFound(did, f"did:{did.method} is no method of atproto")
    return (yield from method.resolve(did, directory=directory))


@dataclass(frozen=True, slots=True)
class LiveNetwork:
    """The internet, under the guard.

    Attributes:
        dns: Asked for TXT records.
        local: Whether services on loopback may be asked.
    """

    dns: DNS
    local: bool = False

    def fetch(self, wanted: Fetch) -> Fetched:
        return fetch(wanted, local=self.local)

    def text_records(self, wanted: TextRecords) -> list[str]:
        return self.dns.text_records(wanted)


@dataclass(frozen=True, slots=True)
class AsyncLiveNetwork:
    """The internet, under the guard, awaited."""

    dns: DNS
    local: bool = False

    async def fetch(self, wanted: Fetch) -> Fetched:
        return await afetch(wanted, local=self.local)

    async def text_records(self, wanted: TextRecords) -> list[str]:
        return await self.dns.atext_records(wanted)


@dataclass(frozen=True, slots=True)
class _Document:
    """The document of a DID is wanted."""

    did: DID


@dataclass(frozen=True, slots=True)
class _DIDOf:
    """The DID that a handle names is wanted."""

    handle: Handle


_Step = Generator[_Document | _DIDOf, "DIDDocument | DID", Identity]


def _identify(identifier: str) -> _Step:
    """Ask both sides; a DID whose handle cannot be confirmed has none."""
    asked = parse_at_identifier(identifier)
    if isinstance(asked, Handle):
        handle = asked.normalize()
        did = cast("DID", (yield _DIDOf(handle)))
        document = cast("DIDDocument", (yield _Document(did)))
        if document.handle != handle:
            claimed = document.handle or "none"
            raise IdentityMismatch(handle, f"{did} does not claim it, but {claimed}")
        return Identity(did, handle, document)
    document = cast("DIDDocument", (yield _Document(DID(asked))))
    claimed_handle = document.handle
    named: object = None
    if claimed_handle is not None:
        try:
            named = yield _DIDOf(claimed_handle)
        except ATProtoError:
            named = None
    return Identity(document.did, claimed_handle if named == document.did else None, document)


class _Known:
    """Documents and handles that have been resolved."""

    def __init__(self, limits: CacheLimits | None, clock: Callable[[], float]) -> None:
        self.documents: Cache[DIDDocument] = Cache(limits)
        self.handles: Cache[DID] = Cache(limits)
        self.clock = clock

    def purge(self, identifier: str) -> None:
        """Forget a DID, and the handle that its document claimed; or a handle."""
        known = self.documents.get(identifier, now_s=self.clock()).value
        if known is not None and known.handle is not None:
            self.handles.purge(known.handle)
        self.documents.purge(identifier)
        self.handles.purge(identifier.lower())


class Resolver:
    """Resolves identities, blocking; may be shared by threads.

    Args:
        directory: Origin of the PLC directory.
        network: What is asked; the internet under the guard by default.
        local: Whether services on loopback may be asked, for development.
        limits: Of the cache.
        clock: Seconds that do not go back.
    """

    def __init__(
        self,
        *,
        directory: str = DIRECTORY,
        network: Network | None = None,
        local: bool = False,
        limits: CacheLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._directory = directory.rstrip("/")
        self._network = network if network is not None else LiveNetwork(DNS(), local)
        self._known = _Known(limits, clock)
        self._lock = Lock()
        self._asking: dict[str, tuple[Lock, int]] = {}

    def document(self, did: str, *, refresh: bool = False) -> DIDDocument:
        """Return the document of a DID.

        Args:
            did: Whose.
            refresh: Whether to ask anew though it is known.

        Raises:
            InvalidSyntax: Not a DID.
            ATProtoError: It could not be had: `ResolutionFailed`, `InvalidDocument`,
                `NetworkFailed`, `ResponseInvalid` or `RequestRefused`.
        """
        name = DID(did)
        flow = partial(resolve_did, name, directory=self._directory)
        return self._get(self._known.documents, name, flow, refresh=refresh)

    def did_of(self, handle: str, *, refresh: bool = False) -> DID:
        """Return the DID that a handle names; see `identity` for both directions."""
        name = Handle(handle).normalize()
        return self._get(self._known.handles, name, partial(resolve_handle, name), refresh=refresh)

    def identity(self, identifier: str, *, refresh: bool = False) -> Identity:
        """Return the identity of a handle or DID.

        Raises:
            InvalidSyntax: Neither a handle nor a DID.
            IdentityMismatch: A handle that its DID does not claim.
            ATProtoError: It could not be resolved; see `document`.
        """
        steps = _identify(identifier)
        try:
            wanted = next(steps)
            while True:
                try:
                    came = self._answer(wanted, refresh=refresh)
                except ATProtoError as error:
                    wanted = steps.throw(error)
                else:
                    wanted = steps.send(came)
        except StopIteration as done:
            return cast("Identity", done.value)

    def purge(self, identifier: str) -> None:
        """Forget what is known of a DID or handle."""
        with self._lock:
            self._known.purge(identifier)

    def _answer(self, wanted: _Document | _DIDOf, *, refresh: bool) -> DIDDocument | DID:
        if isinstance(wanted, _Document):
            return self.document(wanted.did, refresh=refresh)
        return self.did_of(wanted.handle, refresh=refresh)

    def _get(self, cache: Cache[T], key: str, flow: Callable[[], Flow[T]], *, refresh: bool) -> T:
        """Return what is cached, or resolve it: once for all who wait."""
        with self._lock:
            before = cache.get(key, now_s=self._known.clock())
            if not refresh and before.age is Age.FRESH:
                return _settled(before)
            gate, waiting = self._asking.get(key, (Lock(), 0))
            self._asking[key] = (gate, waiting + 1)
        try:
            with gate:
                with self._lock:
                    now = cache.get(key, now_s=self._known.clock())
                if now.age is Age.FRESH and (not refresh or now.value is not before.value):
                    return _settled(now)
                return self._resolve(cache, key, flow, now)
        finally:
            with self._lock:
                gate, waiting = self._asking[key]
                if waiting > 1:
                    self._asking[key] = (gate, waiting - 1)
                else:
                    del self._asking[key]

    def _resolve(
        self, cache: Cache[T], key: str, flow: Callable[[], Flow[T]], known: Cached[T]
    ) -> T:
        try:
            value = run(flow(), self._network)
        except ATProtoError as error:
            if known.value is not None and error.retryable:
                return known.value
            with self._lock:
                cache.put_failure(key, error, now_s=self._known.clock())
            raise
        with self._lock:
            cache.put(key, value, now_s=self._known.clock())
        return value


class AsyncResolver:
    """Resolves identities, awaited; for the tasks of one event loop. See `Resolver`."""

    def __init__(
        self,
        *,
        directory: str = DIRECTORY,
        network: AsyncNetwork | None = None,
        local: bool = False,
        limits: CacheLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._directory = directory.rstrip("/")
        self._network = network if network is not None else AsyncLiveNetwork(DNS(), local)
        self._known = _Known(limits, clock)
        self._asking: dict[str, tuple[anyio.Lock, int]] = {}

    async def document(self, did: str, *, refresh: bool = False) -> DIDDocument:
        """Return the document of a DID; see `Resolver.document`."""
        name = DID(did)
        flow = partial(resolve_did, name, directory=self._directory)
        return await self._get(self._known.documents, name, flow, refresh=refresh)

    async def did_of(self, handle: str, *, refresh: bool = False) -> DID:
        """Return the DID that a handle names; see `identity` for both directions."""
        name = Handle(handle).normalize()
        flow = partial(resolve_handle, name)
        return await self._get(self._known.handles, name, flow, refresh=refresh)

    async def identity(self, identifier: str, *, refresh: bool = False) -> Identity:
        """Return the identity of a handle or DID; see `Resolver.identity`."""
        steps = _identify(identifier)
        try:
            wanted = next(steps)
            while True:
                try:
                    came = await self._answer(wanted, refresh=refresh)
                except ATProtoError as error:
                    wanted = steps.throw(error)
                else:
                    wanted = steps.send(came)
        except StopIteration as done:
            return cast("Identity", done.value)

    def purge(self, identifier: str) -> None:
        """Forget what is known of a DID or handle."""
        self._known.purge(identifier)

    async def _answer(self, wanted: _Document | _DIDOf, *, refresh: bool) -> DIDDocument | DID:
        if isinstance(wanted, _Document):
            return await self.document(wanted.did, refresh=refresh)
        return await self.did_of(wanted.handle, refresh=refresh)

    async def _get(
        self, cache: Cache[T], key: str, flow: Callable[[], Flow[T]], *, refresh: bool
    ) -> T:
        before = cache.get(key, now_s=self._known.clock())
        if not refresh and before.age is Age.FRESH:
            return _settled(before)
        gate, waiting = self._asking.get(key, (anyio.Lock(), 0))
        self._asking[key] = (gate, waiting + 1)
        try:
            async with gate:
                now = cache.get(key, now_s=self._known.clock())
                if now.age is Age.FRESH and (not refresh or now.value is not before.value):
                    return _settled(now)
                return await self._resolve(cache, key, flow, now)
        finally:
            gate, waiting = self._asking[key]
            if waiting > 1:
                self._asking[key] = (gate, waiting - 1)
            else:
                del self._asking[key]

    async def _resolve(
        self, cache: Cache[T], key: str, flow: Callable[[], Flow[T]], known: Cached[T]
    ) -> T:
        try:
            value = await arun(flow(), self._network)
        except ATProtoError as error:
            if known.value is not None and error.retryable:
                return known.value
            cache.put_failure(key, error, now_s=self._known.clock())
            raise
        cache.put(key, value, now_s=self._known.clock())
        return value


def _settled(cached: Cached[T]) -> T:
    """Return what is cached, or raise the failure that is."""
    if cached.failure is not None:
        raise cached.failure
    return cast("T", cached.value)
