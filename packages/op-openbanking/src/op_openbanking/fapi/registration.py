"""Dynamic client registration: plain JSON, or a signed request with a software statement.

| dialect     | body                        | content type     | managed with              |
|-------------|-----------------------------|------------------|---------------------------|
| RFC 7591    | JSON                        | application/json | registration access token |
| OBIE 3.2+   | JWT with software statement | application/jwt  | client-credentials token  |
| OBIE before | the same                    | application/jose | the same                  |
| CDR         | the same                    | application/jwt  | the same                  |

A bank may change values in its answer: what came back is what holds, and it is refused if it is
weaker than asked (another authentication, algorithm or redirect URI).

Source: RFC 7591, RFC 7592; OpenBanking UK Dynamic Client Registration 3.4; CDR 1.31 DCR; OpenID
Connect Dynamic Client Registration 1.0; RFC 8705 sections 2.1.2 and 3.4.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from op_openbanking.errors import ConfigError, TokenInvalid, quoted
from op_openbanking.flow import Clock, Entropy, Flow, Request, Response, fetch
from op_openbanking.jose.algorithms import FAPI_ALGORITHMS
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.strict_json import encode_object
from op_openbanking.signing.base import AsyncSigner, Signer

from .answers import Members, read, refused
from .metadata import Endpoint, ServerMetadata
from .profile import AnswerForm, AuthMethod, Profile, SenderConstraint
from .signed import signed_jwt
from .software_statement import SoftwareStatement

_SECTION: Final = "RFC 7591 3.2.1"
_CREATED: Final = 201
_GOOD: Final = 200
_GONE: Final = 204
_UUID_BYTES: Final = 16
_GRANTS: Final = ("authorization_code", "refresh_token", "client_credentials")
_IMPLICIT: Final = "implicit"
_ALGORITHM_MEMBERS: Final = (
    "id_token_signed_response_alg",
    "request_object_signing_alg",
    "token_endpoint_auth_signing_alg",
    "authorization_signed_response_alg",
)


class Dialect(StrEnum):
    """How a registration is sent."""

    JSON = "json"
    OBIE = "obie"
    OBIE_OLD = "obie-old"
    CDR = "cdr"

    @property
    def content_type(self) -> str:
        """Media type of the body."""
        match self:
            case Dialect.JSON:
                return "application/json"
            case Dialect.OBIE_OLD:
                return "application/jose"
            case _:
                return "application/jwt"


@dataclass(frozen=True, slots=True)
class Registration:
    """A client as the server knows it.

    Attributes:
        client_id: Its identifier.
        members: Everything that the server says it stored.
        management_uri: Where it is read, changed and deleted, or None.
        management_token: Token for that (RFC 7592), or None.
    """

    client_id: str
    members: Mapping[str, object] = field(repr=False)
    management_uri: str | None = None
    management_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """How a registration is signed, where the dialect asks for it.

    Attributes:
        signer: Signs it; its key is in the directory.
        statement: What the directory says about our software.
        audience: The bank's organisation id or issuer, as the bank asks.
        lifetime_s: From `iat` to `exp`.
    """

    signer: Signer | AsyncSigner
    statement: SoftwareStatement
    audience: str
    lifetime_s: int = 300


def client_metadata(
    profile: Profile,
    *,
    redirect_uris: tuple[str, ...],
    auth_method: AuthMethod,
    scope: str,
    algorithm: str = "PS256",
    jwks: JWKSet | None = None,
    jwks_uri: str | None = None,
    subject_dn: str | None = None,
    answers: frozenset[AnswerForm] | None = None,
    constraint: SenderConstraint = SenderConstraint.MTLS,
    extra: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Metadata of a client as a profile asks for it.

    Args:
        profile: The profile.
        redirect_uris: https, one for each server.
        auth_method: How the client will prove itself.
        scope: Scopes with blanks between.
        algorithm: PS256 or ES256, for every token.
        jwks: Our public keys; or None with `jwks_uri` or a directory.
        jwks_uri: Where they are published.
        subject_dn: RFC 4514 subject of the TLS certificate, for `tls_client_auth`.
        answers: Answer forms to register; by default those of the profile.
        constraint: How tokens will be bound.
        extra: Further members; they win.

    Raises:
        ConfigError: The profile does not allow it, or `jwks` and `jwks_uri` are both given.
    """
    if algorithm not in profile.algorithms or auth_method not in profile.auth_methods:
        raise ConfigError(f"{profile.title} does not allow {algorithm} with {auth_method.value}")
    if constraint not in profile.constraints:
        raise ConfigError(f"{profile.title} does not allow tokens bound by {constraint.value}")
    if jwks is not None and jwks_uri is not None:
        raise ConfigError("jwks and jwks_uri exclude each other [RFC 7591 2]")
    forms = profile.answers if answers is None else answers & profile.answers
    members: dict[str, object] = {
        "redirect_uris": list(redirect_uris),
        "token_endpoint_auth_method": auth_method.value,
        "grant_types": list(_GRANTS),
        "response_types": sorted({form.response_type for form in forms}),
        "application_type": "web",
        "scope": scope,
        "id_token_signed_response_alg": algorithm,
        "request_object_signing_alg": algorithm,
    }
    if forms != {AnswerForm.HYBRID}:
        # Servers take RS256 for granted where this is not said.
        members["authorization_signed_response_alg"] = algorithm
    if AnswerForm.HYBRID in forms:
        # OpenID Connect Registration 2 couples `id_token` in response_types with this grant.
        members["grant_types"] = [*_GRANTS, _IMPLICIT]
    if auth_method is AuthMethod.PRIVATE_KEY_JWT:
        members["token_endpoint_auth_signing_alg"] = algorithm
    bound = "tls_client_certificate" if constraint is SenderConstraint.MTLS else "dpop"
    members[f"{bound}_bound_access_tokens"] = True
    optional = {
        "tls_client_auth_subject_dn": subject_dn,
        "jwks": None if jwks is None else jwks.to_members(),
        "jwks_uri": jwks_uri,
    }
    members.update({name: value for name, value in optional.items() if value is not None})
    return {**members, **(extra or {})}


