"""Blocks in a dictionary: for tests, slices and short work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smart_byte_atproto.data.cid import CID


class MemoryStore:
    """A `BlockStore` that lives as long as the object."""

    def __init__(
        self, blocks: Iterable[tuple[CID, bytes]] = (), *, root: CID | None = None
    ) -> None:
        self._blocks = dict(blocks)
        self._root = root

    def get(self, cid: CID) -> bytes | None:
        return self._blocks.get(cid)

    def put_many(self, blocks: Iterable[tuple[CID, bytes]], *, root: CID | None = None) -> None:
        self._blocks.update(list(blocks))
        if root is not None:
            self._root = root

    def root(self) -> CID | None:
        return self._root

    def __contains__(self, cid: CID) -> bool:
        return cid in self._blocks

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[CID]:
        return iter(self._blocks)
