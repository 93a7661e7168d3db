"""P-256 (secp256r1, NIST SP 800-186), engine `cryptography`."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric import ec

from .compact import P256_ORDER
from .openssl import OpenSSL

ENGINE = OpenSSL(ec.SECP256R1(), order=P256_ORDER)
