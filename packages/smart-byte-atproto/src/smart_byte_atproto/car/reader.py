"""Read a CAR from memory or from a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap
from typing import BinaryIO

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import Truncated

from .decoder import CARDecoder
from .section import MAX_BLOCK_BYTES, cut, missing, read_header

_CHUNK_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class CAR:
    """A whole CAR, every block verified.

    Attributes:
        roots: CIDs in the header; the first is the commit in files of repositories.
        blocks: CIDs and bytes in the order of the file, repetitions included.
    """

    roots: tuple[CID, ...]
    blocks: list[tuple[CID, bytes]]

    def decoded(self) -> Iterator[tuple[CID, dag_cbor.Value]]:
        """Yield the blocks decoded strictly; those of the codec raw stay bytes.

        Raises:
            InvalidData: A block is not DAG-CBOR of the strict form.
        """
        for cid, block in self.blocks:
            yield cid, dag_cbor.decode(block) if cid.raw[1] == Codec.DAG_CBOR else block


def load(data: bytes | mmap, *, max_block_bytes: int = MAX_BLOCK_BYTES) -> CAR:
    """Read a CAR that lies in memory (or is mapped there), the fastest way.

    Raises:
        Truncated: It ends inside the header or a section: fetch it again.
        HashMismatch: A block is not what its CID names.
        InvalidData: No CAR of version 1 with strict CIDs.
        LimitExceeded: A block or the header is too long.
    """
    roots, position = read_header(data)
    blocks: list[tuple[CID, bytes]] = []
    position = cut(data, position, blocks.append, max_block_bytes=max_block_bytes)
    if position < len(data):
        raise Truncated("CAR is cut off", needed=missing(data, position), at=position)
    return CAR(roots, blocks)


class CARReader:
    """Read a CAR from a file in bounded memory. The header is read at once.

    Iterate to get CIDs and blocks, each verified. The file is not closed.

    Args:
        file: Open for reading bytes.
        max_block_bytes: Longest block that is taken.

    Raises:
        Truncated: The file ends inside the header or a section; iteration raises it after the
            last whole block.
        InvalidData: No CAR of version 1 with strict CIDs, or a block that is not its CID's.
    """

    def __init__(self, file: BinaryIO, *, max_block_bytes: int = MAX_BLOCK_BYTES) -> None:
        self._file = file
        self._decoder = CARDecoder(max_block_bytes=max_block_bytes)
        self._ready: list[tuple[CID, bytes]] = []
        while self._decoder.roots is None:
            chunk = file.read(_CHUNK_BYTES)
            if not chunk:
                self._decoder.close()
            self._ready = self._decoder.feed(chunk)
        self.roots: tuple[CID, ...] = self._decoder.roots

    def __iter__(self) -> Iterator[tuple[CID, bytes]]:
        yield from self._ready
        self._ready = []
        while chunk := self._file.read(_CHUNK_BYTES):
            yield from self._decoder.feed(chunk)
        self._decoder.close()
