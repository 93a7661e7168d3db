"""Settings that every transport understands, and the rules that all of them share.

Source: RFC 9110; FAPI 1.0 Baseline section 7.1 (TLS) and Advanced section 8.5 (cipher suites).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from op_openbanking.errors import ConfigError, TransportError
from op_openbanking.flow import Request, split_url

from .tls import ClientCertificate, TrustAnchors

ACCEPT_ENCODING: Final = "gzip"
"""The one content coding that `content.Body` undoes with a bound on its size."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Limits of the phases of an exchange, in seconds; a request's own `timeout_s` caps them all.

    Attributes:
        connect_s: TCP and TLS handshake, or the proxy's answer.
        read_s: Silence between two pieces of the answer.
        write_s: Silence between two pieces of the request.
        pool_s: Wait for a free connection.
    """

    connect_s: float = 5.0
    read_s: float = 20.0
    write_s: float = 10.0
    pool_s: float = 5.0

    def __post_init__(self) -> None:
        if min(self.connect_s, self.read_s, self.write_s, self.pool_s) <= 0:
            raise ConfigError("time-outs must be positive")


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """What a transport needs to know.

    Attributes:
        certificate: The TLS client certificate with its key, or None.
        trust: Which certificate authorities of servers are trusted.
        proxy: URL of an HTTP proxy (`http://host:port`), or None. The environment is not read.
        timeouts: Limits of the phases.
        max_connections: Most connections open at a time.
    """

    certificate: ClientCertificate | None = None
    trust: TrustAnchors = field(default_factory=TrustAnchors)
    proxy: str | None = field(default=None, repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)
    max_connections: int = 20

    def __post_init__(self) -> None:
        if self.max_connections < 1:
            raise ConfigError("max_connections must be at least 1")
        schemes = {"http", "https"}
        if self.proxy is not None and split_url(self.proxy, what="proxy").scheme not in schemes:
            raise ConfigError("proxy must be an http or https URL")

    def check_certificate(self, request: Request) -> bool:
        """Whether to present the client certificate.

        Raises:
            ConfigError: The request needs one that is not at hand; a bound token must be used with
                the certificate it is bound to (RFC 8705 section 3).
        """
        if not request.needs_client_certificate:
            return False
        if self.certificate is None:
            raise ConfigError("the request needs a TLS client certificate and none is configured")
        held = self.certificate.thumbprint
        if request.client_certificate not in (None, held):
            raise ConfigError(
                f"the request needs the TLS client certificate {request.client_certificate}, "
                f"configured is {held} [RFC 8705 3]"
            )
        return True


def outgoing_headers(request: Request) -> list[tuple[str, str]]:
    """The request's headers, and the content codings that we can undo."""
    headers = list(request.headers)
    if request.header("accept-encoding") is None:
        headers.append(("accept-encoding", ACCEPT_ENCODING))
    if request.header("user-agent") is None:
        headers.append(("user-agent", "op-openbanking"))
    return headers


def failure(request: Request, *, phase: str, sent: bool) -> TransportError:
    """The error for an exchange that broke off.

    Args:
        request: The request; of its URL only the host is named.
        phase: What happened, for example `no connection` or `no answer in time`.
        sent: Whether the peer may have received the request. If so it may be repeated only where
            the request says that it is idempotent.
    """
    host = urlsplit(request.url).netloc
    retryable = request.idempotent or not sent
    note = "" if retryable else "; it may have been received, so it must not be sent again"
    return TransportError(f"{request.method} to {host}: {phase}{note}", retryable=retryable)
