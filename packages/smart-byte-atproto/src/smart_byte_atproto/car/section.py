"""Cut a CAR into sections and verify them. Shared by every way of reading.

A CAR is a row of sections, each an unsigned varint and that many bytes. The first holds the header,
the others a CID and the block it names. Every block is hashed and compared with its CID, because a
CAR without that check proves nothing.

Source: IPLD "CARv1"; atproto reference, section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from mmap import mmap

from smart_byte_atproto.data import dag_cbor, varint
from smart_byte_atproto.data.cid import CID, RAW_BYTES
from smart_byte_atproto.errors import HashMismatch, InvalidData, LimitExceeded, Truncated

MAX_HEADER_BYTES = 65_536
"""Longest header, by our choice: more than a thousand roots."""

MAX_BLOCK_BYTES = 5_000_000
"""Longest block unless the caller says otherwise; records have at most 1 MiB."""

_MORE = 0x80
_DAG_CBOR = b"\x01\x71\x12\x20"
_RAW = b"\x01\x55\x12\x20"


def read_header(data: bytes | mmap, *, base: int = 0) -> tuple[tuple[CID, ...], int]:
    """Read the header at the start of `data`; return the roots and the offset after it.

    Raises:
        Truncated: The data ends before the header does.
        InvalidData: No header of version 1.
    """
    length, start = _length(data, 0, base=base)
    if length == 0:
        raise InvalidData("CAR header is empty", at=base)
    if length > MAX_HEADER_BYTES:
        raise LimitExceeded("CAR header is too long", limit=MAX_HEADER_BYTES, at=base)
    end = start + length
    if end > len(data):
        raise Truncated("CAR header is cut off", needed=end - len(data), at=base)
    try:
        header = dag_cbor.decode(data[start:end])
    except InvalidData as bad:
        raise InvalidData(f"CAR header is not DAG-CBOR: {bad}", at=base) from bad
    if not isinstance(header, dict) or "version" not in header:
        raise InvalidData("CAR header has no version", at=base)
    version = header["version"]
    if version is True or version != 1:
        raise InvalidData(f"CAR of version {version!r}", at=base)
    roots = header.get("roots")
    if not isinstance(roots, list) or len(header) != len(("roots", "version")):
        raise InvalidData("CAR header must have roots and version", at=base)
    links = tuple(root for root in roots if isinstance(root, CID))
    if len(links) != len(roots):
        raise InvalidData("root of CAR is not a link", at=base)
    return links, end


def cut(
    data: bytes | mmap,
    position: int,
    keep: Callable[[tuple[CID, bytes]], object],
    *,
    base: int = 0,
    max_block_bytes: int = MAX_BLOCK_BYTES,
) -> int:
    """Hand every whole section from `position` on to `keep`; return where the first cut one starts.

    `base` is the offset of `data` in the whole CAR, for error messages.

    Raises:
        HashMismatch: A block is not what its CID names.
        InvalidData: A section that cannot be, or a CID that is not of the strict form.
        LimitExceeded: A block is longer than `max_block_bytes`.
    """
    size = len(data)
    limit = max_block_bytes + RAW_BYTES
    while position < size:
        length = data[position]
        start = position + 1
        if length >= _MORE:
            # Nearly every block takes two bytes; the general reader is for the rest and for errors.
            if start < size and 0 < data[start] < _MORE:
                length += (data[start] << 7) - _MORE
                start += 1
            else:
                try:
                    length, start = _length(data, position, base=base)
                except Truncated:
                    return position
        if not RAW_BYTES <= length <= limit:
            raise _bad_length(length, max_block_bytes, base + position)
        end = start + length
        if end > size:
            return position
        raw = data[start : start + RAW_BYTES]
        block = data[start + RAW_BYTES : end]
        digest = sha256(block).digest()
        if raw != _DAG_CBOR + digest and raw != _RAW + digest:
            raise _mismatch(raw, base + start)
        keep((CID(raw), block))
        position = end
    return position


def missing(data: bytes | mmap, position: int) -> int:
    """Tell how many bytes the section at `position` lacks at least; 1 where its length is cut."""
    try:
        length, start = _length(data, position, base=0)
    except Truncated:
        return 1
    return start + length - len(data)


def _length(data: bytes | mmap, position: int, *, base: int) -> tuple[int, int]:
    """Read a section length; offsets in errors count from the start of the CAR."""
    try:
        number, end = varint.decode(data[position : position + varint.MAX_BYTES])
    except Truncated as bad:
        raise Truncated(bad.reason, at=base + position) from bad
    except InvalidData as bad:
        raise type(bad)(bad.reason, at=base + position) from bad
    return number, position + end


def _bad_length(length: int, max_block_bytes: int, at: int) -> InvalidData:
    if length < RAW_BYTES:
        return InvalidData("section of a CAR is shorter than a CID", at=at)
    return LimitExceeded("block in a CAR is too long", limit=max_block_bytes, at=at)


def _mismatch(raw: bytes, at: int) -> InvalidData:
    """Say what is wrong with a block whose CID is not the one its bytes give."""
    try:
        return HashMismatch(CID.decode(raw), at=at)
    except InvalidData as bad:
        return type(bad)(f"block of a CAR: {bad.reason}", at=at)
