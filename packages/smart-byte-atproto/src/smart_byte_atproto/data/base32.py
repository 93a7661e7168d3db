"""Base32 in lower case without padding (multibase prefix `b`, which is not part of it here).

Source: RFC 4648 section 6; multibase table.
"""

from __future__ import annotations

import binascii
from base64 import b32encode

_ALPHABET = b"abcdefghijklmnopqrstuvwxyz234567"
_BITS = 5
_VALUE = {letter: value for value, letter in enumerate(_ALPHABET)}


def encode(data: bytes) -> str:
    """Write `data` as text of ceil(8 n / 5) characters."""
    return b32encode(data).rstrip(b"=").lower().decode("ascii")


def decode(text: str) -> bytes:
    """Read text; the spare bits of the last character must be zero.

    Raises:
        binascii.Error: A character outside the alphabet, an impossible length, or spare bits.
    """
    try:
        letters = text.encode("ascii")
        number = 0
        for letter in letters:
            number = number << 5 | _VALUE[letter]
    except (UnicodeEncodeError, KeyError) as bad:
        raise binascii.Error("character outside base32 in lower case") from bad
    spare = len(letters) * _BITS % 8
    if spare >= _BITS:
        raise binascii.Error("impossible length for base32")
    if number & (1 << spare) - 1:
        raise binascii.Error("spare bits at the end of base32 are not zero")
    return (number >> spare).to_bytes(len(letters) * _BITS // 8, "big")
