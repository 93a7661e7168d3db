"""Proof Key for Code Exchange with S256; `plain` does not exist here.

Source: RFC 7636 section 4; FAPI 1.0 Advanced section 5.2.2-18.
"""

from __future__ import annotations

from typing import Final

from op_openbanking.flow import Entropy
from op_openbanking.jose import base64url
from op_openbanking.jose.hashes import sha256_base64url

SECRET_BYTES: Final = 32
"""Octets of a verifier, state or nonce: 256 bits; FAPI asks for 128 at least."""


def fresh_text(entropy: Entropy) -> str:
    """An unguessable text of 43 letters, from 32 octets."""
    return base64url.encode(entropy(SECRET_BYTES)).decode("ascii")


def challenge(verifier: str) -> str:
    """The S256 challenge of a verifier: 43 letters."""
    return sha256_base64url(verifier.encode("ascii"))
