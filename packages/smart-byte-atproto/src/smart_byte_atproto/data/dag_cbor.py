"""DAG-CBOR as atproto has it, strict both ways.

One form for each value: shortest integers and lengths, definite lengths, keys sorted by length and
then by bytes, no key twice, no floats, no tag but 42, integers of signed 64 bits, UTF-8 without
surrogates, one item and nothing after it. Containers nest at most 32 deep, hold at most 131,072
entries, and an item has at most 5 MB.

How it is done. `cbrrr` (C) builds the values. It leaves open: floats, integers of more than 63
bits, links of any kind, depth, and the memory that declared lengths take. Looking at every value
again in Python costs nearly as much as decoding, so the cheapest proof that it is not needed is
sought first:

- Small records without links are mostly text, lists of text, and maps of text two levels down (a
  reply, a like, a follow). A short loop sees that, and stops where it meets anything else.
- A float begins with the byte `fb`. Where that byte is nowhere, there is no float. (It is in no
  UTF-8 text, so it turns up by chance only in digests.)
- An integer of 64 bits begins with `1b` or `3b` and its next byte is 80 or above.
- A container begins with a byte from 80 to bb. Where at most 32 bytes of the input are in that
  range, nothing can be nested deeper than 32. `len(data) - len(data.decode("utf-8", "ignore"))`
  counts at least all of them, because none of them starts a character.

Where nothing is proved, the values are looked at one by one.

Input of up to 1 KiB cannot make the C code take more than some 2 MB for lengths that it declares.
Longer input is surveyed first, unless it has few bytes that could head a long list.

Source: atproto data model; DRISL (DASL); RFC 8949 section 4.2; limits: atproto data limits.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, cast

from cbrrr import _cbrrr  # the C functions themselves: a call less

from smart_byte_atproto.errors import InvalidData, NotCanonical, NotEncodable

from .cbor_survey import MAX_BYTES, survey
from .cid import CID
from .model import MAX_DEPTH, GenericValue, Value, find_problem, has_only_values

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "GenericValue",
    "Value",
    "decode",
    "decode_first",
    "decode_lenient",
    "encode",
]

_decode = cast("Callable[[bytes, object, bool], tuple[Value, int]]", _cbrrr.decode_dag_cbor)
_encode = cast("Callable[[object, type, bool], bytes]", _cbrrr.encode_dag_cbor)

# First bytes of items that cbrrr takes and we do not.
_FLOAT64, _UINT64, _NEGATIVE64 = 0xFB, 0x1B, 0x3B
_TAG = 0xD8  # first byte of a link

_SMALL = 1_024
_MEDIUM = 8_192
_MEMORY = 4 << 20  # bytes that declared list lengths may take before the input is surveyed first
_LONG_LISTS = b"\x98\x99\x9a\x9b"
_SLOT = 8  # bytes that the C code takes for each declared entry of a list

# Two searches for a literal byte first are five times faster than one for a set of bytes.
_big_positive = re.compile(rb"\x1b[\x80-\xff]").search
_big_negative = re.compile(rb"\x3b[\x80-\xff]").search
_LINK_PREFIXES = frozenset({b"\x01\x71\x12\x20", b"\x01\x55\x12\x20"})


def decode(data: bytes) -> Value:  # noqa: C901, PLR0912  see the comment inside
    """Decode exactly one item.

    Raises:
        NotCanonical: The item is not in the one form allowed, or bytes follow it.
        LimitExceeded: Too deep, too long or too many.
        InvalidData: Not CBOR of the data model at all, or cut off.
    """
    size = len(data)
    if size > _SMALL:
        value, end = _decode_long(data)
    else:
        try:
            value, end = _decode(data, _link, False)
        except (ValueError, InvalidData) as bad:
            raise _reason(data, bad) from bad
        if _TAG in data or type(value) is not dict:
            _check(data, value)
        else:
            # Written out here and not in a function of its own: a call would cost 3 percent.
            for item in value.values():
                if type(item) is str:
                    continue
                if type(item) is list:
                    for entry in item:
                        if type(entry) is not str:
                            break
                    else:
                        continue
                elif type(item) is dict:
                    for entry in item.values():
                        if type(entry) is str:
                            continue
                        if type(entry) is not dict:
                            break
                        for leaf in entry.values():
                            if type(leaf) is not str:
                                break
                        else:
                            continue
                        break
                    else:
                        continue
                _check(data, value)
                break
    if end != size:
        raise NotCanonical("bytes after the item", at=end)
    return value


def decode_first(data: bytes, offset: int = 0) -> tuple[Value, int]:
    """Decode the item that starts at `offset`; return it and the offset after it.

    For firehose frames, which are two items back to back. Same checks and errors as `decode`,
    but what follows the item is left alone.
    """
    if len(data) - offset > _MEDIUM:
        end = survey(data, offset)
        return _decode_guarded(data[offset:end])[0], end
    rest = data[offset:]
    try:
        if len(rest) > _SMALL:
            value, length = _decode_long(rest)
        else:
            value, length = _decode_guarded(rest)
            _check(rest, value)
    except InvalidData:
        survey(data, offset)  # raises the same with the offset in `data`
        raise
    return value, offset + length


def decode_lenient(data: bytes) -> GenericValue:
    """Decode one item of generic DAG-CBOR, for reading what others have stored.

    Two rules give way, both named by the reference as found in records: a link may be any CIDv1
    of up to 100 bytes, and 64-bit floats that are finite may stand for numbers. Integers may fill
    all that CBOR carries (-2^64 to 2^64 - 1). The canonical form is asked for as ever, and the
    limits hold. What was read this way encodes again only if it is within the strict rules.

    Raises:
        NotCanonical: The item is not in the one form allowed, or bytes follow it.
        LimitExceeded: Too deep, too long or too many.
        InvalidData: Not DAG-CBOR at all, or cut off.
    """
    survey(data, lenient=True)
    try:
        value, end = _decode(data, partial(CID.decode, lenient=True), False)
    except ValueError as bad:
        raise InvalidData(str(bad)) from bad
    if end != len(data):
        raise NotCanonical("bytes after the item", at=end)
    return cast("GenericValue", value)


def encode(value: Value) -> bytes:
    """Encode a value in its one form.

    Raises:
        NotEncodable: A float, a key that is no string, an integer of more than 64 bits, a lone
            surrogate, nesting beyond 32 (a cycle too), or any type outside the data model,
            subclasses of its types included; with the path to it.
    """
    if not has_only_values(value):
        raise _objection(value)
    try:
        return _encode(value, CID, False)
    except (ValueError, TypeError) as bad:
        raise _objection(value) from bad


def _link(raw: bytes) -> CID:
    if raw[:4] in _LINK_PREFIXES and len(raw) == 36:  # noqa: PLR2004  one link, one comparison
        return CID(raw)
    return CID.decode(raw)  # raises, and says why


def _decode_guarded(data: bytes) -> tuple[Value, int]:
    try:
        return _decode(data, _link, False)
    except (ValueError, InvalidData) as bad:
        raise _reason(data, bad) from bad


def _decode_long(data: bytes) -> tuple[Value, int]:
    """Decode input whose declared lengths could ask for much memory."""
    if len(data) <= _MEDIUM:
        long_lists = len(data) - len(data.translate(None, _LONG_LISTS))
        if long_lists * len(data) * _SLOT <= _MEMORY:
            value, end = _decode_guarded(data)
            _check(data, value)
            return value, end
    return _decode_guarded(data[: survey(data)])


def _reason(data: bytes, bad: Exception) -> Exception:
    """Say where and why `data` is refused; `bad` is what the C code made of it."""
    try:
        survey(data)
    except InvalidData as found:
        return found
    return NotCanonical(str(bad))


def _check(data: bytes, value: Value) -> None:
    """Ask the bytes, and where they prove nothing look at every value.

    Raises:
        InvalidData: A value is outside the data model.
        LimitExceeded: Nested too deep.
    """
    if (
        _FLOAT64 in data
        or (_NEGATIVE64 in data and _big_negative(data))
        or (_UINT64 in data and _big_positive(data))
        or len(data) - len(data.decode("utf-8", "ignore")) > MAX_DEPTH
    ) and not has_only_values(value):
        survey(data)


def _objection(value: object) -> NotEncodable:
    problem = find_problem(value)
    if problem is None:
        return NotEncodable("value is outside the data model")
    return NotEncodable(problem.reason, path=problem.path)
