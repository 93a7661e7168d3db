"""ECDSA with SHA-256 on `cryptography`, for P-256 and K-256.

Nonces follow RFC 6979 where the OpenSSL that `cryptography` was built with can (3.2 and newer),
and are random elsewhere.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .compact import low_s

_VERIFY = ec.ECDSA(hashes.SHA256())
_SIGN_RANDOM = _VERIFY


def _deterministic() -> ec.ECDSA:
    try:
        return ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
    except UnsupportedAlgorithm:
        return _SIGN_RANDOM


class OpenSSLPoint:
    """A point on one curve of OpenSSL."""

    __slots__ = ("_key", "compact")

    def __init__(self, key: ec.EllipticCurvePublicKey) -> None:
        self._key = key
        self.compact = key.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)

    def verify(self, signature: bytes, message: bytes) -> bool:
        der = encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
        try:
            self._key.verify(der, message, _VERIFY)
        except InvalidSignature:
            return False
        return True


class OpenSSL:
    """ECDSA on one curve of OpenSSL."""

    name = "cryptography"

    def __init__(self, curve: ec.EllipticCurve, *, order: int) -> None:
        self._curve = curve
        self._order = order
        self._sign_with = _deterministic()

    def load(self, public: bytes) -> OpenSSLPoint:
        return OpenSSLPoint(ec.EllipticCurvePublicKey.from_encoded_point(self._curve, public))

    def public(self, secret: bytes) -> OpenSSLPoint:
        return OpenSSLPoint(self._private(secret).public_key())

    def sign(self, secret: bytes, message: bytes) -> bytes:
        r, s = decode_dss_signature(self._private(secret).sign(message, self._sign_with))
        return low_s(r, s, order=self._order)

    def _private(self, secret: bytes) -> ec.EllipticCurvePrivateKey:
        scalar = int.from_bytes(secret)
        if not 0 < scalar < self._order:
            raise ValueError("secret is zero or not below the order of the group")
        return ec.derive_private_key(scalar, self._curve)