def register(
    server: ServerMetadata,
    metadata: Mapping[str, object],
    *,
    clock: Clock,
    entropy: Entropy,
    dialect: Dialect = Dialect.JSON,
    signing: SignedRequest | None = None,
    initial_access_token: str | None = None,
    client_certificate: str | None = None,
) -> Flow[Registration]:
    """Register a client.

    Args:
        server: Where.
        metadata: For example from `client_metadata`.
        clock: Seconds since 1970.
        entropy: For `jti`.
        dialect: How the request is sent.
        signing: Signer and software statement; needed by all dialects but JSON.
        initial_access_token: Token for the registration endpoint, where it asks for one.
        client_certificate: x5t#S256 of the TLS certificate to present; OBIE and CDR ask for one.

    Raises:
        ConfigError: The dialect needs `signing`, or the statement does not vouch for a redirect
            URI.
        BankError: The server refuses; `code` is for example `invalid_software_statement`.
        TokenInvalid: Its answer is weaker than what was asked; `check` is `registration-...`.
    """
    body = yield from _body(metadata, dialect, signing, clock, entropy)
    response = yield from fetch(
        _request(
            "POST",
            server.endpoint(Endpoint.REGISTRATION, mutual_tls=client_certificate is not None),
            body=body,
            content_type=dialect.content_type,
            token=initial_access_token,
            client_certificate=client_certificate,
        )
    )
    return _registered(response, metadata, status=_CREATED)


def read_registration(
    uri: str, *, token: str, client_certificate: str | None = None
) -> Flow[Registration]:
    """Read a registration.

    Args:
        uri: `management_uri`, or the registration endpoint followed by `/` and the client id.
        token: `management_token`, or a client-credentials access token.
        client_certificate: See `register`.

    Raises:
        BankError: The server refuses.
    """
    request = _request("GET", uri, token=token, client_certificate=client_certificate)
    return _registered((yield from fetch(request)), {}, status=_GOOD)


def update_registration(
    uri: str,
    metadata: Mapping[str, object],
    *,
    token: str,
    clock: Clock,
    entropy: Entropy,
    dialect: Dialect = Dialect.JSON,
    signing: SignedRequest | None = None,
    client_certificate: str | None = None,
) -> Flow[Registration]:
    """Replace a registration; `metadata` must repeat everything that is to stay.

    Args:
        uri: See `read_registration`.
        metadata: Complete, with `client_id`.
        token: See `read_registration`.
        clock: Seconds since 1970.
        entropy: For `jti`.
        dialect: See `register`.
        signing: See `register`.
        client_certificate: See `register`.

    Raises:
        BankError: The server refuses.
        TokenInvalid: See `register`.
    """
    body = yield from _body(metadata, dialect, signing, clock, entropy)
    request = _request(
        "PUT",
        uri,
        body=body,
        content_type=dialect.content_type,
        token=token,
        client_certificate=client_certificate,
    )
    return _registered((yield from fetch(request)), metadata, status=_GOOD)


