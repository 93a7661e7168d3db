"""The `Digest` header.

Source: RFC 3230 section 4.3.2 as Berlin Group NextGenPSD2 section 12 and STET use it: base64 of
SHA-256 or SHA-512 over the exact body octets, of the empty body too.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64encode
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from op_openbanking.errors import SignatureInvalid

_MAX_CHARS: Final = 1024
_SECTION: Final = "NextGenPSD2 12.1 (Digest)"


class DigestAlgorithm(StrEnum):
    """Accepted hashes; MD5 and SHA-1 of RFC 3230 are not among them."""

    SHA_256 = "SHA-256"
    SHA_512 = "SHA-512"


_HASHES: dict[DigestAlgorithm, Callable[[bytes], Any]] = {
    DigestAlgorithm.SHA_256: hashlib.sha256,
    DigestAlgorithm.SHA_512: hashlib.sha512,
}


def digest(body: bytes, *, algorithm: DigestAlgorithm = DigestAlgorithm.SHA_256) -> str:
    """The value of the header, for example `SHA-256=47DEQ...=`."""
    return f"{algorithm}={b64encode(_HASHES[algorithm](body).digest()).decode('ascii')}"


def verify_digest(value: str, body: bytes) -> None:
    """Check a header against the body octets received.

    Hashes that are not known are passed over; every known one must hold, and one must be there.

    Raises:
        SignatureInvalid: With check `digest`.
    """
    if len(value) > _MAX_CHARS:
        raise _invalid(f"longer than {_MAX_CHARS} letters")
    held = False
    for part in value.split(","):
        name, _, encoded = part.strip().partition("=")
        if name.upper() not in frozenset(DigestAlgorithm):
            continue
        try:
            claimed = binascii.a2b_base64(encoded.encode("ascii"), strict_mode=True)
        except ValueError as error:
            raise _invalid("not standard base64") from error
        if claimed != _HASHES[DigestAlgorithm(name.upper())](body).digest():
            raise _invalid("not the digest of the body")
        held = True
    if not held:
        raise _invalid("neither SHA-256 nor SHA-512")


def _invalid(problem: str) -> SignatureInvalid:
    return SignatureInvalid(f"Digest: {problem}", check="digest", section=_SECTION)
