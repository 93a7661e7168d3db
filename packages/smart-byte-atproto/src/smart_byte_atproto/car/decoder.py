"""Read a CAR that arrives in pieces.

Feed what came, take the blocks that became whole. Memory stays below one block and one piece: a
length above the limit is refused when it is read, not when its bytes are there.
"""

from __future__ import annotations

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import Truncated

from .section import MAX_BLOCK_BYTES, cut, missing, read_header


class CARDecoder:
    """A push decoder: `feed` bytes, get verified blocks, `close` at the end of the input.

    After an error the decoder stays where it is; do not feed it again.

    Args:
        max_block_bytes: Longest block that is taken.

    Attributes:
        roots: CIDs in the header, or None until it has arrived. The list may be empty.
    """

    def __init__(self, *, max_block_bytes: int = MAX_BLOCK_BYTES) -> None:
        self.roots: tuple[CID, ...] | None = None
        self._max_block_bytes = max_block_bytes
        self._rest = bytearray()
        self._needed = 1  # length of `_rest` from which on something can be read
        self._base = 0  # offset of `_rest` in the CAR

    def feed(self, data: bytes) -> list[tuple[CID, bytes]]:
        """Take the next bytes; return the blocks that they completed, verified, in order.

        Raises:
            HashMismatch: A block is not what its CID names.
            InvalidData: The input is no CAR of version 1 with strict CIDs.
            LimitExceeded: A block or the header is too long.
        """
        blocks: list[tuple[CID, bytes]] = []
        self._rest += data
        if len(self._rest) < self._needed:
            return blocks
        ready = bytes(self._rest)
        position = 0
        if self.roots is None:
            try:
                self.roots, position = read_header(ready, base=self._base)
            except Truncated as short:
                self._needed = len(ready) + short.needed
                return blocks
        position = cut(
            ready, position, blocks.append, base=self._base, max_block_bytes=self._max_block_bytes
        )
        del self._rest[:position]
        self._base += position
        self._needed = len(self._rest) + missing(ready, position)
        return blocks

    def close(self) -> None:
        """Tell the decoder that there is no more.

        Raises:
            Truncated: The input ended inside the header or a section: fetch it again.
        """
        if self.roots is None:
            raise Truncated("CAR header is cut off", at=self._base)
        if self._rest:
            needed = self._needed - len(self._rest)
            raise Truncated("CAR is cut off", needed=needed, at=self._base)
