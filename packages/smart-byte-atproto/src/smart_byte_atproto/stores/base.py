"""What every block store does.

A store maps CIDs to block bytes and trusts its writer: whoever puts blocks has made or verified
them. Durable stores remember one root beside the blocks; it changes in the same step as the
blocks that it needs (`put_many(..., root=cid)`), so a crash never leaves a root without blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from smart_byte_atproto.data.cid import CID


class BlockStore(Protocol):
    """Blocks by CID."""

    def get(self, cid: CID) -> bytes | None:
        """Return the block, or None where it is not held."""
        ...

    def put_many(self, blocks: Iterable[tuple[CID, bytes]], *, root: CID | None = None) -> None:
        """Keep all blocks, and the root if one is given, or none of them."""
        ...

    def root(self) -> CID | None:
        """Return the root kept last, or None."""
        ...
