"""Walk DAG-CBOR bytes item by item without building values.

The fast decoder is written in C and says little about what it refuses, and it trusts the lengths
that hostile input declares. This walk checks every rule by itself, says where a rule is broken,
and needs memory only for the containers that are open. It runs before the C code where input is
large enough to do harm, and after it where the reason of a refusal is wanted.

Source: atproto data model; DRISL (DASL); RFC 8949 sections 3 and 4.2.1.
"""

from __future__ import annotations

from smart_byte_atproto.errors import InvalidData, LimitExceeded, NotCanonical

from .cid import CID
from .model import MAX_DEPTH

MAX_ELEMENTS = 131_072
"""Entries of one list or map (recommended data limit)."""

MAX_BYTES = 5_000_000
"""Longest item: a whole firehose frame."""

MAX_KEY_BYTES = 8_192
"""UTF-8 length of a map key (recommended data limit)."""

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _LIST, _MAP, _TAG, _SIMPLE = range(8)
_INLINE = 24  # an argument below this stands in the head itself
_WIDEST = 27  # head with an argument of 8 bytes
_INDEFINITE = 31
_FLOATS = frozenset({25, 26, 27})
_FLOAT64_BYTES = 9  # with its head
_LEAST = (24, 1 << 8, 1 << 16, 1 << 32)  # below it, an argument of 1, 2, 4, 8 bytes is too wide
_LINK_TAG = 42
_CONSTANTS = frozenset({20, 21, 22})  # false, true, null


class _Open:
    """A container whose items are still being read."""

    __slots__ = ("is_map", "key", "left")

    def __init__(self, left: int, *, is_map: bool) -> None:
        self.left = left
        self.is_map = is_map
        self.key: bytes | None = None


def survey(data: bytes, offset: int = 0, *, lenient: bool = False) -> int:
    """Check the one item that starts at `offset`; return the offset after it.

    `lenient` lets 64-bit floats, any CIDv1 and integers of unsigned 64 bits pass.

    Raises:
        NotCanonical: A rule of the canonical form is broken.
        LimitExceeded: Deeper or longer than the limits of this module.
        InvalidData: Not CBOR of the data model at all, or cut off.
    """
    stack: list[_Open] = []
    position = offset
    while True:
        if stack and stack[-1].is_map and stack[-1].left % 2 == 1:
            position = _key(data, position, stack[-1])
        else:
            count, is_map, position = _item(data, position, lenient=lenient)
            if count is not None:
                if len(stack) == MAX_DEPTH:
                    raise LimitExceeded("nested too deep", limit=MAX_DEPTH, at=position - 1)
                stack.append(_Open(2 * count if is_map else count, is_map=is_map))
        if position - offset > MAX_BYTES:
            raise LimitExceeded("item has too many bytes", limit=MAX_BYTES, at=offset)
        while stack and stack[-1].left == 0:
            stack.pop()
        if not stack:
            return position
        stack[-1].left -= 1


def _argument(data: bytes, position: int) -> tuple[int, int]:
    """Read the argument of the head at `position`; return it and the offset after it."""
    info = data[position] & 0x1F
    if info < _INLINE:
        return info, position + 1
    if info > _WIDEST:
        what = "indefinite length" if info == _INDEFINITE else "reserved head"
        raise NotCanonical(what, at=position)
    width = 1 << info - _INLINE
    end = position + 1 + width
    if end > len(data):
        raise InvalidData("item is cut off", at=position)
    argument = int.from_bytes(data[position + 1 : end], "big")
    if argument < _LEAST[info - _INLINE]:
        raise NotCanonical("integer or length is not in its shortest form", at=position)
    return argument, end


def _string(data: bytes, position: int) -> tuple[int, int]:
    """Return where the content of the string at `position` starts and ends."""
    length, start = _argument(data, position)
    if length > len(data) - start:
        raise InvalidData("string is longer than the input", at=position)
    return start, start + length


def _text(data: bytes, position: int) -> tuple[bytes, int]:
    start, end = _string(data, position)
    content = data[start:end]
    try:
        content.decode()
    except UnicodeDecodeError as bad:
        raise InvalidData("text is not UTF-8", at=start + bad.start) from bad
    return content, end


def _key(data: bytes, position: int, container: _Open) -> int:
    """Check a map key and its place; return the offset after it."""
    if position >= len(data):
        raise InvalidData("item is cut off", at=position)
    if data[position] >> 5 != _TEXT:
        raise InvalidData("map key is not text", at=position)
    key, end = _text(data, position)
    if len(key) > MAX_KEY_BYTES:
        raise LimitExceeded("map key is too long", limit=MAX_KEY_BYTES, at=position)
    last = container.key
    if last is not None and (len(last), last) >= (len(key), key):
        what = "map key stands twice" if last == key else "map keys are out of order"
        raise NotCanonical(what, at=position)
    container.key = key
    return end


def _item(data: bytes, position: int, *, lenient: bool) -> tuple[int | None, bool, int]:
    """Check a head, and its content unless it is a container.

    Returns the number of entries of a container (None for all else), if it is a map, and the
    offset after what was read.
    """
    if position >= len(data):
        raise InvalidData("item is cut off", at=position)
    major = data[position] >> 5
    if major in {_LIST, _MAP}:
        count, end = _argument(data, position)
        if count > MAX_ELEMENTS:
            raise LimitExceeded("too many entries", limit=MAX_ELEMENTS, at=position)
        if count > len(data) - end:
            raise InvalidData("container is longer than the input", at=position)
        return count, major == _MAP, end
    if major == _TEXT:
        return None, False, _text(data, position)[1]
    if major == _BYTES:
        return None, False, _string(data, position)[1]
    if major == _TAG:
        return None, False, _link(data, position, lenient=lenient)
    if major == _SIMPLE:
        return None, False, _constant(data, position, lenient=lenient)
    argument, end = _argument(data, position)
    if argument >> 63 and not lenient:
        raise InvalidData("integer outside signed 64 bits", at=position)
    return None, False, end


def _constant(data: bytes, position: int, *, lenient: bool) -> int:
    """Check false, true or null; return the offset after it."""
    info = data[position] & 0x1F
    if info in _CONSTANTS:
        return position + 1
    if lenient and info == _WIDEST and position + _FLOAT64_BYTES <= len(data):
        return position + _FLOAT64_BYTES
    if info in _FLOATS:
        raise InvalidData("float", at=position)
    what = "break without a start" if info == _INDEFINITE else "simple value of no meaning"
    raise InvalidData(what, at=position)


def _link(data: bytes, position: int, *, lenient: bool) -> int:
    """Check a tagged CID; return the offset after it."""
    tag, start = _argument(data, position)
    if tag != _LINK_TAG:
        raise InvalidData(f"tag {tag}", at=position)
    if start >= len(data):
        raise InvalidData("item is cut off", at=position)
    if data[start] >> 5 != _BYTES:
        raise InvalidData("link is not a byte string", at=start)
    begin, end = _string(data, start)
    if data[begin:end][:1] != b"\x00":
        raise InvalidData("link does not start with a zero byte", at=start)
    try:
        CID.decode(data[begin + 1 : end], lenient=lenient)
    except InvalidData as bad:
        raise type(bad)(bad.reason, at=position) from bad
    return end
