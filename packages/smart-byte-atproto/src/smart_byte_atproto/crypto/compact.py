"""Compact ECDSA signatures: 64 bytes, r then s, big-endian, low-S.

The network refuses every other form on both curves: DER, other lengths, r or s zero or not
below the order n, and s above n/2 (which would make a second valid signature for each one).

Source: AT Protocol, Cryptography, ECDSA Signature Malleability; reference section 7.
"""

from __future__ import annotations

from smart_byte_atproto.errors import BadSignature

SIGNATURE_BYTES = 64
K256_ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
P256_ORDER = 0xFFFFFFFF_00000000_FFFFFFFF_FFFFFFFF_BCE6FAAD_A7179E84_F3B9CAC2_FC632551

_DER_SEQUENCE = 0x30
_DER_LENGTHS = range(8, 73)


def check_compact(signature: bytes, *, order: int) -> None:
    """Check the form of a compact signature.

    Args:
        signature: What the peer sent.
        order: Order n of the curve's group.

    Raises:
        BadSignature: With code `der`, `length`, `zero`, `range` or `high-s`.
    """
    if len(signature) != SIGNATURE_BYTES:
        size = len(signature)
        if size in _DER_LENGTHS and signature[0] == _DER_SEQUENCE and signature[1] == size - 2:
            raise BadSignature("DER encoding; compact r||s is required", code="der")
        raise BadSignature(f"{size} bytes; 64 are required", code="length")
    r = int.from_bytes(signature[:32])
    s = int.from_bytes(signature[32:])
    if not r or not s:
        raise BadSignature("r or s is zero", code="zero")
    if r >= order or s >= order:
        raise BadSignature("r or s is not below the order of the group", code="range")
    if s > order >> 1:
        raise BadSignature("s is above half the order of the group", code="high-s")


def low_s(r: int, s: int, *, order: int) -> bytes:
    """Encode r and s, with s replaced by n - s where that is the lower one. 64 bytes."""
    return r.to_bytes(32) + min(s, order - s).to_bytes(32)
