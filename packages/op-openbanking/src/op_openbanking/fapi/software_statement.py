"""Software statements: what a directory says about our software, read before it is sent.

A statement is signed by the directory for the bank, which verifies it. We read it to catch, before
the bank does, a redirect URI or role that it does not vouch for; with the directory's keys in hand
`verify_statement` verifies it too.

Source: RFC 7591 section 2.3; OpenBanking UK Dynamic Client Registration 3.4; CDR Register 1.31.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from op_openbanking.errors import ConfigError, OpenBankingError
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.jws import peek
from op_openbanking.jose.jwt import ClaimRules, Claims, parse_claims, verify_jwt

_SECTION: Final = "RFC 7591 2.3"
MAX_AGE_S: Final = 366 * 86_400
"""Ours: a statement older than a year is asked for anew."""


@dataclass(frozen=True, slots=True)
class SoftwareStatement:
    """A statement and what it says.

    Attributes:
        token: The JWT itself.
        software_id: Identifier of the software; `iss` of the registration.
        redirect_uris: What it vouches for.
        roles: For example AISP and PISP, or `data-recipient-software-product`.
        claims: Everything it says.
    """

    token: str = field(repr=False)
    software_id: str
    redirect_uris: tuple[str, ...]
    roles: tuple[str, ...]
    claims: Claims = field(repr=False)

    @classmethod
    def parse(cls, token: str) -> SoftwareStatement:
        """Read a statement without verifying it.

        Raises:
            ConfigError: It is no JWT with `software_id` and redirect URIs.
        """
        try:
            _, payload = peek(token)
            return _statement(token, parse_claims(payload, section=_SECTION))
        except ConfigError:
            raise
        except OpenBankingError as error:
            raise ConfigError(f"the software statement is not readable: {error}") from error


def verify_statement(
    token: str, keys: JWKSet, *, issuer: str, now_s: float, leeway_s: int = 10
) -> SoftwareStatement:
    """Verify a statement with the directory's keys.

    Args:
        token: The statement.
        keys: Keys of the directory.
        issuer: `OpenBanking Ltd`, `cdr-register`.
        now_s: Seconds since 1970.
        leeway_s: Clock skew granted.

    Raises:
        SecurityError: Signature, issuer or age.
        ConfigError: See `SoftwareStatement.parse`.
    """
    rules = ClaimRules(
        issuer=issuer,
        audience=None,
        max_age_s=MAX_AGE_S,
        requires_expiry=False,
        leeway_s=leeway_s,
        section=_SECTION,
    )
    verified = verify_jwt(token, keys, rules=rules, now_s=now_s)
    return _statement(token, verified.claims)


def _statement(token: str, claims: Claims) -> SoftwareStatement:
    software_id = claims.get("software_id")
    redirects = claims.get("software_redirect_uris") or claims.get("redirect_uris")
    roles = claims.get("software_roles")
    listed = [roles] if isinstance(roles, str) else [] if roles is None else roles
    if (
        not isinstance(software_id, str)
        or not isinstance(redirects, list)
        or not isinstance(listed, list)
        or not all(isinstance(each, str) for each in (*redirects, *listed))
    ):
        raise ConfigError("the software statement lacks software_id, redirect URIs or roles")
    return SoftwareStatement(token, software_id, tuple(redirects), tuple(listed), claims)
