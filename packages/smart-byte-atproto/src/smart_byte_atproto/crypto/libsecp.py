"""K-256 on libsecp256k1 through `coincurve` (extra `fast`).

Importing this file runs a known-answer test; where `coincurve` is absent or gives another
answer, the import fails with ImportError and the caller falls back to `cryptography`.
"""

from __future__ import annotations

from hashlib import sha256

from coincurve import PrivateKey, PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

_UNCOMPRESSED_BYTES = 65
_POINT_STARTS = {2: 33, 3: 33, 4: _UNCOMPRESSED_BYTES}


class LibSecpPoint:
    """A point on secp256k1."""

    __slots__ = ("_key", "compact")

    def __init__(self, key: PublicKey) -> None:
        self._key = key
        self.compact = key.format(compressed=True)

    def verify(self, signature: bytes, message: bytes) -> bool:
        der = encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
        return self._key.verify(der, sha256(message).digest(), None)


class LibSecp:
    """ECDSA on secp256k1."""

    name = "coincurve"

    def load(self, public: bytes) -> LibSecpPoint:
        # libsecp256k1 also reads the hybrid forms 06 and 07, which nobody else does.
        if not public or _POINT_STARTS.get(public[0]) != len(public):
            raise ValueError("not a compressed or uncompressed point")
        return LibSecpPoint(PublicKey(public))

    def public(self, secret: bytes) -> LibSecpPoint:
        return LibSecpPoint(PrivateKey(secret).public_key)

    def sign(self, secret: bytes, message: bytes) -> bytes:
        return PrivateKey(secret).sign_recoverable(sha256(message).digest(), None)[:64]


# RFC 6979 signature of b"sample" with the secret 01 02 ... 20; OpenSSL makes the same one.
_SAMPLE_SIGNATURE = bytes.fromhex(
    "447ffb205b7a06cc7c88f83c4fbd0ec3677cd56c9a3312ebfb6e71e87c7a3e6e"
    "62d9e968076d0a70eb2205541634062a7d6bbecc6f6db57129283f94e30d2bc9"
)


def _known_answer(engine: LibSecp) -> bool:
    secret = bytes(range(1, 33))
    try:
        point = engine.public(secret)
        signature = engine.sign(secret, b"sample")
        return (
            point.compact.hex()
            == "0284bf7562262bbd6940085748f3be6afa52ae317155181ece31b66351ccffa4b0"
            and signature == _SAMPLE_SIGNATURE
            and point.verify(signature, b"sample")
            and not point.verify(signature, b"other")
        )
    except (AttributeError, TypeError, ValueError):
        return False


ENGINE = LibSecp()
if not _known_answer(ENGINE):
    raise ImportError("coincurve does not pass its known-answer test")
