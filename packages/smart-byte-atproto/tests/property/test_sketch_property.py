from __future__ import annotations

import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from hypothesis import given, strategies as st

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.mst import RecordChange, SketchMST, difference
from smart_byte_atproto.mst.sketch_difference import SketchRequest, answer, compare, summary

keys = st.one_of(
    st.integers(0, 60).map(lambda n: b"k/%02d" % n), st.binary(min_size=1, max_size=40)
)
values = st.integers(0, 3).map(lambda n: CID.of(b"%d" % n))
records = st.dictionaries(keys, values, max_size=40)


def oracle(content: dict[bytes, CID]) -> bytes:
    """Root by the definition in docs/sketch-mst.md, from the sorted list and nothing else."""

    def depth(key: bytes) -> int:
        bits = "".join(f"{byte:08b}" for byte in sha256(key).digest())
        return (len(bits) - len(bits.lstrip("0"))) // 2

    def node(pairs: list[tuple[bytes, CID]], layer: int) -> bytes:
        gaps: list[list[tuple[bytes, CID]]] = [[]]
        here = []
        for key, value in pairs:
            if depth(key) == layer:
                here.append((key, value))
                gaps.append([])
            else:
                gaps[-1].append((key, value))
        slots = [b"\1" + node(gap, layer - 1) if gap else b"\0" for gap in gaps]
        body = len(here).to_bytes(4, "little") + slots[0]
        for (key, value), slot in zip(here, slots[1:], strict=True):
            body += len(key).to_bytes(2, "little") + key + value.raw + slot
        context = "smart-byte-atproto 2026 Sketch MST node v1"
        return blake3(body, derive_key_context=context).digest()

    return node(sorted(content.items()), max(map(depth, content), default=0))


VECTORS = json.loads((Path(__file__).parents[1] / "data/sketch_mst.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_published_vectors_of_the_format(vector: dict[str, Any]) -> None:
    content = {bytes.fromhex(key): CID.parse(cid) for key, cid in vector["pairs"]}
    tree = SketchMST.build(content)
    assert tree.root.hex() == vector["root"] == oracle(content).hex()
    assert tree.root_node.data.hex() == vector["root_node"]
    assert tree.layer == vector["layer"]


@given(records, st.randoms(use_true_random=False))
def test_the_root_is_that_of_the_sorted_list_whatever_the_order(
    content: dict[bytes, CID], rng: random.Random
) -> None:
    pairs = list(content.items())
    rng.shuffle(pairs)
    tree = SketchMST()
    for key, value in pairs:
        tree = tree.put(key, value)
    assert tree.root == oracle(content) == SketchMST.build(content).root
    assert tree == SketchMST.build(content)
    assert dict(tree.items()) == content
    assert len(tree.root) == 32


@given(records, records)
def test_the_difference_of_replicas_is_the_difference_of_their_content(
    ours: dict[bytes, CID], theirs: dict[bytes, CID]
) -> None:
    one, two = SketchMST.build(ours), SketchMST.build(theirs)
    changes = difference(one, two)
    assert {c.key: (c.before, c.after) for c in changes} == {
        key: (ours.get(key), theirs.get(key))
        for key in ours.keys() | theirs.keys()
        if ours.get(key) != theirs.get(key)
    }
    for change in changes:
        if change.after is not None:
            one = one.put(change.key, change.after)
        else:
            removed = one.remove(change.key)
            assert removed is not None
            assert removed[1] == change.before
            one = removed[0]
    assert one.root == two.root
    assert {key: one.get(key) for key in theirs} == theirs


@pytest.mark.parametrize("changed", [1, 5, 50])
def test_only_nodes_that_differ_are_asked_for(changed: int) -> None:
    rng = random.Random(changed)
    content = {b"key/%d" % n: CID.of(b"") for n in range(5000)}
    one = SketchMST.build(content)
    two = one
    for key in rng.sample(sorted(content), changed):
        two = two.put(key, CID.of(b"other"))
    asked = rounds = 0
    changes: tuple[RecordChange, ...] = ()
    conversation = compare(one, summary(two))
    request: SketchRequest = next(conversation)
    while True:
        rounds += 1
        asked += len(request)
        try:
            request = conversation.send(answer(two, request))
        except StopIteration as done:
            changes = done.value
            break
    assert len(changes) == changed
    assert rounds <= two.layer + 1
    assert asked <= changed * (two.layer + 1)


def test_equal_replicas_need_no_conversation() -> None:
    tree = SketchMST.build({b"k/%d" % n: CID.of(b"") for n in range(100)})
    with pytest.raises(StopIteration) as done:
        next(compare(tree, summary(SketchMST.build(tree.items()))))
    assert done.value.value == ()
