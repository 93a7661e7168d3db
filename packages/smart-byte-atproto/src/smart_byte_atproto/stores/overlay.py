"""Writes over a base that is only read: for trying an edit, and for what a commit adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smart_byte_atproto.data.cid import CID

from .base import BlockStore


class OverlayStore:
    """A `BlockStore` that reads through to `base` and keeps writes to itself.

    Iterate over it to get what was written, in the order of writing; `base.put_many(overlay,
    root=overlay.root())` makes it lasting. A block that the base holds is kept here too.
    """

    def __init__(self, base: BlockStore) -> None:
        self._base = base
        self._blocks: dict[CID, bytes] = {}
        self._root: CID | None = None

    def get(self, cid: CID) -> bytes | None:
        block = self._blocks.get(cid)
        return self._base.get(cid) if block is None else block

    def put_many(self, blocks: Iterable[tuple[CID, bytes]], *, root: CID | None = None) -> None:
        self._blocks.update(list(blocks))
        if root is not None:
            self._root = root

    def root(self) -> CID | None:
        return self._base.root() if self._root is None else self._root

    def __iter__(self) -> Iterator[tuple[CID, bytes]]:
        return iter(self._blocks.items())

    def __len__(self) -> int:
        return len(self._blocks)
