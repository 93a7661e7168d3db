"""CESR primitives: a code and a value as text (qb64) or bytes (qb2), aligned to 24 bits.

Source: reference section 20.1; CESR of the Trust over IP Foundation. Read are the codes that the
reference names; others are refused by name rather than guessed.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b, blake2s, sha3_256, sha3_512, sha256, sha512
from types import MappingProxyType
from typing import Final, Self

from blake3 import blake3

from smart_byte_atproto.crypto import KeyType, PublicKey
from smart_byte_atproto.errors import BadSignature, InvalidKey, InvalidPrimitive

RAW_BYTES: Final[Mapping[str, int]] = MappingProxyType(
    {
        **dict.fromkeys("ABCDEFGHIJQ", 32),
        "0A": 16,
        **dict.fromkeys(("0B", "0C", "0D", "0E", "0F", "0G", "0I"), 64),
        **dict.fromkeys(("1AAA", "1AAB", "1AAI", "1AAJ"), 33),
        "1AAG": 24,
    }
)
"""Length of the value of each code, bytes."""
BLAKE3_256: Final = "E"
_TEXT: Final = re.compile(r"[A-Za-z0-9_-]+")
_KEYS: Final = MappingProxyType(
    {
        "B": (KeyType.ED25519, False),
        "D": (KeyType.ED25519, True),
        "1AAA": (KeyType.K256, False),
        "1AAB": (KeyType.K256, True),
        "1AAI": (KeyType.P256, False),
        "1AAJ": (KeyType.P256, True),
    }
)
_SIGNATURES: Final = MappingProxyType(
    {KeyType.ED25519: "0B", KeyType.K256: "0C", KeyType.P256: "0I"}
)
_DIGESTS: Final[Mapping[str, Callable[[bytes], bytes]]] = MappingProxyType(
    {
        "E": lambda data: blake3(data).digest(),
        "F": lambda data: blake2b(data, digest_size=32).digest(),
        "G": lambda data: blake2s(data).digest(),
        "H": lambda data: sha3_256(data).digest(),
        "I": lambda data: sha256(data).digest(),
        "0D": lambda data: blake3(data).digest(length=64),
        "0E": lambda data: blake2b(data).digest(),
        "0F": lambda data: sha3_512(data).digest(),
        "0G": lambda data: sha512(data).digest(),
    }
)
DIGEST_CODES: Final = tuple(_DIGESTS)
"""Codes of digests, the usual one first."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """A value with its code.

    Attributes:
        code: Of the reference's table.
        raw: The value.
    """

    code: str
    raw: bytes

    def __post_init__(self) -> None:
        size = RAW_BYTES.get(self.code)
        if size is None:
            raise InvalidPrimitive("code", f"{self.code[:8]!r} is no code that is read here")
        if len(self.raw) != size:
            raise InvalidPrimitive("size", f"{self.code} has {size} bytes, not {len(self.raw)}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text form, which must be all of `text`.

        Raises:
            InvalidPrimitive: `code`, `size`, `alphabet` or `pad` (bits that must be zero).
        """
        code = code_of(text)
        length = text_length(code)
        if len(text) != length:
            raise InvalidPrimitive("size", f"{code} has {length} characters, not {len(text)}")
        if _TEXT.fullmatch(text) is None:
            raise InvalidPrimitive("alphabet", "characters other than those of base64url")
        lead = len(code) % 4
        try:
            data = urlsafe_b64decode("A" * lead + text[len(code) :])
        except (Base64Error, ValueError) as bad:
            raise InvalidPrimitive("alphabet", "not base64url") from bad
        pad = -RAW_BYTES[code] % 3
        if any(data[:pad]):
            raise InvalidPrimitive("pad", f"bits before the value of {code} are not zero")
        return cls(code, data[pad:])

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read the binary form, which must be all of `data`.

        Raises:
            InvalidPrimitive: See `parse`.
        """
        if len(data) % 3:
            raise InvalidPrimitive("size", "not a multiple of three bytes")
        return cls.parse(urlsafe_b64encode(data).decode())

    @property
    def qb64(self) -> str:
        """The text form."""
        pad = -len(self.raw) % 3
        text = urlsafe_b64encode(bytes(pad) + self.raw).decode()
        return self.code + text[len(self.code) % 4 :]

    @property
    def qb2(self) -> bytes:
        """The binary form."""
        return urlsafe_b64decode(self.qb64)

    @property
    def is_transferable(self) -> bool:
        """Whether it is a key that may be rotated away from."""
        return self.code in _KEYS and _KEYS[self.code][1]

    def public_key(self) -> PublicKey:
        """Return the key that this is.

        Raises:
            InvalidPrimitive: `key`: it is none, or no point on its curve.
        """
        kind = _KEYS.get(self.code)
        if kind is None:
            raise InvalidPrimitive("key", f"{self.code} is no public key")
        try:
            return PublicKey(kind[0], self.raw)
        except InvalidKey as bad:
            raise InvalidPrimitive("key", str(bad)) from bad

    def verifies(self, key: PublicKey) -> bool:
        """Tell if it is a signature of the type that a key makes."""
        return _SIGNATURES[key.key_type] == self.code


def code_of(text: str) -> str:
    """Return the code that a text begins with.

    Raises:
        InvalidPrimitive: `code`: it is none that is read here.
    """
    size = {"0": 2, "1": 4}.get(text[:1], 1)
    code = text[:size]
    if code not in RAW_BYTES:
        raise InvalidPrimitive("code", f"{code[:8]!r} is no code that is read here")
    return code


def text_length(code: str) -> int:
    """Return the characters of a primitive with a code."""
    raw = RAW_BYTES[code]
    return (raw + -raw % 3) // 3 * 4 + (len(code) if len(code) % 4 == 0 else 0)


def key_primitive(key: PublicKey, *, transferable: bool = True) -> Primitive:
    """Return a public key as a primitive."""
    code = next(c for c, kind in _KEYS.items() if kind == (key.key_type, transferable))
    return Primitive(code, key.public)


def signature_primitive(key: PublicKey, signature: bytes) -> Primitive:
    """Return a signature of a key as a primitive."""
    return Primitive(_SIGNATURES[key.key_type], signature)


def count_signatures(data: bytes, signatures: Mapping[int, str], keys: Sequence[str]) -> int:
    """Check every signature over some bytes and return how many there are.

    Args:
        data: What was signed.
        signatures: Text forms by the place of their key.
        keys: Text forms of the keys.

    Raises:
        InvalidPrimitive: One is no signature of its kind of key, or a key is none.
        BadSignature: One is of no key, or was not made by its key.
    """
    for place, text in signatures.items():
        if not 0 <= place < len(keys):
            raise BadSignature(f"a signature of key {place}, which there is not")
        key = Primitive.parse(keys[place]).public_key()
        signature = Primitive.parse(text)
        if not signature.verifies(key):
            raise InvalidPrimitive("key", "a signature of another kind of key")
        key.verify(data, signature.raw)
    return len(signatures)


def digest(data: bytes, *, code: str = BLAKE3_256) -> Primitive:
    """Return the digest of some bytes.

    Raises:
        InvalidPrimitive: `code`: it is none of a digest.
    """
    make = _DIGESTS.get(code)
    if make is None:
        raise InvalidPrimitive("code", f"{code[:8]!r} is no code of a digest")
    return Primitive(code, make(data))
