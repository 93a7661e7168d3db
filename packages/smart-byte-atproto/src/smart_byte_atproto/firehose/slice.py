"""The CAR slice inside a `#commit` or `#sync`: small, whole in memory, every hash checked.

Source: CAR version 1; reference section 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from smart_byte_atproto.data import dag_cbor, varint
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import ATProtoError, InvalidFrame
from smart_byte_atproto.mst.node import CID_BYTES, DAG_CBOR_PREFIX, LINK_HEAD, RAW_PREFIX, RawCID

_PREFIX_BYTES = len(DAG_CBOR_PREFIX)
_MAX_VARINT_BYTES = 9
_MORE = 0x80


@dataclass(frozen=True, slots=True)
class Slice:
    """Blocks of one event.

    Attributes:
        root: First root.
        blocks: Verified blocks by their 36-byte CID.
    """

    root: RawCID
    blocks: dict[RawCID, bytes]


def read_slice(data: bytes) -> Slice:
    """Read a CAR and check the hash of every block.

    Raises:
        InvalidFrame: `car` (malformed or cut off) or `hash`.
    """
    root, at = _read_header(data)
    total = len(data)
    blocks: dict[RawCID, bytes] = {}
    while at < total:
        # Two bytes of length, as nearly every block of a slice has, are read here at once.
        if at + 1 < total and data[at] >= _MORE and 0 < data[at + 1] < _MORE:
            size = data[at] - _MORE | data[at + 1] << 7
            at += 2
        else:
            size, at = _varint(data, at)
        end = at + size
        link = data[at : at + CID_BYTES]
        block = data[at + CID_BYTES : end]
        if end > total or size < CID_BYTES:
            raise InvalidFrame("car", f"section at byte {at} is cut off")
        if link[_PREFIX_BYTES:] != sha256(block).digest() or link[:_PREFIX_BYTES] not in _PREFIXES:
            raise InvalidFrame("hash", f"block at byte {at} does not match its CID")
        blocks[link] = block
        at = end
    return Slice(root, blocks)


def _read_header(data: bytes) -> tuple[RawCID, int]:
    """Return the first root and the offset of the first section."""
    if usual := _USUAL_HEADER.match(data):
        return usual[1], usual.end()
    size, at = _varint(data, 0)
    end = at + size
    try:
        header = dag_cbor.decode(data[at:end])
    except ATProtoError as error:
        raise InvalidFrame("car", f"header is not strict DAG-CBOR: {error}") from error
    if not isinstance(header, dict) or header.get("version") != 1:
        raise InvalidFrame("car", "header is not that of version 1")
    roots = header.get("roots")
    if not isinstance(roots, list) or not roots or not isinstance(roots[0], CID):
        raise InvalidFrame("car", "header without a root")
    return roots[0].raw, end


# {roots: [one dag-cbor CID], version: 1} with its length in front: what all hosts write.
_USUAL_HEADER = re.compile(
    rb"\x3a\xa2\x65roots\x81" + re.escape(LINK_HEAD) + rb"(\x01\x71\x12\x20.{32})"
    rb"\x67version\x01",
    re.DOTALL,
)
_PREFIXES = (DAG_CBOR_PREFIX, RAW_PREFIX)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    for byte in data[at : at + _MAX_VARINT_BYTES]:
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            if not byte and shift:
                raise InvalidFrame("car", f"length before byte {at} is not minimal")
            return value, at
        shift += 7
    raise InvalidFrame("car", f"length at byte {at} is cut off or too long")


def write_slice(root: CID, blocks: Mapping[CID, bytes]) -> bytes:
    """Write a CAR with one root, blocks in the order of the mapping."""
    header = dag_cbor.encode({"roots": [root], "version": 1})
    parts = [varint.encode(len(header)), header]
    for cid, block in blocks.items():
        parts += (varint.encode(len(cid.raw) + len(block)), cid.raw, block)
    return b"".join(parts)
