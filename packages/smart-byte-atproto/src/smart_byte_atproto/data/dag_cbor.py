"""DAG-CBOR as atproto has it, strict both ways.

Source: atproto data model; IETF RFC 8949 section 4.2; DRISL (DASL).
"""

from __future__ import annotations

from typing import TypeAlias

import cbrrr

from smart_byte_atproto.errors import InvalidData, LimitExceeded, NotCanonical, NotEncodable

from .cid import CID

Value: TypeAlias = "bool | int | str | bytes | CID | list[Value] | dict[str, Value] | None"
"""Anything of the data model."""

MAX_DEPTH = 32

_decode = cbrrr._cbrrr.decode_dag_cbor  # noqa: SLF001
_encode = cbrrr._cbrrr.encode_dag_cbor  # noqa: SLF001


def decode(data: bytes) -> Value:
    """Decode exactly one item."""
    value, end = decode_first(data)
    if end != len(data):
        raise NotCanonical("bytes after the item", at=end)
    return value


def decode_first(data: bytes, offset: int = 0) -> tuple[Value, int]:
    """Decode the item that starts at `offset`; return it and the offset after it."""
    try:
        value, length = _decode(data[offset:], CID.decode, False)
    except ValueError as bad:
        raise NotCanonical(str(bad)) from bad
    _check(value, 0)
    return value, offset + length


def encode(value: Value) -> bytes:
    """Encode a value."""
    try:
        _check(value, 0)
    except InvalidData as bad:
        raise NotEncodable(bad.reason) from bad
    data: bytes = _encode(value, CID, False)
    return data


def _check(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise LimitExceeded("nested too deep", limit=MAX_DEPTH)
    kind = type(value)
    if kind is dict:
        for key, item in value.items():  # type: ignore[attr-defined]
            if type(key) is not str:
                raise InvalidData("map key is not a string")
            _check(item, depth + 1)
    elif kind is list:
        for item in value:  # type: ignore[attr-defined]
            _check(item, depth + 1)
    elif kind is int:
        if not -(1 << 63) <= value < 1 << 63:  # type: ignore[operator]
            raise InvalidData("integer outside 64 bits")
    elif value is not None and kind not in {str, bytes, bool, CID}:
        raise InvalidData(f"{kind.__name__} has no place in the data model")
