"""JSON Web Tokens: claims signed, and claims checked with bounds.

The clock is handed in as `now_s`, seconds since 1970 (NumericDate). Claims are read through typed
accessors, so that a number where text belongs is `TokenInvalid` and never a TypeError.

Source: RFC 7519 section 4; RFC 8725 section 3; FAPI 1.0 Advanced sections 5.2.2 and 5.2.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from op_openbanking.errors import ConfigError, ProtocolViolation, TokenInvalid, quoted
from op_openbanking.signing.base import AsyncSigner, Signer

from .algorithms import FAPI_ALGORITHMS
from .jwk import JWK, JWKSet
from .jws import asign_compact, sign_compact, verify_compact
from .strict_json import encode_object, parse_object

MAX_LEEWAY_S: Final = 300
"""Ours: the widest clock skew that may be configured."""
DEFAULT_LEEWAY_S: Final = 10
_MAX_CLAIMS_BYTES = 96 * 1024
_MAX_NUMERIC_DATE = 1 << 40


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """What the claims of one kind of token must say.

    Attributes:
        issuer: The one accepted `iss`, or None where the kind of token has none to compare.
        audience: A value that `aud` must contain, or None likewise.
        max_lifetime_s: Longest time from `iat` (or `nbf`, or now) to `exp`, or None.
        max_age_s: Longest time since `iat`, or None. Requires `iat`.
        required: Claims that must be present whatever their value.
        requires_expiry: Whether `exp` must be present. True but for event tokens.
        leeway_s: Clock skew granted, at most 300 s.
        types: Accepted `typ` header values, lower-case, without `application/`; empty accepts all.
        section: Specification and section named in a refusal.
    """

    issuer: str | None
    audience: str | None
    max_lifetime_s: int | None = None
    max_age_s: int | None = None
    required: tuple[str, ...] = ()
    requires_expiry: bool = True
    leeway_s: int = DEFAULT_LEEWAY_S
    types: frozenset[str] = frozenset()
    section: str = "RFC 7519 4.1"

    def __post_init__(self) -> None:
        if not 0 <= self.leeway_s <= MAX_LEEWAY_S:
            raise ConfigError(f"leeway_s must be between 0 and {MAX_LEEWAY_S}")


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims of a token, with typed access.

    Attributes:
        members: The JSON object as parsed.
        section: Specification and section named in a refusal.
    """

    members: Mapping[str, object] = field(repr=False)
    section: str = "RFC 7519 4.1"

    def __contains__(self, name: object) -> bool:
        return name in self.members

    def get(self, name: str) -> object:
        """The value of a claim, or None."""
        return self.members.get(name)

    def text(self, name: str) -> str:
        """A claim that must be text.

        Raises:
            TokenInvalid: Absent or of another type.
        """
        value = self.members.get(name)
        if not isinstance(value, str):
            raise self.refused(name, "is missing or not text")
        return value

    def optional_text(self, name: str) -> str | None:
        """A claim that is text where it is present."""
        return self.text(name) if name in self.members else None

    def instant_s(self, name: str) -> int:
        """A NumericDate: seconds since 1970, fractions cut off.

        Raises:
            TokenInvalid: Absent, not a number, negative or beyond the year 36,000.
        """
        value = self.members.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused(name, "is missing or not a number")
        if not 0 <= value <= _MAX_NUMERIC_DATE:
            raise self.refused(name, "is out of range")
        return int(value)

    def optional_instant_s(self, name: str) -> int | None:
        """A NumericDate where it is present."""
        return self.instant_s(name) if name in self.members else None

    def audience(self) -> tuple[str, ...]:
        """`aud` as a tuple, whether it was text or a list.

        Raises:
            TokenInvalid: Absent, empty or of another type.
        """
        value = self.members.get("aud")
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise self.refused("aud", "is missing or neither text nor a list of texts")
        if not listed:
            raise self.refused("aud", "is empty")
        return tuple(listed)

    def refused(self, name: str, problem: str) -> TokenInvalid:
        """The error for one claim; its check is `claim-NAME`."""
        return TokenInvalid(f"claim {name} {problem}", check=f"claim-{name}", section=self.section)


@dataclass(frozen=True, slots=True)
class JWT:
    """A verified token.

    Attributes:
        header: The protected header.
        claims: The claims.
        key: The key that verified the signature.
    """

    header: Mapping[str, object]
    claims: Claims
    key: JWK


