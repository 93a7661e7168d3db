"""Authorization answers as one signed JWT.

Source: JWT Secured Authorization Response Mode (JARM) sections 2.1 and 2.4; FAPI 1.0 Advanced
section 5.2.3.2.
"""

from __future__ import annotations

from typing import Final

from op_openbanking.errors import SignatureInvalid, StateMismatch, TokenInvalid
from op_openbanking.flow import Flow
from op_openbanking.jose.jws import peek
from op_openbanking.jose.jwt import ClaimRules, Claims, parse_claims, verify_jwt

from .client import Client
from .id_token import same
from .pending import PendingAuthorization

MAX_LIFETIME_S: Final = 3600
"""Ours; JARM 2.1 recommends ten minutes at most."""
_SECTION: Final = "JARM 2.4, FAPI1-ADV 5.2.3.2"


def state_of(client: Client, token: str) -> str | None:
    """The state inside an answer that is not verified: only to find the pending request.

    Raises:
        SignatureInvalid: The answer is no JWT.
        ConfigError: It is encrypted and no key is configured.
    """
    _, payload = peek(client.opened(token))
    try:
        return parse_claims(payload).optional_text("state")
    except TokenInvalid as error:
        raise SignatureInvalid(
            "the answer is no JWT", check="jws-form", section=_SECTION
        ) from error


def verify_answer(client: Client, pending: PendingAuthorization, token: str) -> Flow[Claims]:
    """Verify an answer: signature, alg, iss, aud, exp, state.

    Raises:
        SecurityError: Its check is `jws-...`, `jwks-...`, `claim-...` or `state`.
    """
    signed = client.opened(token)
    keys = yield from client.trusted_keys(signed)
    rules = ClaimRules(
        issuer=client.server.issuer,
        audience=client.client_id,
        max_lifetime_s=MAX_LIFETIME_S,
        leeway_s=client.leeway_s,
        section=_SECTION,
    )
    verified = verify_jwt(
        signed, keys, rules=rules, now_s=client.clock(), algorithms=client.accepted_algs
    )
    if not same(verified.claims.text("state"), pending.state):
        raise StateMismatch(
            "the answer belongs to another request", check="state", section=_SECTION
        )
    return verified.claims
