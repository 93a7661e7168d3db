"""A client registered at one authorization server: all that the flows need to know.

Construction checks the client against its profile, so that a client in hand can be used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from op_openbanking.errors import ConfigError, OpenBankingError, TokenInvalid, TransportError
from op_openbanking.flow import Clock, Entropy, Flow, Request, fetch, split_url
from op_openbanking.jose.algorithms import FAPI_SECTION, Algorithm, require
from op_openbanking.jose.hashes import X5T_S256_CHARS
from op_openbanking.jose.jwe import DecryptionKey, decrypt_compact, is_encrypted
from op_openbanking.jose.jwk import MAX_SET_BYTES, JWKSet
from op_openbanking.jose.jws import peek
from op_openbanking.jose.jwt import DEFAULT_LEEWAY_S
from op_openbanking.jose.rotation import FetchedKeys, FetchKeys, KeyRing, find_keys
from op_openbanking.signing.base import AsyncSigner, Signer

from .client_auth import Audience, Call, ClientAuthentication, PrivateKeyJWT
from .dpop import DPoPKey
from .metadata import Endpoint, ServerMetadata
from .profile import AuthMethod, Clause, Profile, SenderConstraint
from .signed import require_fapi_signer

MAX_LEEWAY_S: Final = 300
"""Ours: most clock skew granted."""
_GOOD: Final = 200


@dataclass(frozen=True, slots=True)
class CertificateBinding:
    """Tokens are bound to the TLS client certificate.

    Attributes:
        thumbprint: Its x5t#S256, 43 letters; `http.tls.ClientCertificate.thumbprint`.
    """

    thumbprint: str

    def __post_init__(self) -> None:
        if len(self.thumbprint) != X5T_S256_CHARS:
            raise ConfigError(f"an x5t#S256 has {X5T_S256_CHARS} letters")


Binding: TypeAlias = CertificateBinding | DPoPKey


@dataclass(frozen=True, slots=True)
class Decryption:
    """How encrypted tokens of the server are opened, as registered.

    Attributes:
        keys: Our private keys.
        algorithms: Accepted `alg`.
        encryptions: Accepted `enc`.
    """

    keys: tuple[DecryptionKey, ...] = field(repr=False)
    algorithms: frozenset[str] = frozenset({"RSA-OAEP", "RSA-OAEP-256"})
    encryptions: frozenset[str] = frozenset({"A256GCM", "A128GCM", "A128CBC-HS256"})


@dataclass(frozen=True, slots=True)
class Client:
    """A registered client.

    Attributes:
        profile: The security profile; nothing it does not allow can be asked for.
        server: The server, as discovered.
        client_id: As registered.
        redirect_uri: As registered; one for each server, so that answers cannot be mixed up.
        authentication: How the client proves itself.
        binding: What access tokens are bound to.
        clock: Seconds since 1970.
        entropy: Unpredictable octets.
        request_signer: Signs request objects; None where the profile does without.
        client_certificate: x5t#S256 of the TLS client certificate where one is presented although
            tokens are bound to a DPoP key.
        keys: The server's keys over time; made from its `jwks_uri` unless handed in.
        decryption: How encrypted id_tokens and answers are opened, or None.
        leeway_s: Clock skew granted to the server's tokens, at most 300 s.
        token_algs: Algorithms registered for id_tokens and answers; empty for those of the profile.
        introspects_opaque: Whether an opaque access token is introspected to learn its binding,
            where the server has an endpoint for it. Without, the server's metadata must say that
            tokens are bound.

    Raises:
        ConfigError: At construction, when profile, server and client do not go together.
    """

    profile: Profile
    server: ServerMetadata
    client_id: str
    redirect_uri: str
    authentication: ClientAuthentication
    binding: Binding
    clock: Clock = field(repr=False)
    entropy: Entropy = field(repr=False)
    request_signer: Signer | AsyncSigner | None = None
    client_certificate: str | None = None
    # Never None once constructed: `__post_init__` makes a ring from the server's jwks_uri.
    keys: KeyRing = field(default=None, repr=False)  # type: ignore[assignment]
    decryption: Decryption | None = field(default=None, repr=False)
    leeway_s: int = DEFAULT_LEEWAY_S
    introspects_opaque: bool = True
    token_algs: frozenset[Algorithm] = frozenset()

    def __post_init__(self) -> None:
        if self.keys is None:
            uri = self.server.endpoint(Endpoint.JWKS, mutual_tls=False)
            object.__setattr__(self, "keys", KeyRing(uri))
        if isinstance(self.binding, CertificateBinding):
            object.__setattr__(self, "client_certificate", self.binding.thumbprint)
        _check(self)

    @property
    def constraint(self) -> SenderConstraint:
        """Which of the two bindings this client uses."""
        certificate = isinstance(self.binding, CertificateBinding)
        return SenderConstraint.MTLS if certificate else SenderConstraint.DPOP

    @property
    def accepted_algs(self) -> frozenset[Algorithm]:
        """Algorithms that a token of the server may be signed with."""
        return self.token_algs or self.profile.algorithms

    def endpoint(self, endpoint: Endpoint) -> str:
        """URL of an endpoint; the alias for mutual TLS where the certificate is presented.

        Raises:
            ConfigError: The server does not have it.
        """
        return self.server.endpoint(endpoint, mutual_tls=self.client_certificate is not None)

    def credentials(self, url: str) -> Flow[dict[str, str]]:
        """Form fields that prove the client at an endpoint."""
        return (
            yield from self.authentication.credentials(
                Call(self.client_id, self.server, url, self.clock(), self.entropy)
            )
        )

    def trusted_keys(self, token: str) -> Flow[JWKSet]:
        """The server's keys for a token, fetched where needed; see `jose.rotation`.

        The algorithm is judged first: a forged header must not cost the server a fetch.

        Raises:
            SignatureInvalid: The profile does not allow the algorithm of the token.
            KeyNotFound: The server has no key of that name.
        """
        require(peek(token)[0].get("alg"), self.accepted_algs)
        return (yield from fetch_keys(self.keys, token, clock=self.clock))

    def opened(self, token: str) -> str:
        """The signed token inside an encrypted one; a token that is not encrypted as it is.

        Raises:
            TokenInvalid: It does not decrypt; or no `decryption` is configured, then its check is
                `jwe-unexpected`.
        """
        if not is_encrypted(token):
            return token
        if self.decryption is None:
            raise TokenInvalid(
                "the token is encrypted, and no decryption key is configured",
                check="jwe-unexpected",
                section="RFC 7516 5.2",
            )
        inner = decrypt_compact(
            token,
            self.decryption.keys,
            algorithms=self.decryption.algorithms,
            encryptions=self.decryption.encryptions,
        )
        return inner.plaintext.decode("ascii", errors="replace")


def fetch_keys(ring: KeyRing, token: str, *, clock: Clock) -> Flow[JWKSet]:
    """Answer a key ring's wish for documents with requests.

    Raises:
        KeyNotFound: See `jose.rotation.find_keys`.
        TransportError: The document could not be fetched.
    """
    search = find_keys(ring, token, clock=clock)
    try:
        wanted = next(search)
        while True:
            try:
                fetched = yield from _document(wanted)
            except TransportError as error:
                wanted = search.throw(error)
            except OpenBankingError:
                ring.fetch_failed(now_s=clock())
                raise
            else:
                wanted = search.send(fetched)
    except StopIteration as stop:
        found: JWKSet = stop.value
        return found


def _document(wanted: FetchKeys) -> Flow[FetchedKeys]:
    response = yield from fetch(
        Request(
            "GET",
            wanted.uri,
            headers=(("accept", "application/jwk-set+json, application/json"),),
            idempotent=True,
            max_response_bytes=MAX_SET_BYTES,
        )
    )
    if response.status != _GOOD:
        raise TransportError(f"the JWKS answered HTTP {response.status}")
    return FetchedKeys(response.body, response.header("cache-control"))


def _check(client: Client) -> None:
    profile = client.profile
    _require(
        0 <= client.leeway_s <= MAX_LEEWAY_S,
        f"leeway_s must be between 0 and {MAX_LEEWAY_S}",
        "RFC 7519 4.1.4",
    )
    _require(
        client.constraint in profile.constraints,
        f"{profile.title} does not allow tokens bound by {client.constraint.value}",
        profile.section(Clause.SENDER_CONSTRAINT),
    )
    _require(
        client.constraint is SenderConstraint.DPOP or client.server.binds_tokens,
        "the server does not say that it binds tokens to client certificates",
        profile.section(Clause.SENDER_CONSTRAINT),
    )
    _require(
        client.accepted_algs <= profile.algorithms,
        f"{profile.title} does not allow these token_algs",
        FAPI_SECTION,
    )
    method = client.authentication.method
    _require(
        method in profile.auth_methods,
        f"{profile.title} does not allow {method.value}",
        profile.section(Clause.CLIENT_AUTHENTICATION),
    )
    offered = client.server.auth_methods
    _require(
        not offered or method.value in offered,
        f"the server does not take {method.value}",
        profile.section(Clause.CLIENT_AUTHENTICATION),
    )
    _require(
        method is AuthMethod.PRIVATE_KEY_JWT or client.client_certificate is not None,
        f"{method.value} needs the thumbprint of the TLS client certificate",
        "RFC 8705 2",
    )
    if profile.requires_issuer_audience and isinstance(client.authentication, PrivateKeyJWT):
        _require(
            client.authentication.audience is Audience.ISSUER,
            "a client assertion must be addressed to the issuer alone",
            profile.section(Clause.CLIENT_AUTHENTICATION),
        )
    _check_requests(client)


def _check_requests(client: Client) -> None:
    profile = client.profile
    if profile.requires_request_object:
        _require(
            client.request_signer is not None,
            "request objects must be signed, and there is no request_signer",
            profile.section(Clause.REQUEST_OBJECT),
        )
    if client.request_signer is not None:
        require_fapi_signer(client.request_signer)
    _require(
        not profile.requires_par or client.server.has(Endpoint.PAR),
        "the server has no endpoint for pushed requests",
        profile.section(Clause.PUSHED_REQUEST),
    )
    parts = split_url(client.redirect_uri, what="redirect_uri")
    loopback = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    _require(
        bool(parts.netloc)
        and not parts.fragment
        and (parts.scheme == "https" or (parts.scheme == "http" and loopback)),
        "redirect_uri must be https without fragment",
        profile.section(Clause.REDIRECT),
    )


def _require(holds: bool, problem: str, section: str) -> None:
    if not holds:
        raise ConfigError(f"{problem} [{section}]")
