"""Whether an access token is bound to us, checked here before it is used.

A token in JWT form says so itself; an opaque one is introspected. The claims of a JWT token are
read without verifying its signature: it is written for the resource server, and for us it only has
to agree with what we hold.

Source: RFC 8705 sections 3.1 and 3.2; RFC 9449 section 6; FAPI 1.0 Advanced 5.2.3-1.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from op_openbanking.errors import ProtocolViolation, TokenInvalid
from op_openbanking.jose import base64url
from op_openbanking.jose.jwt import parse_claims
from op_openbanking.jose.strict_json import parse_object

from .client import Binding, CertificateBinding
from .id_token import same

_JWT_DOTS: Final = 2
_MAX_HEADER_BYTES: Final = 16 * 1024


class Evidence(StrEnum):
    """How we know that a token is bound.

    TOKEN: its own claim `cnf`. INTROSPECTION: the server's answer about it. METADATA: the server
    says that it binds every token. TYPE: the server issued it as a DPoP token.
    """

    TOKEN = "token"  # noqa: S105 (a name)
    INTROSPECTION = "introspection"
    METADATA = "metadata"
    TYPE = "type"


def claims_inside(access_token: str, *, section: str) -> Mapping[str, object] | None:
    """The claims of a token in JWT form, unverified; None if it is opaque to us.

    It is a JWT if the first of its three parts is a JSON object with `alg`. The other members of
    this header are the resource server's business.

    Args:
        access_token: The token.
        section: Names the rule in a refusal.

    Raises:
        TokenInvalid: It is a JWT and its claims are not readable, so that its binding cannot be
            judged; its check is `cnf`.
    """
    if access_token.count(".") != _JWT_DOTS or not access_token.isascii():
        return None
    head, payload, _ = access_token.encode("ascii").split(b".")
    try:
        octets = base64url.decode(head, "the header")
        header = parse_object(octets, what="the header", limit_bytes=_MAX_HEADER_BYTES)
    except ProtocolViolation:
        return None
    if "alg" not in header:
        return None
    try:
        return parse_claims(base64url.decode(payload, "the payload")).members
    except (ProtocolViolation, TokenInvalid) as error:
        raise TokenInvalid(
            "the claims of the access token are not readable, so nothing says that it is bound",
            check="cnf",
            section=section,
        ) from error


def check_confirmation(claims: Mapping[str, object], binding: Binding, *, section: str) -> None:
    """Check the confirmation claim of a token.

    Args:
        claims: Claims of the token or of its introspection.
        binding: What it must be bound to.
        section: Names the rule in a refusal.

    Raises:
        TokenInvalid: Its check is `cnf` (missing or of another kind) or `cnf-mismatch`.
    """
    certificate = isinstance(binding, CertificateBinding)
    name = "x5t#S256" if certificate else "jkt"
    confirmation = claims.get("cnf")
    stated = confirmation.get(name) if isinstance(confirmation, Mapping) else None
    if not isinstance(stated, str):
        raise TokenInvalid(
            f"the access token is not bound: it has no cnf.{name}", check="cnf", section=section
        )
    if not same(stated, binding.thumbprint):
        raise TokenInvalid(
            f"the access token is bound to another {'certificate' if certificate else 'key'}",
            check="cnf-mismatch",
            section=section,
        )