def delete_registration(
    uri: str, *, token: str, client_certificate: str | None = None
) -> Flow[None]:
    """Delete a registration.

    Raises:
        BankError: The server refuses.
    """
    request = _request("DELETE", uri, token=token, client_certificate=client_certificate)
    response = yield from fetch(request)
    if response.status != _GONE:
        refused(response, what="the deletion")


def _body(
    metadata: Mapping[str, object],
    dialect: Dialect,
    signing: SignedRequest | None,
    clock: Clock,
    entropy: Entropy,
) -> Flow[bytes]:
    if dialect is Dialect.JSON:
        statement = {} if signing is None else {"software_statement": signing.statement.token}
        return encode_object({**metadata, **statement})
    if signing is None:
        raise ConfigError(f"dialect {dialect.value} needs a signer and a software statement")
    wanted = metadata.get("redirect_uris")
    for uri in wanted if isinstance(wanted, list) else []:
        if uri not in signing.statement.redirect_uris:
            raise ConfigError(f"the software statement does not vouch for {quoted(uri)}")
    issued_s = int(clock())
    identifier = str(uuid.UUID(bytes=entropy(_UUID_BYTES), version=4))
    claims = {
        **metadata,
        "iss": signing.statement.software_id,
        "aud": signing.audience,
        "iat": issued_s,
        "exp": issued_s + signing.lifetime_s,
        "jti": identifier,
        "software_statement": signing.statement.token,
    }
    grants = metadata.get("grant_types")
    if isinstance(grants, list):
        # The directories' schemas have no such grant, and mean the same by response_types.
        claims["grant_types"] = [grant for grant in grants if grant != _IMPLICIT]
    if dialect is not Dialect.CDR:
        claims.setdefault("software_id", signing.statement.software_id)
    token = yield from signed_jwt(claims, signing.signer, header={"typ": "JWT"})
    return token.encode("ascii")


def _request(
    method: str,
    uri: str,
    *,
    token: str | None,
    client_certificate: str | None,
    body: bytes = b"",
    content_type: str = "",
) -> Request:
    headers = [("accept", "application/json")]
    if content_type:
        headers.append(("content-type", content_type))
    if token is not None:
        headers.append(("authorization", f"Bearer {token}"))
    return Request(
        method,
        uri,
        headers=tuple(headers),
        body=body,
        client_certificate=client_certificate,
        max_response_bytes=256 * 1024,
    )


def _registered(response: Response, asked: Mapping[str, object], *, status: int) -> Registration:
    members = read(response, what="the registration", section=_SECTION, status=status)
    _refuse_weaker(members, asked)
    values = {name: value for name, value in members.values.items() if name not in _SECRETS}
    return Registration(
        client_id=members.text("client_id"),
        members=values,
        management_uri=members.optional_text("registration_client_uri"),
        management_token=members.optional_text("registration_access_token"),
    )


def _refuse_weaker(members: Members, asked: Mapping[str, object]) -> None:
    for name in _ALGORITHM_MEMBERS:
        stated = members.optional_text(name)
        if name in asked and stated is not None and stated not in FAPI_ALGORITHMS:
            raise _weaker(name, stated)
    method = members.optional_text("token_endpoint_auth_method")
    if method is not None and method not in set(AuthMethod):
        raise _weaker("token_endpoint_auth_method", method)
    wanted = asked.get("redirect_uris")
    if isinstance(wanted, list) and not set(members.texts("redirect_uris")) <= set(wanted):
        raise _weaker("redirect_uris", "one that was not asked for")
    for name in ("tls_client_certificate_bound_access_tokens", "dpop_bound_access_tokens"):
        if asked.get(name) is True and members.values.get(name, True) is not True:
            raise _weaker(name, "false")


def _weaker(name: str, stated: str) -> TokenInvalid:
    return TokenInvalid(
        f"the server registered {name} as {quoted(stated)}, which is weaker than asked",
        check=f"registration-{name}",
        section="RFC 7591 3.2.1, FAPI1-ADV 8.6",
    )


_SECRETS: Final = frozenset({"client_secret", "registration_access_token"})
