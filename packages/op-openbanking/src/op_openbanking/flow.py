"""Conversations without input and output, and the two drivers that perform them.

A flow is a generator. It yields one step at a time, is sent the reply, and returns its result:

    def balance(url: str) -> Flow[bytes]:
        response = yield from fetch(Request("GET", url))
        return response.body

    run(balance(url), transport)            # blocking
    await arun(balance(url), transport)     # asyncio; the same flow

Two kinds of step exist. A `Request` is performed by the transport and answered by a `Response`.
A `SignRequest` is performed by the signer it names and answered by the octets of the signature:
`run` calls a blocking signer, `arun` takes blocking and awaited ones, so a key in a remote service
serves both drivers and no flow knows which. `fetch` and `signature` wrap the two with their types.

An error of this package that a step raises is thrown into the flow at its `yield`, where the flow
may catch it; every other exception, cancellation included, closes the flow and passes through.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import SplitResult, urlencode, urlsplit

from .errors import ConfigError, OpenBankingError, quoted
from .signing.base import AsyncSigner, Signer

T = TypeVar("T")

Clock: TypeAlias = Callable[[], float]
"""Seconds since 1970. `time.time` is one; tests hand in their own."""
Entropy: TypeAlias = Callable[[int], bytes]
"""That many unpredictable octets. `secrets.token_bytes` is one."""

DEFAULT_TIMEOUT_S: Final = 30.0
DEFAULT_MAX_RESPONSE_BYTES: Final = 8 * 1024 * 1024
MAX_URL_CHARS: Final = 16 * 1024

IDEMPOTENT_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""RFC 9110 9.2.2. A POST may be repeated only under a key that the bank recognises."""
IDEMPOTENCY_HEADERS: Final = frozenset({"idempotency-key", "x-idempotency-key"})
"""Headers by which every bank recognises a repeated POST: IETF draft, OBIE."""
_FRAMING = frozenset({"connection", "content-length", "transfer-encoding"})
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, final: the transport sends these octets and adds no content of its own.

    Attributes:
        method: Upper-case method.
        url: Absolute `https` URL (`http` is for loopback addresses only, and never together with a
            client certificate).
        headers: Names and values; names are compared without case.
        body: Octets of the body; empty for none.
        needs_client_certificate: Whether the TLS handshake must present the client certificate.
        client_certificate: The x5t#S256 (43 letters) that this certificate must have, or None for
            whichever the transport holds. Setting it implies `needs_client_certificate`.
        timeout_s: Longest time for the whole exchange, in seconds.
        idempotent: Whether the same octets may be sent again after an answer that left open
            whether the first were received. A POST or PATCH may say so only if it carries a fixed
            idempotency key in a header, so a payment is never repeated without one.
        idempotency_header: A further header that carries this key at this bank, for example
            `x-request-id` where its documentation says so (Berlin Group leaves it open).
        max_response_bytes: Longest body accepted, after content decoding.

    Raises:
        ConfigError: At construction, when one of these rules is broken.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    needs_client_certificate: bool = False
    client_certificate: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    idempotent: bool = False
    max_response_bytes: int = DEFAULT_MAX_RESPONSE_BYTES
    idempotency_header: str | None = None

    def __post_init__(self) -> None:
        if not (self.method.isascii() and self.method.isalpha() and self.method.isupper()):
            raise ConfigError("method must be upper-case letters")
        _check_url(self.url)
        if not 0 < self.timeout_s < math.inf or self.max_response_bytes <= 0:
            raise ConfigError("timeout_s and max_response_bytes must be positive numbers")
        if self.client_certificate is not None and not self.needs_client_certificate:
            object.__setattr__(self, "needs_client_certificate", True)
        if self.needs_client_certificate and urlsplit(self.url).scheme != "https":
            raise ConfigError("a client certificate is presented over https alone [RFC 8705 2]")
        for name, value in self.headers:
            if not _is_token(name) or not _is_field_value(value):
                raise ConfigError("a header has letters that HTTP does not allow [RFC 9110 5.5]")
            if name.lower() in _FRAMING:
                raise ConfigError(f"the header {name.lower()} is the transport's [RFC 9112 6]")
        if self.idempotent and self.method not in IDEMPOTENT_METHODS:
            names = {name.lower() for name, value in self.headers if value}
            known = IDEMPOTENCY_HEADERS | {(self.idempotency_header or "").lower()}
            if known.isdisjoint(names):
                raise ConfigError(
                    f"a {self.method} may be repeated only under an idempotency key "
                    f"({', '.join(sorted(IDEMPOTENCY_HEADERS))}, or the idempotency_header named)"
                )

    def header(self, name: str) -> str | None:
        """First value of a header, or None."""
        return _header(self.headers, name)


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response, read to its end.

    Attributes:
        status: Status code.
        headers: Names in lower case, and values, in the order received.
        body: Octets after transfer and content decoding, before any parsing.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)

    def header(self, name: str) -> str | None:
        """First value of a header, or None."""
        return _header(self.headers, name)

    @property
    def media_type(self) -> str:
        """Media type in lower case without parameters; empty where the peer names none."""
        return (self.header("content-type") or "").split(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class SignRequest:
    """Octets to be signed by a signer, answered by its signature.

    Attributes:
        signer: Blocking or awaited.
        data: The octets.
    """

    signer: Signer | AsyncSigner
    data: bytes = field(repr=False)


Step: TypeAlias = Request | SignRequest
Reply: TypeAlias = Response | bytes
Flow: TypeAlias = Generator[Step, Reply, T]


class Transport(Protocol):
    """Performs one request, blocking.

    It follows no redirect, keeps no cookie, and bounds time and size as the request asks.
    """

    def send(self, request: Request) -> Response:
        """Perform a request.

        Raises:
            TransportError: No complete answer; `retryable` says whether it may be sent again.
            ProtocolViolation: The answer is too long or no HTTP.
            ConfigError: The client certificate asked for is not at hand.
        """
        ...


class AsyncTransport(Protocol):
    """`Transport`, awaited."""

    async def send(self, request: Request) -> Response:
        """See `Transport.send`."""
        ...


def fetch(request: Request) -> Flow[Response]:
    """Yield a request and return its response."""
    reply = yield request
    if not isinstance(reply, Response):
        raise ConfigError("a driver must answer a Request with a Response")
    return reply


def signature(signer: Signer | AsyncSigner, data: bytes) -> Flow[bytes]:
    """Yield octets to sign and return the signature as the signer gave it."""
    reply = yield SignRequest(signer, data)
    if not isinstance(reply, bytes):
        raise ConfigError("a driver must answer a SignRequest with octets")
    return reply


def run(flow: Flow[T], transport: Transport) -> T:
    """Drive a flow with a blocking transport.

    Raises:
        ConfigError: The flow signs with an awaited signer; `arun` drives those.
    """
    try:
        step = next(flow)
        while True:
            try:
                reply = _perform(step, transport)
            except OpenBankingError as error:
                step = flow.throw(error)
            else:
                step = flow.send(reply)
    except StopIteration as stop:
        return cast("T", stop.value)
    finally:
        flow.close()


async def arun(flow: Flow[T], transport: AsyncTransport) -> T:
    """Drive a flow with an asyncio transport; blocking signers run in place."""
    try:
        step = next(flow)
        while True:
            try:
                reply = await _aperform(step, transport)
            except OpenBankingError as error:
                step = flow.throw(error)
            else:
                step = flow.send(reply)
    except StopIteration as stop:
        return cast("T", stop.value)
    finally:
        flow.close()


def _perform(step: Step, transport: Transport) -> Reply:
    if isinstance(step, Request):
        return transport.send(step)
    made = step.signer.sign(step.data)
    if isinstance(made, bytes):
        return made
    if inspect.iscoroutine(made):
        made.close()
    raise ConfigError("this flow signs with an awaited signer: drive it with arun")


async def _aperform(step: Step, transport: AsyncTransport) -> Reply:
    if isinstance(step, Request):
        return await transport.send(step)
    made = step.signer.sign(step.data)
    return made if isinstance(made, bytes) else await made


def _header(headers: tuple[tuple[str, str], ...], name: str) -> str | None:
    wanted = name.lower()
    return next((value for each, value in headers if each.lower() == wanted), None)


_TOKEN_LETTERS = frozenset(
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)


def _is_token(name: str) -> bool:
    return bool(name) and _TOKEN_LETTERS.issuperset(name)


def _is_field_value(value: str) -> bool:
    return value.isascii() and value.replace("\t", "").isprintable()


def split_url(url: str, *, what: str) -> SplitResult:
    """The parts of a URL of the caller.

    Args:
        url: The URL.
        what: Its name, for the error.

    Raises:
        ConfigError: Not a URL: a bracket or a port that is none.
    """
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{what} is not a URL") from error
    return parts


def _check_url(url: str) -> None:
    parts = split_url(url, what="the url of a request")
    host = parts.hostname or ""
    if len(url) > MAX_URL_CHARS or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigError(f"a url has at most {MAX_URL_CHARS} printable ASCII letters")
    secure = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not secure or not host or parts.fragment or parts.username is not None:
        raise ConfigError(
            f"the url of a request must be https with a host, without user and fragment; "
            f"this one is {parts.scheme}://{quoted(host)}"
        )


def form(
    url: str,
    fields: Mapping[str, str],
    *,
    headers: tuple[tuple[str, str], ...] = (),
    client_certificate: str | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    max_response_bytes: int = 256 * 1024,
) -> Request:
    """A POST of form fields that asks for JSON; it is never repeated by itself.

    Args:
        url: Where.
        fields: Names and values; encoded in their order.
        headers: Further headers.
        client_certificate: See `Request`.
        timeout_s: See `Request`.
        max_response_bytes: See `Request`.
    """
    return Request(
        "POST",
        url,
        headers=(
            ("content-type", "application/x-www-form-urlencoded"),
            ("accept", "application/json"),
            *headers,
        ),
        body=urlencode(fields).encode("ascii"),
        client_certificate=client_certificate,
        timeout_s=timeout_s,
        max_response_bytes=max_response_bytes,
    )
