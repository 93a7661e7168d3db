"""CID: the content identifier of a block.

The form used all over atproto has 36 bytes: `01` (version 1), `71` (dag-cbor) or `55` (raw), `12`
(SHA-256), `20` (32 bytes), digest. As text: `b` and 58 characters of lower-case base32 without
padding. Links inside records of others may use further codecs and hashes; `lenient=True` reads
those and keeps their bytes. CIDv0 is never accepted.

A CID is a type of its own and equal to no bytes, so bytes that look like a CID stay bytes.

Source: multiformats CID specification; DASL CID; atproto data model, "link".
"""

from __future__ import annotations

import hashlib
from binascii import Error as Base64Error
from enum import IntEnum
from typing import Self

import msgspec

from smart_byte_atproto.errors import InvalidData, InvalidSyntax, NotCanonical, Truncated

from . import base32, varint

RAW_BYTES = 36
"""Length of a binary CID of the strict form."""

MAX_BYTES = 100
"""Longest binary CID that the lenient form reads (recommended data limit)."""


class Codec(IntEnum):
    """What a block holds."""

    DAG_CBOR = 0x71
    RAW = 0x55


_PREFIX = {Codec.DAG_CBOR: b"\x01\x71\x12\x20", Codec.RAW: b"\x01\x55\x12\x20"}
_PREFIXES = frozenset(_PREFIX.values())


class CID(msgspec.Struct, frozen=True, gc=False):
    """Identifier of a block: hashable, immutable, never equal to bytes.

    `CID(raw)` itself checks nothing, because decoders make one for every link they pass; `parse`,
    `decode` and `of` are the ways in for everyone else.

    Attributes:
        raw: Binary form; 36 bytes in the strict form.
    """

    raw: bytes

    @classmethod
    def of(cls, block: bytes, *, codec: Codec = Codec.DAG_CBOR) -> Self:
        """Hash `block`."""
        return cls(_PREFIX[codec] + hashlib.sha256(block).digest())

    @classmethod
    def decode(cls, raw: bytes, *, lenient: bool = False) -> Self:
        """Check a binary CID.

        Raises:
            NotCanonical: A CID, but not of the strict form.
            InvalidData: No CID at all.
        """
        if len(raw) == RAW_BYTES and raw[:4] in _PREFIXES:
            return cls(bytes(raw))
        _check_general(bytes(raw))
        if not lenient:
            raise NotCanonical("CID is not version 1, dag-cbor or raw, SHA-256")
        return cls(bytes(raw))

    @classmethod
    def parse(cls, text: str, *, lenient: bool = False) -> Self:
        """Read the base32 text form (59 characters in the strict form).

        Raises:
            InvalidSyntax: Other alphabets, upper case, padding, spare bits, or not a CID.
        """
        if text[:1] != "b" or len(text) > 2 * MAX_BYTES:
            raise InvalidSyntax("cid", text, "must be base32 in lower case with the prefix b")
        try:
            return cls.decode(base32.decode(text[1:]), lenient=lenient)
        except InvalidData as bad:
            raise InvalidSyntax("cid", text, bad.reason) from bad
        except Base64Error as bad:
            raise InvalidSyntax("cid", text, str(bad)) from bad

    @property
    def is_strict(self) -> bool:
        """True for the 36-byte form that atproto writes."""
        return len(self.raw) == RAW_BYTES and self.raw[:4] in _PREFIXES

    @property
    def codec(self) -> int:
        """Content type: a `Codec` in the strict form."""
        return self.raw[1] if self.is_strict else varint.decode(self.raw, 1)[0]

    @property
    def digest(self) -> bytes:
        """Hash of the block: 32 bytes in the strict form."""
        if self.is_strict:
            return self.raw[4:]
        end = varint.decode(self.raw, 1)[1]
        end = varint.decode(self.raw, end)[1]
        return self.raw[varint.decode(self.raw, end)[1] :]

    def verify(self, block: bytes) -> bool:
        """Tell if `block` is what this CID names. False for every hash but SHA-256."""
        return self.is_strict and hashlib.sha256(block).digest() == self.raw[4:]

    def __bytes__(self) -> bytes:
        return self.raw

    def __str__(self) -> str:
        return "b" + base32.encode(self.raw)

    def __repr__(self) -> str:
        return f"CID({self})"

    def __lt__(self, other: CID) -> bool:
        return self.raw < other.raw


def _check_general(raw: bytes) -> None:
    """Check the outer shape of any CIDv1: version, codec, hash, length, digest."""
    if len(raw) > MAX_BYTES:
        raise InvalidData(f"CID is longer than {MAX_BYTES} bytes")
    if raw[:2] == b"\x12\x20":
        raise InvalidData("CID of version 0")
    try:
        version, end = varint.decode(raw)
        if version != 1:
            raise InvalidData(f"CID of unknown version {version}")
        _, end = varint.decode(raw, end)
        _, end = varint.decode(raw, end)
        length, end = varint.decode(raw, end)
    except Truncated as bad:
        raise InvalidData("CID is cut off") from bad
    if length != len(raw) - end or length == 0:
        raise InvalidData("CID whose digest has another length than it says")
