"""Public and private keys of the three types, one class each.

ECDSA keys hash the message with SHA-256 themselves: give them the DAG-CBOR bytes, never a
digest. Ed25519 signs the bytes as they are.

Source: AT Protocol, Cryptography; reference section 7.
"""

from __future__ import annotations

import hmac
import secrets
from typing import Self

from smart_byte_atproto.errors import BadSignature, InvalidKey

from . import ed25519, k256, p256
from .base import Algorithm, KeyType, Point
from .compact import K256_ORDER, P256_ORDER, SIGNATURE_BYTES, check_compact
from .did_key import (
    PUBLIC_BYTES,
    decode_did_key,
    decode_multikey,
    decode_private,
    decode_verification_method,
    encode_did_key,
    encode_multikey,
    encode_private,
)

SECRET_BYTES = 32
_UNCOMPRESSED_BYTES = 65
_ORDER = {KeyType.K256: K256_ORDER, KeyType.P256: P256_ORDER}


def engine_of(key_type: KeyType) -> Algorithm:
    """Return the engine in use for a type of key."""
    match key_type:
        case KeyType.K256:
            return k256.ENGINE
        case KeyType.P256:
            return p256.ENGINE
        case KeyType.ED25519:
            return ed25519.ENGINE


class PublicKey:
    """A public key, parsed and known to be a point on its curve.

    Attributes:
        key_type: K-256, P-256 or Ed25519.
        public: 33 bytes of compressed point; Ed25519 32 bytes.
    """

    __slots__ = ("_order", "_point", "key_type", "public")

    key_type: KeyType
    public: bytes
    _order: int | None
    _point: Point

    def __init__(
        self, key_type: KeyType, public: bytes, *, engine: Algorithm | None = None
    ) -> None:
        """Parse a point.

        Args:
            key_type: The curve.
            public: 33 bytes compressed or 65 uncompressed; Ed25519 32 bytes.
            engine: Another engine than the default of this type.

        Raises:
            InvalidKey: Wrong length, or not a point on the curve.
        """
        sizes = {PUBLIC_BYTES[key_type]}
        if key_type is not KeyType.ED25519:
            sizes.add(_UNCOMPRESSED_BYTES)
        if len(public) not in sizes:
            raise InvalidKey(f"{key_type} public key of {len(public)} bytes")
        engine = engine or engine_of(key_type)
        try:
            point = engine.load(public)
        except ValueError as error:
            raise InvalidKey(f"not a point on {key_type}") from error
        object.__setattr__(self, "key_type", key_type)
        object.__setattr__(self, "public", point.compact)
        object.__setattr__(self, "_point", point)
        object.__setattr__(self, "_order", _ORDER.get(key_type))

    @classmethod
    def from_did_key(cls, text: str) -> Self:
        """Parse `did:key:z...`.

        Raises:
            InvalidKey: Malformed text or not a point on the curve.
        """
        return cls(*decode_did_key(text))

    @classmethod
    def from_multikey(cls, text: str) -> Self:
        """Parse `z...` with a codec.

        Raises:
            InvalidKey: Malformed text or not a point on the curve.
        """
        return cls(*decode_multikey(text))

    @classmethod
    def from_verification_method(cls, suite: str, text: str) -> Self:
        """Parse `publicKeyMultibase` of a verificationMethod with this `type`.

        Raises:
            InvalidKey: Unknown type, malformed text or not a point on the curve.
        """
        return cls(*decode_verification_method(suite, text))

    @property
    def did_key(self) -> str:
        """The key as did:key."""
        return encode_did_key(self.key_type, self.public)

    @property
    def multikey(self) -> str:
        """The key as a multikey."""
        return encode_multikey(self.key_type, self.public)

    @property
    def is_network_valid(self) -> bool:
        """Whether the network accepts commits signed with this type of key."""
        return self.key_type is not KeyType.ED25519

    def verify(self, message: bytes, signature: bytes) -> None:
        """Check a signature over the message bytes.

        Raises:
            BadSignature: Malformed (`length`, `der`, `zero`, `range`, `high-s`) or `mismatch`.
        """
        if self._order is not None:
            check_compact(signature, order=self._order)
        elif len(signature) != SIGNATURE_BYTES:
            raise BadSignature(f"{len(signature)} bytes; 64 are required", code="length")
        if not self._point.verify(signature, message):
            raise BadSignature(
                f"does not match the message and {self.key_type} key", code="mismatch"
            )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("keys are immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PublicKey):
            return NotImplemented
        return self.key_type is other.key_type and self.public == other.public

    def __hash__(self) -> int:
        return hash((self.key_type, self.public))

    def __reduce__(self) -> tuple[type[PublicKey], tuple[KeyType, bytes]]:
        return PublicKey, (self.key_type, self.public)

    def __repr__(self) -> str:
        return f"PublicKey({self.did_key})"


class PrivateKey:
    """A private key. Its text never appears in `repr` or in errors.

    Attributes:
        key_type: K-256, P-256 or Ed25519.
        public_key: The key that verifies what this one signs.
    """

    __slots__ = ("_engine", "_secret", "key_type", "public_key")

    key_type: KeyType
    public_key: PublicKey
    _engine: Algorithm
    _secret: bytes

    def __init__(
        self, key_type: KeyType, secret: bytes, *, engine: Algorithm | None = None
    ) -> None:
        """Take a secret of 32 bytes (for Ed25519: the seed).

        Raises:
            InvalidKey: Another length, zero, or not below the order of the group.
        """
        if len(secret) != SECRET_BYTES:
            raise InvalidKey(f"a secret has 32 bytes, not {len(secret)}")
        order = _ORDER.get(key_type)
        if order is not None and not 0 < int.from_bytes(secret) < order:
            raise InvalidKey("secret is zero or not below the order of the group")
        engine = engine or engine_of(key_type)
        public = engine.public(secret).compact
        object.__setattr__(self, "key_type", key_type)
        object.__setattr__(self, "public_key", PublicKey(key_type, public, engine=engine))
        object.__setattr__(self, "_engine", engine)
        object.__setattr__(self, "_secret", bytes(secret))

    @classmethod
    def generate(cls, key_type: KeyType = KeyType.K256) -> Self:
        """Draw a key from the random source of the operating system."""
        order = _ORDER.get(key_type)
        if order is None:
            return cls(key_type, secrets.token_bytes(SECRET_BYTES))
        return cls(key_type, (secrets.randbelow(order - 1) + 1).to_bytes(SECRET_BYTES))

    @classmethod
    def from_hex(cls, key_type: KeyType, text: str) -> Self:
        """Read 64 hexadecimal digits.

        Raises:
            InvalidKey: Not 64 hexadecimal digits, or out of range.
        """
        if len(text) != 2 * SECRET_BYTES or not set(text) <= set("0123456789abcdefABCDEF"):
            raise InvalidKey("a secret is written as 64 hexadecimal digits")
        return cls(key_type, bytes.fromhex(text))

    @classmethod
    def from_multikey(cls, text: str) -> Self:
        """Read a multikey with the codec of a private key.

        Raises:
            InvalidKey: Malformed text, or out of range.
        """
        return cls(*decode_private(text))

    def export_hex(self) -> str:
        """Return the secret as 64 hexadecimal digits."""
        return self._secret.hex()

    def export_multikey(self) -> str:
        """Return the secret as a multikey."""
        return encode_private(self.key_type, self._secret)

    def sign(self, message: bytes) -> bytes:
        """Sign the message bytes.

        Returns:
            64 bytes; for ECDSA compact r||s with low S over SHA-256 of the message.
        """
        return self._engine.sign(self._secret, message)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("keys are immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PrivateKey):
            return NotImplemented
        return self.key_type is other.key_type and hmac.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        return hash(self.public_key)

    def __repr__(self) -> str:
        return f"PrivateKey({self.key_type}, public {self.public_key.did_key}, secret hidden)"
