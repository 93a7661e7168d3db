"""Merkle Search Trees of 100,000 keys: bulk build, and one insert with the root after it.

Peers have no bulk build: theirs is one insert after the other, as their users have to do it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.mst import SketchMST, Tree

KEYS = 100_000
BUILD = "MST bulk build of 100,000 keys"
INSERT = "one insert and root in 100,000 keys"
SKETCH_BUILD = "sketch bulk build of 100,000 keys"
SKETCH_INSERT = "sketch insert and root in 100,000 keys"
TARGETS = {(BUILD, "atmst"): 30.0, (INSERT, "atmst"): 1.0}
INSERTS = 500
Pair = tuple[str, bytes]


def pairs(count: int = KEYS) -> list[Pair]:
    rng = random.Random(1)
    return [
        (
            f"app.bsky.feed.post/3k{rng.getrandbits(55):011x}"[:32],
            b"\x01\x71\x12\x20" + rng.randbytes(32),
        )
        for _ in range(count)
    ]


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure() -> Iterator[tuple[str, str, float, str]]:
    """Yield case, library, value and unit; lower is better for all."""
    content, more = pairs(), pairs(KEYS + INSERTS)[KEYS:]
    rows = [row for library in (ours, atmst, arroba) for row in library(content, more)]
    for case in (BUILD, INSERT, SKETCH_BUILD, SKETCH_INSERT):
        yield from (row for row in rows if row[0] == case)


def ours(content: list[Pair], more: list[Pair]) -> Iterator[tuple[str, str, float, str]]:
    parsed = [(key.encode(), CID(raw)) for key, raw in content]
    build = min(timed(lambda: Tree.build(parsed).root) for _ in range(3))
    yield BUILD, "smart-byte", build, "s"
    tree = Tree.build(parsed)
    blocks = {CID(node.link): node.data for node in tree.nodes()}
    stored = Tree.load(tree.root, blocks)
    inserts = [(key.encode(), CID(raw)) for key, raw in more]
    for label, base in (("smart-byte", tree), ("smart-byte, from a store", stored)):
        total = timed(lambda base=base: [base.put(key, cid).root for key, cid in inserts])  # type: ignore[misc]
        yield INSERT, label, total / len(inserts) * 1e6, "us"
    sketch = min(timed(lambda: SketchMST.build(parsed).root) for _ in range(3))
    yield SKETCH_BUILD, "smart-byte", sketch, "s"
    base_sketch = SketchMST.build(parsed)
    assert base_sketch.root
    total = timed(lambda: [base_sketch.put(key, cid).root for key, cid in inserts])
    yield SKETCH_INSERT, "smart-byte", total / len(inserts) * 1e6, "us"


def atmst(content: list[Pair], more: list[Pair]) -> Iterator[tuple[str, str, float, str]]:
    try:
        from atmst.all import MemoryBlockStore, NodeStore, NodeWrangler  # noqa: PLC0415 - a peer
        from cbrrr import CID as PeerCID  # noqa: N811, PLC0415 - a peer
    except ImportError:
        return
    nodes = NodeStore(MemoryBlockStore())
    wrangler = NodeWrangler(nodes)
    root = nodes.get_node(None).cid
    parsed = [(key, PeerCID(raw)) for key, raw in content]
    start = time.perf_counter()
    for key, cid in parsed:
        root = wrangler.put_record(root, key, cid)
    yield BUILD, "atmst", time.perf_counter() - start, "s"
    inserts = [(key, PeerCID(raw)) for key, raw in more]
    total = timed(lambda: [wrangler.put_record(root, key, cid) for key, cid in inserts])
    yield INSERT, "atmst", total / len(inserts) * 1e6, "us"


def arroba(content: list[Pair], more: list[Pair]) -> Iterator[tuple[str, str, float, str]]:
    try:
        from arroba.mst import MST  # noqa: PLC0415 - a peer
        from multiformats import CID as PeerCID  # noqa: N811, PLC0415 - a peer
    except ImportError:
        return
    parsed = [(key, PeerCID.decode(raw)) for key, raw in content]
    tree = MST.create()
    start = time.perf_counter()
    for key, cid in parsed:
        tree = tree.add(key, cid)
    tree.get_pointer()
    yield BUILD, "arroba", time.perf_counter() - start, "s"
    inserts = [(key, PeerCID.decode(raw)) for key, raw in more]
    total = timed(lambda: [tree.add(key, cid).get_pointer() for key, cid in inserts])
    yield INSERT, "arroba", total / len(inserts) * 1e6, "us"


if __name__ == "__main__":
    for case, who, value, unit in measure():
        print(f"{case:36} {who:26} {value:12.3f} {unit}")
