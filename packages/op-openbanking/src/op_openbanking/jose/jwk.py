"""JSON Web Keys: public verification keys of a peer, and our own as we publish them.

A `JWK` in hand is usable: RSA of 2048 bits or more or EC on P-256, coordinates and integers in
their one canonical form, certificate and key equal where `x5c` is there. A `JWKSet` drops what it
cannot use, as RFC 7517 section 5 asks, and remembers why, so that an error can say "the key named
in the header is there, but it has 1024 bits". Duplicate kids are legal; a named kid is never
replaced by another key.

Source: RFC 7517, RFC 7518 section 6, RFC 7638; FAPI 1.0 Baseline section 5.2.2.
"""

from __future__ import annotations

import binascii
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
)

from op_openbanking.errors import (
    KeyNotFound,
    ProtocolViolation,
    UnusableKey,
    quoted,
)

from . import base64url, hashes
from .algorithms import (
    RSA_FORMS,
    Algorithm,
    PrivateKey,
    PublicKey,
    as_public_key,
    check_key,
    is_signature,
)
from .strict_json import parse_object

MAX_SET_BYTES: Final = 512 * 1024
"""Ours: longest JWKS document read."""
MAX_SET_KEYS: Final = 100
"""Ours: most keys read from one document; bounds the tries for a header without a kid."""

CERTIFICATE_ERRORS: Final = (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion)
"""All that the `cryptography` library raises for a certificate or key that it cannot read."""

_PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_COORDINATE_BYTES = 32
_TEXT_MEMBERS = ("kid", "use", "alg")
_RSA_ONLY = ("PS", "RS")
_OPERATIONS = {
    "sig": frozenset({"verify"}),
    "enc": frozenset({"encrypt", "wrapKey", "deriveKey", "deriveBits"}),
}


@dataclass(frozen=True, slots=True)
class JWK:
    """One public key.

    Attributes:
        public_key: The key itself, of the `cryptography` library.
        kid: Name of the key, or None.
        use: `sig`, `enc` or None.
        alg: The only algorithm it may be used with, or None.
        key_ops: Operations it may be used for; empty where not said.
        x5c: Certificate chain as DER, leaf first; empty where absent.
    """

    public_key: PublicKey = field(repr=False, hash=False)
    kid: str | None = None
    use: str | None = None
    alg: str | None = None
    key_ops: tuple[str, ...] = ()
    x5c: tuple[bytes, ...] = field(default=(), repr=False)
    # The key once more where it is RSA: asking its type costs half a microsecond each time.
    _rsa: rsa.RSAPublicKey | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_key(self.public_key)
        if isinstance(self.public_key, rsa.RSAPublicKey):
            object.__setattr__(self, "_rsa", self.public_key)

    @classmethod
    def from_members(cls, members: Mapping[str, object]) -> JWK:
        """Read one JSON Web Key.

        Raises:
            UnusableKey: Unknown kty or curve, too short, a member missing or in a wrong form, or
                private or symmetric members, which a public document must not have.
        """
        if not _PRIVATE_MEMBERS.isdisjoint(members):
            raise UnusableKey("a public JWK has private members [RFC 7517 9.2]")
        kid, use, alg = (_optional_text(members, name) for name in _TEXT_MEMBERS)
        public_key = public_key_from_members(members)
        operations = _text_list(members, "key_ops")
        chain = tuple(_certificate_der(text) for text in _text_list(members, "x5c"))
        if chain and _certificate_key(chain[0]) != public_key:
            raise UnusableKey("x5c holds another key than the JWK [RFC 7517 4.7]")
        return cls(public_key, kid=kid, use=use, alg=alg, key_ops=operations, x5c=chain)

    @classmethod
    def from_pem(
        cls,
        pem: bytes,
        *,
        kid: str | None = None,
        use: str | None = "sig",
        alg: str | None = None,
    ) -> JWK:
        """Read a PEM public key or certificate; kid defaults to the RFC 7638 thumbprint.

        A certificate is kept in `x5c`. Private keys are read by `signing.local`.

        Raises:
            UnusableKey: Not PEM, or a key that `JWK` does not accept.
        """
        chain: tuple[bytes, ...] = ()
        try:
            if b"-----BEGIN CERTIFICATE-----" in pem:
                certificates = x509.load_pem_x509_certificates(pem)
                chain = tuple(each.public_bytes(Encoding.DER) for each in certificates)
                key: object = certificates[0].public_key()
            else:
                key = load_pem_public_key(pem)
        except CERTIFICATE_ERRORS as error:
            raise UnusableKey("not a PEM public key or certificate") from error
        jwk = cls(as_public_key(key), use=use, alg=alg, x5c=chain)
        return replace(jwk, kid=kid or jwk.thumbprint())

    @classmethod
    def from_private_key(
        cls, key: PrivateKey, *, kid: str | None = None, alg: str | None = None
    ) -> JWK:
        """The public JWK of a private key; kid defaults to the thumbprint."""
        jwk = cls(key.public_key(), use="sig", alg=alg)
        return replace(jwk, kid=kid or jwk.thumbprint())

    @property
    def kty(self) -> str:
        """`RSA` or `EC`."""
        return "EC" if self._rsa is None else "RSA"

    def required_members(self) -> dict[str, str]:
        """The members that make up the key, in lexicographic order (RFC 7638 section 3.2)."""
        if isinstance(self.public_key, rsa.RSAPublicKey):
            numbers = self.public_key.public_numbers()
            return {"e": _uint(numbers.e), "kty": "RSA", "n": _uint(numbers.n)}
        point = self.public_key.public_numbers()
        return {
            "crv": "P-256",
            "kty": "EC",
            "x": _uint(point.x, size=_COORDINATE_BYTES),
            "y": _uint(point.y, size=_COORDINATE_BYTES),
        }

    def to_members(self) -> dict[str, object]:
        """The JSON object to publish: public members only."""
        members: dict[str, object] = dict(self.required_members())
        named = {"kid": self.kid, "use": self.use, "alg": self.alg}
        members.update({name: value for name, value in named.items() if value is not None})
        if self.key_ops:
            members["key_ops"] = list(self.key_ops)
        if self.x5c:
            members["x5c"] = [b64encode(der).decode("ascii") for der in self.x5c]
            members["x5t#S256"] = hashes.x5t_s256(self.x5c[0])
        return members

    def to_pem(self) -> bytes:
        """The public key as PEM (SubjectPublicKeyInfo)."""
        return self.public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def thumbprint(self) -> str:
        """RFC 7638 thumbprint with SHA-256: 43 letters."""
        return hashes.jwk_thumbprint(self.required_members())

    def verifies(self, alg: str, signature: bytes, octets: bytes) -> bool:
        """Whether `signature` in JOSE form is that of `octets` under this key; never raises."""
        key = self._rsa
        if key is None:
            return is_signature(self.public_key, alg, signature, octets)
        form = RSA_FORMS.get(alg)
        if form is None:
            return False
        try:
            key.verify(signature, octets, form[0], form[1])
        except InvalidSignature:
            return False
        return True

    def fits(self, alg: str, *, use: str = "sig") -> bool:
        """Whether this key may be used with `alg`: kty, `alg`, `use` and `key_ops` agree."""
        if (self.kty == "RSA") != alg.startswith(_RSA_ONLY):
            return False
        if (self.alg is not None and self.alg != alg) or self.use not in (None, use):
            return False
        return not self.key_ops or not _OPERATIONS[use].isdisjoint(self.key_ops)


