"""Access tokens: exchanged, refreshed, or for the client itself.

A `TokenSet` exists only where one of these flows made it, after its type, scope, id_token and
binding were checked. It keeps what it is bound to, so that token and certificate stay paired when
the certificate is renewed.

Source: RFC 6749 sections 4.1.3, 4.4, 5.1 and 6; RFC 8705 section 3; RFC 9449 section 5; FAPI 1.0
Baseline 5.2.3-10 (scope); FAPI 1.0 Advanced 5.2.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Final

import msgspec

from op_openbanking.errors import ConfigError, TokenInvalid, quoted
from op_openbanking.flow import Flow, Request, Response, fetch, form
from op_openbanking.jose.jwt import Claims

from .answers import Members, read
from .authorization import AuthorizationResponse
from .binding import Evidence, check_confirmation, claims_inside
from .client import CertificateBinding, Client
from .dpop import DPoPKey, with_proof
from .id_token import IDToken, verify_back_channel, verify_refreshed
from .metadata import Endpoint
from .profile import Clause
from .token_status import introspect

_SEAL: Final = object()
_SECTION: Final = "RFC 6749 5.1"
_GOOD: Final = 200
_MAX_TOKEN_CHARS: Final = 32 * 1024


@dataclass(frozen=True, slots=True, repr=False)
class TokenSet:
    """Tokens that were checked; made by the flows of this module alone.

    Attributes:
        access_token: The token; never in a repr.
        refresh_token: For the next one, or None.
        scope: What was granted.
        expires_at_s: When the access token ends, in seconds since 1970; None if the server does
            not say.
        issuer: Who issued it.
        client_id: To whom.
        bound_to: Thumbprint of the certificate (x5t#S256) or DPoP key (jkt) it is bound to.
        evidence: How we know.
        id_token: The id_token that came along, or the one before it.
        extra: Further members of the answer, for example `cdr_arrangement_id`.
    """

    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    scope: str
    expires_at_s: float | None
    issuer: str
    client_id: str
    bound_to: str
    evidence: Evidence
    id_token: IDToken | None = None
    extra: Mapping[str, object] = field(default_factory=dict, repr=False)
    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise ConfigError("a TokenSet comes from the flows of fapi.tokens alone")

    def __repr__(self) -> str:
        return (
            f"TokenSet(scope={self.scope!r}, expires_at_s={self.expires_at_s!r}, "
            f"issuer={self.issuer!r}, bound_to={self.bound_to!r}, "
            f"evidence={self.evidence.value!r}, refreshable={self.refresh_token is not None})"
        )

    def to_bytes(self) -> bytes:
        """JSON for a protected store; it holds the tokens themselves."""
        members = {name: getattr(self, name) for name in _STORED}
        claims = dict(self.id_token.claims.members) if self.id_token else None
        return msgspec.json.encode({**members, "id_token": claims, "extra": dict(self.extra)})

    @classmethod
    def from_bytes(cls, octets: bytes) -> TokenSet:
        """Read what `to_bytes` wrote. The store must be as trusted as the process itself.

        Raises:
            ConfigError: Something else.
        """
        try:
            stored = msgspec.json.decode(octets, type=_Stored)
        except msgspec.MsgspecError as error:
            raise ConfigError("the stored tokens are not readable") from error
        members = {name: getattr(stored, name) for name in _STORED}
        claims = stored.id_token
        subject = claims.get("sub") if claims else None
        id_token = IDToken(subject, Claims(claims)) if claims and isinstance(subject, str) else None
        return cls(**members, id_token=id_token, extra=stored.extra, seal=_SEAL)


class _Stored(msgspec.Struct, frozen=True):
    access_token: str
    refresh_token: str | None
    scope: str
    expires_at_s: float | None
    issuer: str
    client_id: str
    bound_to: str
    evidence: Evidence
    id_token: dict[str, object] | None
    extra: dict[str, object]


_STORED: Final = (
    "access_token", "refresh_token", "scope", "expires_at_s", "issuer", "client_id", "bound_to",
    "evidence",
)  # fmt: skip


def exchange(
    client: Client,
    answer: AuthorizationResponse,
    *,
    parameters: Mapping[str, str] | None = None,
) -> Flow[TokenSet]:
    """Exchange the code of a verified answer for tokens.

    Args:
        client: The client that began.
        answer: From `authorization.finish`.
        parameters: Further fields, for example `resource`.

    Raises:
        SecurityError: A check of the id_token, scope, type or binding does not hold.
        ConsentRequired: The code is spent or too old.
        BankError: The server refuses.
        ProtocolViolation: Its answer is not one of RFC 6749 5.1.
    """
    pending = answer.request
    if pending.issuer != client.server.issuer or pending.client_id != client.client_id:
        raise ConfigError("the answer belongs to another client")
    fields = {
        "grant_type": "authorization_code",
        "code": answer.code,
        "redirect_uri": pending.redirect_uri,
        "code_verifier": pending.verifier,
    }
    members = yield from _ask(client, fields, parameters)
    access_token = _access_token(client, members)
    id_token = answer.id_token
    stated = members.optional_text("id_token")
    if stated is not None:
        id_token = yield from verify_back_channel(
            client, pending, token=stated, access_token=access_token, front=answer.id_token
        )
    elif "openid" in pending.scope.split() or pending.acr_values or pending.expected_claims:
        raise TokenInvalid(
            "openid or a claim of the id_token was asked for and there is no id_token",
            check="id-token-missing",
            section="OpenID Connect Core 3.1.3.3",
        )
    return (
        yield from _token_set(
            client, members, asked=pending.scope, access_token=access_token, id_token=id_token
        )
    )


def refresh(client: Client, tokens: TokenSet, *, scope: str | None = None) -> Flow[TokenSet]:
    """Exchange a refresh token for fresh tokens.

    A server may rotate the refresh token: store the result before the former one is discarded.

    Args:
        client: The client.
        tokens: With a refresh token.
        scope: A part of the scope granted, or None for all of it.

    Raises:
        ConfigError: There is no refresh token.
        ConsentRequired: It is spent, revoked or too old.
        SecurityError: See `exchange`.
    """
    _require_own(client, tokens)
    if tokens.refresh_token is None:
        raise ConfigError("there is no refresh token")
    fields = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token}
    if scope is not None:
        fields["scope"] = scope
    members = yield from _ask(client, fields, None)
    access_token = _access_token(client, members)
    id_token = tokens.id_token
    stated = members.optional_text("id_token")
    if stated is not None:
        id_token = yield from verify_refreshed(
            client, token=stated, access_token=access_token, former=tokens.id_token
        )
    return (
        yield from _token_set(
            client,
            members,
            asked=scope or tokens.scope,
            access_token=access_token,
            id_token=id_token,
            refresh_token=tokens.refresh_token,
        )
    )


def client_credentials(
    client: Client, *, scope: str, parameters: Mapping[str, str] | None = None
) -> Flow[TokenSet]:
    """Get a token for the client itself, as consents need.

    Args:
        client: The client.
        scope: Scopes with blanks between.
        parameters: Further fields, for example `resource`.

    Raises:
        SecurityError: Scope, type or binding does not hold.
        BankError: The server refuses.
    """
    fields = {"grant_type": "client_credentials", "scope": scope}
    members = yield from _ask(client, fields, parameters)
    return (
        yield from _token_set(
            client,
            members,
            asked=scope,
            access_token=_access_token(client, members),
            id_token=None,
        )
    )


def _ask(
    client: Client, fields: Mapping[str, str], parameters: Mapping[str, str] | None
) -> Flow[Members]:
    url = client.endpoint(Endpoint.TOKEN)
    clash = sorted({*fields, "client_id", "client_assertion"}.intersection(parameters or {}))
    if clash:
        raise ConfigError(f"parameter {clash[0]} is set by this flow")

    def make() -> Flow[Request]:
        credentials = yield from client.credentials(url)
        return form(
            url,
            {**fields, **(parameters or {}), **credentials},
            client_certificate=client.client_certificate,
        )

    response: Response
    if isinstance(client.binding, DPoPKey):
        response = yield from with_proof(
            client.binding, make, clock=client.clock, entropy=client.entropy
        )
    else:
        response = yield from fetch((yield from make()))
    return read(response, what="the token answer", section=_SECTION, status=_GOOD)


def _access_token(client: Client, members: Members) -> str:
    access_token = members.text("access_token")
    if len(access_token) > _MAX_TOKEN_CHARS or not access_token.isascii() or " " in access_token:
        raise members.violation("access_token", "is not a token")
    if not access_token.isprintable():
        raise members.violation("access_token", "is not a token")
    wanted = "bearer" if isinstance(client.binding, CertificateBinding) else "dpop"
    if members.text("token_type").lower() != wanted:
        raise TokenInvalid(
            f"token_type is {quoted(members.text('token_type'))}, not {wanted}",
            check="token-type",
            section=client.profile.section(Clause.SENDER_CONSTRAINT),
        )
    return access_token


def _refresh_token(members: Members) -> str | None:
    token = members.optional_text("refresh_token")
    if token is not None and not (
        len(token) <= _MAX_TOKEN_CHARS and token.isascii() and token.isprintable()
    ):
        raise members.violation("refresh_token", "is not a token")
    return token


def _token_set(
    client: Client,
    members: Members,
    *,
    asked: str,
    access_token: str,
    id_token: IDToken | None,
    refresh_token: str | None = None,
) -> Flow[TokenSet]:
    granted = members.optional_text("scope")
    wider = sorted(set((granted or "").split()) - set(asked.split()))
    if wider:
        raise TokenInvalid(
            f"scope {quoted(wider[0])} was granted and not asked for",
            check="scope",
            section="FAPI1-BASE 5.2.3-10",
        )
    expires_in_s = members.optional_number("expires_in")
    evidence = yield from _evidence(client, access_token)
    return TokenSet(
        access_token=access_token,
        refresh_token=_refresh_token(members) or refresh_token,
        scope=asked if granted is None else granted,
        expires_at_s=None if expires_in_s is None else client.clock() + expires_in_s,
        issuer=client.server.issuer,
        client_id=client.client_id,
        bound_to=client.binding.thumbprint,
        evidence=evidence,
        id_token=id_token,
        extra={name: value for name, value in members.values.items() if name not in _KNOWN},
        seal=_SEAL,
    )


def _evidence(client: Client, access_token: str) -> Flow[Evidence]:
    section = client.profile.section(Clause.SENDER_CONSTRAINT)
    claims = claims_inside(access_token, section=section)
    if claims is not None:
        check_confirmation(claims, client.binding, section=section)
        return Evidence.TOKEN
    if client.introspects_opaque and client.server.has(Endpoint.INTROSPECTION):
        status = yield from introspect(client, access_token)
        if not status.active:
            raise TokenInvalid(
                "the server calls its own token inactive", check="inactive", section="RFC 7662 2.2"
            )
        check_confirmation(status.members, client.binding, section=section)
        return Evidence.INTROSPECTION
    # `Client` made sure that one of the two holds.
    dpop = isinstance(client.binding, DPoPKey)
    return Evidence.TYPE if dpop else Evidence.METADATA


def _require_own(client: Client, tokens: TokenSet) -> None:
    if tokens.issuer != client.server.issuer or tokens.client_id != client.client_id:
        raise ConfigError("the tokens belong to another client")


_KNOWN: Final = frozenset(
    {"access_token", "expires_in", "id_token", "refresh_token", "scope", "token_type"}
)
