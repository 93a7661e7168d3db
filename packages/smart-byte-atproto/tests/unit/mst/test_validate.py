from __future__ import annotations

import pytest

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree, MissingBlock, ProofFailed
from smart_byte_atproto.mst import (
    Tree,
    TreeReport,
    validate,
    verify_exclusion,
    verify_inclusion,
)
from smart_byte_atproto.mst.diff import diff
from smart_byte_atproto.mst.node import Node, depth_of

VALUE = CID.of(b"value")
V = VALUE.raw


def keys_of(depth: int, count: int) -> list[bytes]:
    found: list[bytes] = []
    n = 0
    while len(found) < count:
        if depth_of(key := b"k/%06d" % n) == depth:
            found.append(key)
        n += 1
    return found


LOW = keys_of(0, 9)
MIDDLE = keys_of(1, 5)
HIGH = keys_of(2, 9)[4:7]


def node(keys: list[bytes], *trees: Node | None) -> Node:
    return Node(tuple(keys), (V,) * len(keys), trees or (None,) * (len(keys) + 1))


def store(*nodes: Node | None) -> dict[CID, bytes]:
    blocks: dict[CID, bytes] = {}
    for item in nodes:
        if item is not None:
            blocks[CID(item.link)] = item.data
            blocks |= store(*[t for t in item.trees if isinstance(t, Node)])
    return blocks


def refused(root: Node) -> str:
    with pytest.raises(InvalidTree) as caught:
        validate(CID(root.link), store(root))
    return caught.value.code


def test_a_good_tree_is_counted() -> None:
    tree = Tree.build(dict.fromkeys(LOW + MIDDLE + HIGH, VALUE))
    report = validate(tree.root, store(tree.root_node))
    assert report == TreeReport(nodes=report.nodes, entries=17, layers=3)
    assert report.nodes == len(list(tree.nodes()))
    assert validate(Tree().root, store(Tree().root_node)) == TreeReport(1, 0, 1)


def test_refuses_keys_of_several_layers_in_one_node() -> None:
    assert refused(node(sorted([LOW[0], MIDDLE[0]]))) == "key-layer"


def test_refuses_a_child_that_is_not_one_layer_below() -> None:
    between = [key for key in LOW if key < HIGH[0]][:1]
    assert refused(node([HIGH[0]], node(between), None)) == "child-layer"


def test_refuses_a_subtree_below_layer_0() -> None:
    low = sorted(LOW[:2])
    assert refused(node([low[1]], node([low[0]]), None)) == "child-layer"


def test_refuses_a_chain_of_empty_nodes_below_layer_0() -> None:
    deep: Node = node([], node([], node([])))
    assert refused(node([MIDDLE[0]], deep, None)) == "child-layer"


def test_refuses_an_empty_leaf() -> None:
    assert refused(node([MIDDLE[0]], node([]), None)) == "empty-node"


def test_refuses_a_root_that_only_points() -> None:
    assert refused(node([], node([LOW[0]]))) == "root-empty"


def test_refuses_keys_out_of_the_bounds_of_the_parent() -> None:
    middle = MIDDLE[2]
    below = [key for key in LOW if key < middle][:1]
    above = [key for key in LOW if key > middle][:1]
    assert refused(node([middle], node(above), None)) == "bounds"
    assert refused(node([middle], None, node(below))) == "bounds"


def test_refuses_bytes_of_another_hash_and_missing_nodes() -> None:
    tree = Tree.build(dict.fromkeys(LOW + MIDDLE, VALUE))
    blocks = store(tree.root_node)
    child = next(cid for cid in blocks if cid != tree.root)
    with pytest.raises(InvalidTree) as caught:
        validate(tree.root, blocks | {child: blocks[tree.root]})
    assert (caught.value.code, caught.value.cid) == ("hash", child)
    del blocks[child]
    with pytest.raises(MissingBlock) as missing:
        validate(tree.root, blocks)
    assert missing.value.cid == child


def test_bounds_entries_and_nodes() -> None:
    tree = Tree.build(dict.fromkeys(LOW + MIDDLE, VALUE))
    blocks = store(tree.root_node)
    with pytest.raises(InvalidTree) as caught:
        validate(tree.root, blocks, max_nodes=2)
    assert caught.value.code == "nodes"
    with pytest.raises(InvalidTree) as caught:
        validate(tree.root, blocks, max_entries=1)
    assert caught.value.code == "entries"


def test_a_malformed_node_is_named() -> None:
    bad = b"\xa0"
    root = Node((MIDDLE[0],), (V,), (CID.of(bad).raw, None))
    with pytest.raises(InvalidTree, match=str(CID.of(bad))) as caught:
        validate(CID(root.link), {CID(root.link): root.data, CID.of(bad): bad})
    assert caught.value.code == "fields"


def test_very_deep_trees_end_in_an_error_and_not_in_a_crash() -> None:
    # A chain of pointers a thousand nodes deep below a key of layer 2.
    blocks = {}
    link = CID.of(b"end").raw
    for _ in range(1000):
        pointer = Node((), (), (link,))
        blocks[CID(pointer.link)] = pointer.data
        link = pointer.link
    root = Node((HIGH[0],), (V,), (link, None))
    blocks[CID(root.link)] = root.data
    tree = Tree.load(CID(root.link), blocks)
    with pytest.raises(InvalidTree):
        validate(tree.root, blocks)
    with pytest.raises(InvalidTree):
        list(tree.nodes())
    with pytest.raises(InvalidTree):
        list(tree.items())
    with pytest.raises(InvalidTree):
        tree.path(b"a")
    with pytest.raises(InvalidTree):
        diff(tree, Tree())
    above = next(key for key in keys_of(3, 50) if key < HIGH[0])
    with pytest.raises(InvalidTree):
        tree.put(above, VALUE)
    with pytest.raises(InvalidTree):
        tree.remove(HIGH[0])


def test_inversion_of_a_key_in_the_wrong_layer_is_refused() -> None:
    low = LOW[0]
    root = node([MIDDLE[0]], node([low]) if low < MIDDLE[0] else None, None)
    misplaced = Node((low,), (V,), (None, None))
    tree = Tree(misplaced, 1)
    with pytest.raises(InvalidTree):
        tree.put(low, CID.of(b"other"))
    assert validate(CID(root.link), store(root)).layers == 2


def test_proofs_are_refused_for_each_fault() -> None:
    content = dict.fromkeys(LOW + MIDDLE + HIGH, VALUE)
    tree = Tree.build(content)
    key = LOW[4]
    path = {CID(item.link): item.data for item in tree.path(key)}
    verify_inclusion(tree.root, key, VALUE, path)

    def code(prove: object, *arguments: object) -> str:
        with pytest.raises(ProofFailed) as caught:
            prove(tree.root, *arguments)  # type: ignore[operator]
        return caught.value.code

    absent = b"k/absent"
    gap = {CID(item.link): item.data for item in tree.path(absent)}
    verify_exclusion(tree.root, absent, gap)
    assert code(verify_inclusion, key, CID.of(b"other"), path) == "value"
    assert code(verify_inclusion, absent, VALUE, gap) == "absent"
    assert code(verify_exclusion, key, path) == "present"
    assert code(verify_exclusion, key, {}) == "incomplete"
    last = list(path)[-1]
    assert code(verify_exclusion, key, {c: b for c, b in path.items() if c != last}) == "incomplete"
    assert code(verify_inclusion, key, VALUE, path | {last: b"\xa0"}) == "tree"
