"""The `x-jws-signature` of UK Open Banking, in both ages.

Up to 3.1.3 the signature covers the raw body (`b64` false), from 3.1.4 its base64url; some banks
kept the older form. So signing has a switch with the version's rule as default, and verifying obeys
the header. Verify over the raw octets received, before any parsing, and send exactly the octets
that were signed.

Source: OBIE Read/Write API Profile 3.1.10, section on message signing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from op_openbanking.errors import ConfigError, SignatureInvalid, TokenInvalid, quoted
from op_openbanking.jose.detached import prepare_detached, verify_detached
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.jose.jws import SigningInput, VerifiedJWS

from .base import AsyncSigner, Signer

IAT: Final = "http://openbanking.org.uk/iat"
ISS: Final = "http://openbanking.org.uk/iss"
TAN: Final = "http://openbanking.org.uk/tan"
CRITICAL: Final = (IAT, ISS, TAN)
DIRECTORY_ANCHOR: Final = "openbanking.org.uk"

_SECTION = "OBIE R/W 3.1.10, message signing"
_MEMBERS = frozenset({"alg", "kid", "typ", "cty", "b64", "crit", *CRITICAL})
_CONTENT_TYPES = frozenset({"json", "application/json"})
_LAST_RAW_VERSION = (3, 1, 3)
_MAX_LEEWAY_S = 300
_MAX_IAT_S = 10**11


def is_encoded(version: str) -> bool:
    """Whether a version's signatures cover base64url of the body: from 3.1.4 on.

    Raises:
        ConfigError: Not a version like `3.1.10`.
    """
    try:
        parts = tuple(int(part) for part in version.removeprefix("v").split("."))
    except ValueError:
        raise ConfigError(f"{quoted(version)} is not a version like 3.1.10") from None
    return parts > _LAST_RAW_VERSION


@dataclass(frozen=True, slots=True)
class OBIESignatures:
    """How one client signs towards one bank.

    Attributes:
        issuer: `{org-id}/{software-statement-id}` with a directory key, or the certificate's
            subject in the text form the bank expects.
        trust_anchor: Domain that vouches for the key.
        b64: False for the raw body; see `is_encoded` for the version's rule.
        content_type: Goes into `cty`.
    """

    issuer: str
    trust_anchor: str = DIRECTORY_ANCHOR
    b64: bool = True
    content_type: str = "application/json"

    def prepare(self, body: bytes, *, alg: str, kid: str, now_s: int) -> SigningInput:
        """Build the signing input over a body.

        Raises:
            ConfigError: `alg` is not PS256, the only one OBIE allows.
        """
        if alg != "PS256":
            raise ConfigError(f"OBIE signatures are PS256, the signer has {quoted(alg)}")
        header: dict[str, object] = {
            "typ": "JOSE",
            "cty": self.content_type,
            IAT: now_s,
            ISS: self.issuer,
            TAN: self.trust_anchor,
        }
        return prepare_detached(
            body, alg=alg, kid=kid, header=header, critical=CRITICAL, b64=self.b64
        )

    def sign(self, body: bytes, signer: Signer, *, now_s: int) -> str:
        """The header value for a body; `now_s` is seconds since 1970."""
        ready = self.prepare(body, alg=signer.alg, kid=signer.kid, now_s=now_s)
        return ready.attach(
            signer.sign(ready.octets), public_key=getattr(signer, "public_key", None)
        )

    async def asign(self, body: bytes, signer: AsyncSigner, *, now_s: int) -> str:
        """`sign` with a signer that is awaited."""
        ready = self.prepare(body, alg=signer.alg, kid=signer.kid, now_s=now_s)
        return ready.attach(
            await signer.sign(ready.octets), public_key=getattr(signer, "public_key", None)
        )


@dataclass(frozen=True, slots=True)
class OBIEVerifier:
    """What a bank's signatures must say.

    Attributes:
        keys: Keys of the bank's organisation or software at the trust anchor.
        issuer: `{org-id}` of the bank, or its certificate's subject.
        trust_anchors: Accepted values of `tan`.
        leeway_s: How far `iat` may lie in the future, at most 300 s.
        max_age_s: How old a signature may be, or None where stored ones are verified too.
    """

    keys: JWKSet | JWK = field(repr=False)
    issuer: str
    trust_anchors: frozenset[str] = frozenset({DIRECTORY_ANCHOR})
    leeway_s: int = 10
    max_age_s: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.leeway_s <= _MAX_LEEWAY_S:
            raise ConfigError(f"leeway_s must be between 0 and {_MAX_LEEWAY_S}")

    def verify(self, signature: str, body: bytes, *, now_s: float) -> VerifiedJWS:
        """Verify a response over the raw octets received.

        Raises:
            SignatureInvalid: Form, algorithm, crit, members or signature.
            KeyNotFound: The kid is not the bank's.
            TokenInvalid: `iat`, `iss` or `tan`.
        """
        verified = verify_detached(
            signature, body, self.keys, algorithms=("PS256",), understood=CRITICAL
        )
        header = verified.header
        strangers = sorted(header.keys() - _MEMBERS)
        if strangers:
            raise _members(f"member {quoted(strangers[0])} does not belong there")
        if not isinstance(header.get("kid"), str):
            raise _members("kid is missing")
        critical = header.get("crit")
        if not isinstance(critical, list) or not set(CRITICAL) <= set(critical):
            raise _members("crit does not list iat, iss and tan")
        if header.get("typ", "JOSE") != "JOSE":
            raise _members("typ is not JOSE")
        if header.get("cty", "json") not in _CONTENT_TYPES:
            raise _members("cty is neither json nor application/json")
        self._check_claims(header[IAT], header[ISS], header[TAN], now_s=now_s)
        return verified

    def _check_claims(self, iat: object, iss: object, tan: object, *, now_s: float) -> None:
        if isinstance(iat, bool) or not isinstance(iat, int | float):
            raise _claim("iat", "is not a number")
        if not 0 <= iat <= _MAX_IAT_S:
            raise _claim("iat", "is no time since 1970")
        if self.max_age_s is not None and iat < now_s - self.max_age_s - self.leeway_s:
            raise _claim("iat", "is too old")
        if iat > now_s + self.leeway_s:
            raise _claim("iat", "is in the future")
        if iss != self.issuer:
            raise _claim("iss", f"is {quoted(iss)}, expected {quoted(self.issuer)}")
        if not isinstance(tan, str) or tan not in self.trust_anchors:
            raise _claim("tan", f"{quoted(tan)} is not a trusted anchor")


def _members(problem: str) -> SignatureInvalid:
    return SignatureInvalid(f"x-jws-signature: {problem}", check="obie-header", section=_SECTION)


def _claim(name: str, problem: str) -> TokenInvalid:
    return TokenInvalid(
        f"x-jws-signature: {name} {problem}", check=f"obie-{name}", section=_SECTION
    )
