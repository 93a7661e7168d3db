"""The CAR slice inside a `#commit` or `#sync`: small, whole in memory, every hash checked.

Source: CAR version 1; reference section 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from smart_byte_atproto.car import dump
from smart_byte_atproto.car.section import cut, read_header
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import ATProtoError, HashMismatch, InvalidFrame
from smart_byte_atproto.mst.node import LINK_HEAD, RawCID


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
    blocks: list[tuple[CID, bytes]] = []
    try:
        root, at = _first_root(data)
        end = cut(data, at, blocks.append)
    except HashMismatch as error:
        raise InvalidFrame("hash", error.reason) from error
    except ATProtoError as error:
        raise InvalidFrame("car", str(error)) from error
    if end != len(data):
        raise InvalidFrame("car", f"section at byte {end} is cut off")
    return Slice(root, {cid.raw: block for cid, block in blocks})


# {roots: [one dag-cbor CID], version: 1} with its length in front: what all hosts write.
_USUAL_HEADER = re.compile(
    rb"\x3a\xa2\x65roots\x81" + re.escape(LINK_HEAD) + rb"(\x01\x71\x12\x20.{32})"
    rb"\x67version\x01",
    re.DOTALL,
)


def _first_root(data: bytes) -> tuple[RawCID, int]:
    """Return the first root and the offset of the first section."""
    if usual := _USUAL_HEADER.match(data):
        return usual[1], usual.end()
    roots, at = read_header(data)
    if not roots:
        raise InvalidFrame("car", "header without a root")
    return roots[0].raw, at


def write_slice(root: CID, blocks: Mapping[CID, bytes]) -> bytes:
    """Write a CAR with one root, blocks in the order of the mapping."""
    return dump([root], blocks.items())
