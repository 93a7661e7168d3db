"""Key types and the interface that each signature algorithm fills.

Source: AT Protocol, Cryptography; reference section 7. Codecs from the multicodec table.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class KeyType(StrEnum):
    """A signature algorithm with its curve."""

    K256 = "K-256"
    P256 = "P-256"
    ED25519 = "Ed25519"


class Point(Protocol):
    """A public key as one engine holds it."""

    @property
    def compact(self) -> bytes:
        """The shortest form: 33 bytes compressed, Ed25519 32 bytes."""

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Tell whether a well-formed 64-byte signature matches; hashes where it must."""


class Algorithm(Protocol):
    """One way to sign. Engines are interchangeable: same input, same verdict."""

    @property
    def name(self) -> str:
        """Name of the engine, for reports (`cryptography`, `coincurve`)."""

    def load(self, public: bytes) -> Point:
        """Parse a public key (33 bytes compressed, 65 uncompressed; Ed25519 32).

        Raises:
            ValueError: The bytes are no point on the curve.
        """

    def public(self, secret: bytes) -> Point:
        """Return the public key that belongs to a 32-byte secret.

        Raises:
            ValueError: The secret is zero or not below the order of the group.
        """

    def sign(self, secret: bytes, message: bytes) -> bytes:
        """Return a 64-byte signature, low-S for ECDSA."""
