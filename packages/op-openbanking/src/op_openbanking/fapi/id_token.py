"""id_tokens: as detached signature over an answer, and from the token endpoint.

Source: OpenID Connect Core 3.1.3.7, 3.3.2.11 and 3.3.2.12; FAPI 1.0 Advanced section 5.2.3.1.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import Final

from op_openbanking.errors import TokenInvalid, quoted
from op_openbanking.flow import Flow
from op_openbanking.jose.hashes import half_hash
from op_openbanking.jose.jwt import JWT, ClaimRules, Claims, verify_jwt

from .client import Client
from .pending import PendingAuthorization
from .profile import Clause

MAX_AGE_S: Final = 600
"""Ours: a fresh id_token is at most ten minutes old."""
_NONCE_SECTION: Final = "OpenID Connect Core 3.1.3.7-11 (nonce)"


@dataclass(frozen=True, slots=True)
class IDToken:
    """A verified id_token.

    Attributes:
        subject: Who authorized; at some banks the id of the consent.
        claims: Every claim.
    """

    subject: str
    claims: Claims = field(repr=False)


def verify_front_channel(
    client: Client, pending: PendingAuthorization, *, token: str, code: str
) -> Flow[IDToken]:
    """Verify an id_token as detached signature over state and code.

    Raises:
        SecurityError: Its check is `jws-...`, `claim-...` or `jwks-...`.
    """
    section = client.profile.section(Clause.ID_TOKEN)
    required = ("sub", "iat", "nonce", "s_hash", "c_hash")
    verified = yield from _verify(client, token, required=required, max_age_s=MAX_AGE_S)
    claims = verified.claims
    alg = str(verified.header["alg"])
    _require_nonce(claims, pending)
    for name, value in (("s_hash", pending.state), ("c_hash", code)):
        if not value.isascii() or not same(claims.text(name), half_hash(value, alg=alg)):
            raise TokenInvalid(
                f"{name} is not the hash of the {'state' if name == 's_hash' else 'code'}",
                check=f"claim-{name}",
                section="FAPI1-ADV 5.2.3.1-4" if name == "s_hash" else section,
            )
    _require_expected(claims, pending)
    return IDToken(claims.text("sub"), claims)


def verify_back_channel(
    client: Client,
    pending: PendingAuthorization,
    *,
    token: str,
    access_token: str,
    front: IDToken | None,
) -> Flow[IDToken]:
    """Verify the id_token that came with an access token after an authorization.

    Raises:
        SecurityError: Its check is `jws-...`, `claim-...` or `jwks-...`.
    """
    verified = yield from _verify(
        client, token, required=("sub", "iat", "nonce"), max_age_s=MAX_AGE_S
    )
    claims = verified.claims
    _require_nonce(claims, pending)
    _require_at_hash(verified, access_token)
    if front is not None and claims.text("sub") != front.subject:
        raise TokenInvalid(
            "sub differs from the id_token of the authorization answer",
            check="claim-sub",
            section="OpenID Connect Core 3.3.3.6",
        )
    _require_expected(claims, pending)
    return IDToken(claims.text("sub"), claims)


def verify_refreshed(
    client: Client, *, token: str, access_token: str, former: IDToken | None
) -> Flow[IDToken]:
    """Verify the id_token that came with a refreshed access token.

    Raises:
        SecurityError: Its check is `jws-...`, `claim-...` or `jwks-...`.
    """
    verified = yield from _verify(client, token, required=("sub", "iat"), max_age_s=MAX_AGE_S)
    claims = verified.claims
    _require_at_hash(verified, access_token)
    if former is not None and claims.text("sub") != former.subject:
        raise TokenInvalid(
            "sub differs from the former id_token",
            check="claim-sub",
            section="OpenID Connect Core 12.2",
        )
    return IDToken(claims.text("sub"), claims)


def same(one: str, other: str) -> bool:
    """Whether two texts are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(
        one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    )


def _verify(
    client: Client, token: str, *, required: tuple[str, ...], max_age_s: int | None = None
) -> Flow[JWT]:
    signed = client.opened(token)
    keys = yield from client.trusted_keys(signed)
    rules = ClaimRules(
        issuer=client.server.issuer,
        audience=client.client_id,
        max_age_s=max_age_s,
        required=required,
        leeway_s=client.leeway_s,
        section=client.profile.section(Clause.ID_TOKEN),
    )
    verified = verify_jwt(
        signed, keys, rules=rules, now_s=client.clock(), algorithms=client.accepted_algs
    )
    party = verified.claims.optional_text("azp")
    if party is None and len(verified.claims.audience()) > 1:
        raise TokenInvalid(
            "several audiences and no azp",
            check="claim-azp",
            section="OpenID Connect Core 3.1.3.7-4",
        )
    if party is not None and party != client.client_id:
        raise TokenInvalid(
            f"azp is {quoted(party)}", check="claim-azp", section="OpenID Connect Core 3.1.3.7-5"
        )
    return verified


def _require_nonce(claims: Claims, pending: PendingAuthorization) -> None:
    if not same(claims.text("nonce"), pending.nonce):
        raise TokenInvalid(
            "nonce is not the one that was sent", check="claim-nonce", section=_NONCE_SECTION
        )


def _require_at_hash(verified: JWT, access_token: str) -> None:
    stated = verified.claims.optional_text("at_hash")
    alg = str(verified.header["alg"])
    if stated is not None and not same(stated, half_hash(access_token, alg=alg)):
        raise TokenInvalid(
            "at_hash is not the hash of the access token",
            check="claim-at_hash",
            section="OpenID Connect Core 3.1.3.8",
        )


def _require_expected(claims: Claims, pending: PendingAuthorization) -> None:
    if pending.acr_values and claims.optional_text("acr") not in pending.acr_values:
        raise TokenInvalid(
            f"acr is {quoted(claims.get('acr'))}, asked was {' or '.join(pending.acr_values)}",
            check="claim-acr",
            section="FAPI1-ADV 5.2.3-3 (level of assurance)",
        )
    for name, value in pending.expected_claims.items():
        if not same(claims.text(name), value):
            raise TokenInvalid(
                f"claim {quoted(name)} is not the one expected",
                check=f"claim-{name}",
                section="OpenID Connect Core 5.5.1 (requested value)",
            )
