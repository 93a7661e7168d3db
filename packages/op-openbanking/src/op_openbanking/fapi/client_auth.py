"""How a client proves itself to the authorization server.

There are no client secrets here: FAPI knows private_key_jwt and the two forms of mutual TLS.

Source: RFC 7523 section 3; OpenID Connect Core 9; RFC 8705 section 2; FAPI 1.0 Advanced 5.2.2-14.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from op_openbanking.errors import ConfigError
from op_openbanking.flow import Entropy, Flow
from op_openbanking.signing.base import AsyncSigner, Signer

from .metadata import Endpoint, ServerMetadata
from .pkce import fresh_text
from .profile import AuthMethod
from .signed import require_fapi_signer, signed_jwt

ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
MAX_ASSERTION_LIFETIME_S: Final = 300
"""Ours, as banks ask: an assertion lives five minutes at most."""


class Audience(StrEnum):
    """Whom an assertion is addressed to; banks differ, FAPI recommends the issuer."""

    ISSUER = "issuer"
    TOKEN_ENDPOINT = "token-endpoint"  # noqa: S105 (a name)
    ENDPOINT = "endpoint"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an endpoint, for which a client proves itself.

    Attributes:
        client_id: Who we are.
        server: Whom we talk to.
        url: The endpoint called.
        now_s: Seconds since 1970.
        entropy: For `jti`.
    """

    client_id: str
    server: ServerMetadata
    url: str
    now_s: float
    entropy: Entropy


class ClientAuthentication(Protocol):
    """One way to prove oneself."""

    @property
    def method(self) -> AuthMethod:
        """The method, as registered."""
        ...

    def credentials(self, call: Call) -> Flow[dict[str, str]]:
        """Form fields that prove the client, fresh for each call."""
        ...


@dataclass(frozen=True, slots=True)
class PrivateKeyJWT:
    """A signed assertion with each call.

    Attributes:
        signer: Holds the key whose public part is registered. PS256 or ES256.
        audience: Whom the assertion is addressed to: a rule, or texts of the bank's choice.
        lifetime_s: From `iat` to `exp`, at most 300 s.
    """

    signer: Signer | AsyncSigner
    audience: Audience | tuple[str, ...] = Audience.ISSUER
    lifetime_s: int = 60

    def __post_init__(self) -> None:
        require_fapi_signer(self.signer)
        if not 0 < self.lifetime_s <= MAX_ASSERTION_LIFETIME_S:
            raise ConfigError(f"lifetime_s must be between 1 and {MAX_ASSERTION_LIFETIME_S}")
        if not isinstance(self.audience, Audience) and not self.audience:
            raise ConfigError("audience must not be empty")

    @property
    def method(self) -> AuthMethod:
        return AuthMethod.PRIVATE_KEY_JWT

    def credentials(self, call: Call) -> Flow[dict[str, str]]:
        issued_s = int(call.now_s)
        # No nbf: a clock that runs ahead by a second would have the assertion refused.
        claims = {
            "iss": call.client_id,
            "sub": call.client_id,
            "aud": self._audience(call),
            "jti": fresh_text(call.entropy),
            "iat": issued_s,
            "exp": issued_s + self.lifetime_s,
        }
        assertion = yield from signed_jwt(claims, self.signer, header={"typ": "JWT"})
        return {
            "client_id": call.client_id,
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": assertion,
        }

    def _audience(self, call: Call) -> str | list[str]:
        match self.audience:
            case Audience.ISSUER:
                return call.server.issuer
            case Audience.TOKEN_ENDPOINT:
                return call.server.endpoint(Endpoint.TOKEN, mutual_tls=False)
            case Audience.ENDPOINT:
                return call.url
            case texts:
                return texts[0] if len(texts) == 1 else list(texts)


@dataclass(frozen=True, slots=True)
class TLSClientAuth:
    """The certificate of the TLS connection, by its subject or a SAN, as registered."""

    @property
    def method(self) -> AuthMethod:
        return AuthMethod.TLS_CLIENT_AUTH

    def credentials(self, call: Call) -> Flow[dict[str, str]]:
        yield from ()
        return {"client_id": call.client_id}


@dataclass(frozen=True, slots=True)
class SelfSignedTLSClientAuth:
    """The certificate of the TLS connection, by the JWKS (`x5c`) that is registered."""

    @property
    def method(self) -> AuthMethod:
        return AuthMethod.SELF_SIGNED_TLS_CLIENT_AUTH

    def credentials(self, call: Call) -> Flow[dict[str, str]]:
        yield from ()
        return {"client_id": call.client_id}
