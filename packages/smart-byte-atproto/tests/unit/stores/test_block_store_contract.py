from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.stores import BlockStore, MemoryStore, OverlayStore, SQLiteStore

BLOCKS = [(CID.of(text), text) for text in (b"one", b"two", b"three")]

MAKERS: dict[str, Callable[[Path], BlockStore]] = {
    "memory": lambda folder: MemoryStore(),
    "overlay": lambda folder: OverlayStore(MemoryStore()),
    "sqlite": lambda folder: SQLiteStore(folder / "blocks.sqlite"),
}


@pytest.fixture(params=sorted(MAKERS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BlockStore]:
    made = MAKERS[request.param](tmp_path)
    yield made
    if isinstance(made, SQLiteStore):
        made.close()


def test_a_new_store_is_empty(store: BlockStore) -> None:
    assert store.root() is None
    assert store.get(BLOCKS[0][0]) is None


def test_blocks_come_back(store: BlockStore) -> None:
    store.put_many(iter(BLOCKS))
    assert [store.get(cid) for cid, _ in BLOCKS] == [block for _, block in BLOCKS]
    assert store.root() is None


def test_the_root_stays_until_another_is_given(store: BlockStore) -> None:
    store.put_many(BLOCKS[:1], root=BLOCKS[0][0])
    store.put_many(BLOCKS[1:])
    assert store.root() == BLOCKS[0][0]
    store.put_many([], root=BLOCKS[2][0])
    assert store.root() == BLOCKS[2][0]


def test_a_block_may_be_put_twice(store: BlockStore) -> None:
    store.put_many([*BLOCKS, *BLOCKS])
    assert store.get(BLOCKS[1][0]) == b"two"


def test_nothing_is_kept_of_blocks_that_fail_midway(store: BlockStore) -> None:
    def blocks() -> Iterator[tuple[CID, bytes]]:
        yield BLOCKS[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.put_many(blocks(), root=BLOCKS[0][0])
    assert store.get(BLOCKS[0][0]) is None
    assert store.root() is None
    store.put_many(BLOCKS)
    assert store.get(BLOCKS[0][0]) == b"one"


def test_an_overlay_leaves_its_base_alone_until_it_is_poured_out() -> None:
    base = MemoryStore(BLOCKS[:1], root=BLOCKS[0][0])
    overlay = OverlayStore(base)
    assert overlay.get(BLOCKS[0][0]) == b"one"
    assert overlay.root() == BLOCKS[0][0]
    overlay.put_many(BLOCKS[1:], root=BLOCKS[1][0])
    assert base.get(BLOCKS[1][0]) is None
    assert base.root() == BLOCKS[0][0]
    base.put_many(overlay, root=overlay.root())
    assert base.get(BLOCKS[2][0]) == b"three"
    assert base.root() == BLOCKS[1][0]