@dataclass(frozen=True, slots=True)
class SkippedKey:
    """A key of a document that cannot be used, and why."""

    position: int
    kid: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class JWKSet:
    """Public keys trusted for one issuer.

    Attributes:
        keys: The usable ones, in the order of the document.
        skipped: The others, with reasons.
    """

    keys: tuple[JWK, ...]
    skipped: tuple[SkippedKey, ...] = ()
    # What `jws` worked out from a header part and an allow-list: a function of these and of the
    # fields above. A sender repeats its header, so most messages save a third of our own work.
    memo: dict[tuple[bytes, frozenset[Algorithm]], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def parse(cls, document: bytes) -> JWKSet:
        """Read a JWKS document of at most 512 KiB and 100 keys.

        Raises:
            ProtocolViolation: Not a JSON object with a list `keys`, or too large.
        """
        members = parse_object(document, what="the JWKS", limit_bytes=MAX_SET_BYTES)
        return cls.from_members(members)

    @classmethod
    def from_members(cls, members: Mapping[str, object]) -> JWKSet:
        """Read a parsed JWKS, as it stands inside client metadata (`jwks`).

        Raises:
            ProtocolViolation: See `parse`.
        """
        listed = members.get("keys")
        if not isinstance(listed, list) or len(listed) > MAX_SET_KEYS:
            raise ProtocolViolation(
                f"the JWKS has no list `keys` of at most {MAX_SET_KEYS}", section="RFC 7517 5"
            )
        keys: list[JWK] = []
        skipped: list[SkippedKey] = []
        for position, each in enumerate(listed):
            if not isinstance(each, dict):
                skipped.append(SkippedKey(position, None, "not a JSON object"))
                continue
            try:
                keys.append(JWK.from_members(each))
            except UnusableKey as error:
                kid = each.get("kid")
                name = kid if isinstance(kid, str) else None
                skipped.append(SkippedKey(position, name, str(error)))
        return cls(tuple(keys), tuple(skipped))

    @classmethod
    def of(cls, keys: Iterable[JWK]) -> JWKSet:
        """A set of keys already in hand."""
        return cls(tuple(keys))

    def __iter__(self) -> Iterator[JWK]:
        return iter(self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def has_kid(self, kid: str) -> bool:
        """Whether the document names this kid, usable or not."""
        return any(key.kid == kid for key in self.keys) or any(
            each.kid == kid for each in self.skipped
        )

    def fitting(self, alg: str, kid: str | None, use: str = "sig") -> tuple[JWK, ...]:
        """Every key that may verify a message with this `alg` and `kid`.

        A named kid selects only keys of that name. Without a kid all fitting keys are returned,
        and the caller tries each.

        Raises:
            KeyNotFound: None fits; `check` is `jwks-kid` (the kid is not in the set),
                `jwks-key-refused` (it is, but cannot serve) or `jwks-no-key` (no kid, none fits).
        """
        named = self.keys if kid is None else [key for key in self.keys if key.kid == kid]
        found = tuple(key for key in named if key.fits(alg, use=use))
        if found:
            return found
        if kid is None:
            raise KeyNotFound(
                f"no key of the set may be used with {alg}",
                check="jwks-no-key",
                section="RFC 7515 6",
            )
        reasons = [each.reason for each in self.skipped if each.kid == kid]
        if named:
            reasons.append(f"its kty, alg, use or key_ops does not allow {alg}")
        if reasons:
            raise KeyNotFound(
                f"key {quoted(kid)} cannot serve: {reasons[0]}",
                check="jwks-key-refused",
                section="RFC 7517 4, FAPI1-BASE 5.2.2",
            )
        raise KeyNotFound(
            f"kid {quoted(kid)} is not in the set",
            check="jwks-kid",
            section="RFC 7515 4.1.4 (no other key stands in)",
        )

    def to_members(self) -> dict[str, object]:
        """The document to publish."""
        return {"keys": [key.to_members() for key in self.keys]}


def public_key_from_members(members: Mapping[str, object]) -> PublicKey:
    """The public key inside a JWK, private or public.

    Raises:
        UnusableKey: Unknown kty or curve, or a member missing or in a wrong form.
    """
    kty = members.get("kty")
    try:
        if kty == "RSA":
            exponent, modulus = _integer(members, "e"), _integer(members, "n")
            return rsa.RSAPublicNumbers(exponent, modulus).public_key()
        if kty == "EC":
            if members.get("crv") != "P-256":
                raise UnusableKey(f"curve {quoted(members.get('crv'))}; only P-256 is accepted")
            x, y = (_integer(members, name, size=_COORDINATE_BYTES) for name in "xy")
            return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    except ValueError as error:
        raise UnusableKey("the numbers of the JWK are not a valid key") from error
    raise UnusableKey(f"kty {quoted(kty)}; only RSA and EC are accepted")


def decode_member(members: Mapping[str, object], name: str) -> bytes:
    """Octets of a base64url member.

    Raises:
        UnusableKey: Missing, or not canonical base64url.
    """
    text = members.get(name)
    if not isinstance(text, str) or not text.isascii():
        raise UnusableKey(f"member {name} is missing or not text")
    try:
        return base64url.decode(text.encode("ascii"), f"member {name}")
    except ProtocolViolation as error:
        raise UnusableKey(str(error)) from error


def _integer(members: Mapping[str, object], name: str, *, size: int | None = None) -> int:
    octets = decode_member(members, name)
    if size is not None and len(octets) != size:
        raise UnusableKey(f"member {name} has {len(octets)} octets, not {size} [RFC 7518 6.2.1]")
    if size is None and octets[:1] in (b"", b"\0"):
        raise UnusableKey(f"member {name} is empty or starts with a zero octet [RFC 7518 6.3.1]")
    return int.from_bytes(octets, "big")


def _uint(value: int, *, size: int | None = None) -> str:
    octets = value.to_bytes(size or (value.bit_length() + 7) // 8, "big")
    return base64url.encode(octets).decode("ascii")


def _optional_text(members: Mapping[str, object], name: str) -> str | None:
    value = members.get(name)
    if value is None or isinstance(value, str):
        return value
    raise UnusableKey(f"member {name} is not text")


def _text_list(members: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = members.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UnusableKey(f"member {name} is not a list of texts")
    return tuple(value)


def _certificate_der(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except ValueError as error:  # binascii.Error and UnicodeEncodeError are both
        raise UnusableKey("x5c is not standard base64 [RFC 7517 4.7]") from error


def _certificate_key(der: bytes) -> object:
    try:
        return x509.load_der_x509_certificate(der).public_key()
    except CERTIFICATE_ERRORS as error:
        raise UnusableKey("x5c holds no DER certificate with a usable key") from error
