"""Multibase base58btc: `z`, then base 58 in the bitcoin alphabet.

Source: Multibase specification, code `z`. Other bases do not occur in keys of the network.
"""

from __future__ import annotations

import base58

from smart_byte_atproto.errors import InvalidKey

# Decoding is quadratic; the longest key text of the network has 91 characters.
MAX_CHARACTERS = 256
_ALPHABET = frozenset(base58.BITCOIN_ALPHABET.decode("ascii"))


def encode(data: bytes) -> str:
    """Write bytes as `z` + base58btc."""
    return "z" + base58.b58encode(data).decode("ascii")


def decode(text: str) -> bytes:
    """Read `z` + base58btc.

    Raises:
        InvalidKey: Another base, a character outside the alphabet, or over 256 characters.
    """
    if not text.startswith("z"):
        raise InvalidKey("multibase text does not start with 'z' (base58btc)")
    if len(text) > MAX_CHARACTERS:
        raise InvalidKey(f"multibase text has over {MAX_CHARACTERS} characters")
    for position, character in enumerate(text[1:], start=1):
        if character not in _ALPHABET:
            raise InvalidKey(f"character {position} is outside the base58btc alphabet")
    return base58.b58decode(text[1:])
