"""Ed25519 (RFC 8032, pure), engine `cryptography`.

Not a signing key type of the network: commits signed with it are for closed systems only. It
signs the message itself, without hashing it first.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)


class Ed25519Point:
    """A point on edwards25519."""

    __slots__ = ("_key", "compact")

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._key = key
        self.compact = key.public_bytes_raw()

    def verify(self, signature: bytes, message: bytes) -> bool:
        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


class Ed25519:
    """Pure Ed25519."""

    name = "cryptography"

    def load(self, public: bytes) -> Ed25519Point:
        return Ed25519Point(Ed25519PublicKey.from_public_bytes(public))

    def public(self, secret: bytes) -> Ed25519Point:
        return Ed25519Point(Ed25519PrivateKey.from_private_bytes(secret).public_key())

    def sign(self, secret: bytes, message: bytes) -> bytes:
        return Ed25519PrivateKey.from_private_bytes(secret).sign(message)


ENGINE = Ed25519()
