"""Write a CAR. The order of blocks is the caller's; repositories export in streamable order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smart_byte_atproto.data import dag_cbor, varint
from smart_byte_atproto.data.cid import CID

MEDIA_TYPE = "application/vnd.ipld.car"


def chunks(roots: Iterable[CID], blocks: Iterable[tuple[CID, bytes]]) -> Iterator[bytes]:
    """Yield a CAR section by section, the header first. Blocks are taken as they are."""
    header = dag_cbor.encode({"roots": list(roots), "version": 1})
    yield varint.encode(len(header)) + header
    for cid, block in blocks:
        yield varint.encode(len(cid.raw) + len(block)) + cid.raw + block


def dump(roots: Iterable[CID], blocks: Iterable[tuple[CID, bytes]]) -> bytes:
    """Return a whole CAR."""
    return b"".join(chunks(roots, blocks))
