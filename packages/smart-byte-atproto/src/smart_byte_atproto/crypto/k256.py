"""K-256 (secp256k1, SEC 2): `coincurve` where it is installed and works, else `cryptography`.

Both give the same verdicts and, with RFC 6979 nonces, the same signatures; libsecp256k1 is
about ten times faster. Install it with the extra `smart-byte-atproto[fast]`.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric import ec

from .base import Algorithm
from .compact import K256_ORDER
from .openssl import OpenSSL

OPENSSL = OpenSSL(ec.SECP256K1(), order=K256_ORDER)


def _fastest() -> Algorithm:
    try:
        from . import libsecp  # noqa: PLC0415 - optional extra
    except ImportError:
        return OPENSSL
    return libsecp.ENGINE


ENGINE: Algorithm = _fastest()