def sign_jwt(claims: Mapping[str, object], signer: Signer, *, typ: str | None = None) -> str:
    """Sign claims as a compact JWT.

    Args:
        claims: JSON members; instants as integers.
        signer: Holds the key.
        typ: Header `typ`, for example `JWT` or `oauth-authz-req+jwt`.
    """
    header = None if typ is None else {"typ": typ}
    return sign_compact(encode_object(claims), signer, header=header)


async def asign_jwt(
    claims: Mapping[str, object], signer: AsyncSigner, *, typ: str | None = None
) -> str:
    """`sign_jwt` with a signer that is awaited."""
    header = None if typ is None else {"typ": typ}
    return await asign_compact(encode_object(claims), signer, header=header)


def verify_jwt(
    token: str | bytes,
    keys: JWK | JWKSet,
    *,
    rules: ClaimRules,
    now_s: float,
    algorithms: Collection[str] = FAPI_ALGORITHMS,
) -> JWT:
    """Verify signature and claims of a compact JWT.

    Args:
        token: The token.
        keys: The key or keys trusted for the expected issuer.
        rules: What the claims must say.
        now_s: The time, in seconds since 1970.
        algorithms: What we accept: by default PS256 and ES256.

    Raises:
        SignatureInvalid: The signature does not hold.
        KeyNotFound: No trusted key fits.
        TokenInvalid: A claim does not hold; `check` is `claim-NAME`, or `jwt-typ`.
    """
    verified = verify_compact(token, keys, algorithms=algorithms)
    _check_type(verified.header.get("typ"), rules)
    claims = parse_claims(verified.payload, section=rules.section)
    check_claims(claims, rules=rules, now_s=now_s)
    return JWT(verified.header, claims, verified.key)


def parse_claims(payload: bytes, *, section: str = "RFC 7519 4.1") -> Claims:
    """Parse the payload of a JWT.

    Raises:
        TokenInvalid: Not one strict JSON object of at most 96 KiB.
    """
    try:
        members = parse_object(payload, what="the claims set", limit_bytes=_MAX_CLAIMS_BYTES)
    except ProtocolViolation as error:
        raise TokenInvalid(str(error), check="jwt-claims", section="RFC 7519 4") from error
    return Claims(members, section)


def check_claims(claims: Claims, *, rules: ClaimRules, now_s: float) -> None:
    """Check iss, aud, exp, nbf, iat and the required claims.

    Raises:
        TokenInvalid: With check `claim-NAME`.
    """
    for name in rules.required:
        if claims.get(name) is None:
            raise claims.refused(name, "is missing")
    if rules.issuer is not None and claims.text("iss") != rules.issuer:
        raise claims.refused(
            "iss", f"is {quoted(claims.text('iss'))}, expected {quoted(rules.issuer)}"
        )
    if rules.audience is not None and rules.audience not in claims.audience():
        raise claims.refused("aud", f"does not contain {quoted(rules.audience)}")
    _check_times(claims, rules=rules, now_s=now_s)


def _check_times(claims: Claims, *, rules: ClaimRules, now_s: float) -> None:
    issued_s = claims.optional_instant_s("iat")
    begins_s = claims.optional_instant_s("nbf")
    if issued_s is not None and issued_s > now_s + rules.leeway_s:
        raise claims.refused("iat", "is in the future")
    if begins_s is not None and begins_s > now_s + rules.leeway_s:
        raise claims.refused("nbf", "is in the future")
    if rules.max_age_s is not None:
        age_s = now_s - claims.instant_s("iat")
        if age_s > rules.max_age_s + rules.leeway_s:
            raise claims.refused("iat", f"is more than {rules.max_age_s} s old")
    if not rules.requires_expiry and "exp" not in claims:
        return
    expires_s = claims.instant_s("exp")
    if expires_s + rules.leeway_s <= now_s:
        raise claims.refused("exp", "has passed")
    if rules.max_lifetime_s is not None:
        start_s = next((each for each in (issued_s, begins_s) if each is not None), now_s)
        if expires_s - start_s > rules.max_lifetime_s:
            raise claims.refused("exp", f"allows more than {rules.max_lifetime_s} s")


def _check_type(typ: object, rules: ClaimRules) -> None:
    if not rules.types:
        return
    name = typ.lower().removeprefix("application/") if isinstance(typ, str) else ""
    if name not in rules.types:
        raise TokenInvalid(
            f"typ {quoted(typ)} is not accepted here", check="jwt-typ", section="RFC 8725 3.11"
        )
