"""Signed request objects.

Bounds hold at construction: `exp` is at most 60 minutes after `nbf`, `nbf` lies a few seconds back
(a server whose clock is behind must not see the future) and `aud` is the issuer alone.

Source: RFC 9101; OpenID Connect Core 6.1; FAPI 1.0 Advanced section 5.2.3, clauses 8 to 14.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from op_openbanking.errors import ConfigError
from op_openbanking.flow import Flow
from op_openbanking.signing.base import AsyncSigner, Signer

from .profile import MAX_REQUEST_OBJECT_LIFETIME_S
from .signed import signed_jwt

DEFAULT_LIFETIME_S: Final = 300
NOT_BEFORE_SLACK_S: Final = 10
"""How far back `nbf` lies, for clocks that are behind ours."""
_RESERVED = frozenset({"request", "request_uri", "iss", "aud", "exp", "nbf", "iat", "jti"})
_TYPE: Final = "oauth-authz-req+jwt"


def request_object_claims(
    parameters: Mapping[str, object],
    *,
    client_id: str,
    issuer: str,
    jti: str,
    now_s: float,
    lifetime_s: int = DEFAULT_LIFETIME_S,
) -> dict[str, object]:
    """The claims of a request object.

    Args:
        parameters: Every parameter of the authorization request; `claims` as an object.
        client_id: Who asks.
        issuer: Whom.
        jti: Unique text.
        now_s: Seconds since 1970.
        lifetime_s: From now to `exp`.

    Raises:
        ConfigError: `exp` would lie more than 60 minutes after `nbf` or before now, or a parameter
            has the name of a claim that is set here.
    """
    if not 0 < lifetime_s <= MAX_REQUEST_OBJECT_LIFETIME_S - NOT_BEFORE_SLACK_S:
        raise ConfigError(
            "a request object lives at most 60 minutes from nbf to exp [FAPI1-ADV 5.2.2-13]"
        )
    taken = _RESERVED.intersection(parameters)
    if taken:
        raise ConfigError(f"parameter {min(taken)} is set by the request object itself")
    issued_s = int(now_s)
    return {
        **parameters,
        "iss": client_id,
        "aud": issuer,
        "client_id": client_id,
        "iat": issued_s,
        "nbf": issued_s - NOT_BEFORE_SLACK_S,
        "exp": issued_s + lifetime_s,
        "jti": jti,
    }


def sign_request_object(claims: Mapping[str, object], signer: Signer | AsyncSigner) -> Flow[str]:
    """Sign the claims of `request_object_claims`.

    Raises:
        ConfigError: The signer uses neither PS256 nor ES256.
    """
    return (yield from signed_jwt(claims, signer, header={"typ": _TYPE}))
