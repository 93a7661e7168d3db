"""JSON objects of a peer, read strictly.

Refused: member names that occur twice at any depth, NaN and infinities, lone surrogates, text that
is not UTF-8, anything after the object, nesting beyond the interpreter's limit.

The fast way proves the absence of doubles without looking for them: if encoding the decoded value
gives back the very same octets, every member was seen once. Other texts (blanks, escapes) take the
slow way through the standard library with a hook on each object.

Source: RFC 7515 section 4 (member names must be unique), RFC 7519 section 4, RFC 8259.
"""

from __future__ import annotations

import json
import math
from typing import NoReturn

import msgspec

from op_openbanking.errors import ProtocolViolation

_decode = msgspec.json.Decoder(dict[str, object]).decode
_encode = msgspec.json.Encoder().encode


def parse_object(octets: bytes, *, what: str, limit_bytes: int) -> dict[str, object]:
    """Parse one JSON object.

    Args:
        octets: UTF-8 text.
        what: Name of the part, for the error message.
        limit_bytes: Longest text accepted.

    Raises:
        ProtocolViolation: Too long, or not one strict JSON object.
    """
    if len(octets) > limit_bytes:
        raise ProtocolViolation(f"{what} is longer than {limit_bytes} bytes")
    try:
        value = _decode(octets)
        if _encode(value) == octets:
            return value
        return _slow(octets)
    except ProtocolViolation as error:
        raise ProtocolViolation(f"{what} {error}", section="RFC 7515 4") from None
    except (ValueError, RecursionError) as error:
        raise ProtocolViolation(f"{what} is not a JSON object", section="RFC 8259") from error


def encode_object(value: object) -> bytes:
    """Encode a value as compact UTF-8 JSON, members in the order given."""
    return _encode(value)


def _slow(octets: bytes) -> dict[str, object]:
    # msgspec accepted the text already, so it is one object in valid UTF-8 without NaN.
    value: dict[str, object] = json.loads(
        octets, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant
    )
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ProtocolViolation("has a member twice")
    return members


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ProtocolViolation("has a number out of range")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ProtocolViolation(f"has the constant {name}")
