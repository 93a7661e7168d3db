from __future__ import annotations

import random

from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.mst import (
    Action,
    Operation,
    Tree,
    covering_proof,
    diff,
    invert,
    record_changes,
    validate,
    verify_exclusion,
    verify_inclusion,
)
from smart_byte_atproto.mst.codec import decode_node
from smart_byte_atproto.mst.node import Node, common_prefix
from smart_byte_atproto.mst.source import SliceNodes, StoredNodes

# Few short keys collide often; binary ones share prefixes of every length.
keys = st.one_of(
    st.integers(0, 60).map(lambda n: b"k/%02d" % n),
    st.sampled_from([b"deep/%d" % n for n in (129, 1031, 1086, 1244, 2084, 3140, 5551)]),
    st.binary(min_size=1, max_size=40),
)
values = st.integers(0, 3).map(lambda n: CID.of(b"%d" % n))
records = st.dictionaries(keys, values, max_size=40)


def store(tree: Tree) -> dict[CID, bytes]:
    return {CID(node.link): node.data for node in tree.nodes()}


@given(records, st.randoms(use_true_random=False))
def test_any_order_of_insertion_gives_the_bulk_built_tree(
    content: dict[bytes, CID], rng: random.Random
) -> None:
    pairs = list(content.items())
    rng.shuffle(pairs)
    tree = Tree()
    for key, value in pairs:
        tree = tree.put(key, value)
    assert tree == Tree.build(content)
    assert tree.layer == Tree.build(content).layer
    assert dict(tree.items()) == content
    assert list(tree) == sorted(content)
    assert validate(tree.root, store(tree)).entries == len(content)


@given(records, records)
def test_a_stored_tree_edited_to_other_content_is_the_tree_of_that_content(
    before: dict[bytes, CID], after: dict[bytes, CID]
) -> None:
    built = Tree.build(before)
    tree = Tree.load(built.root, store(built), cache_nodes=2)
    for key in before.keys() - after.keys():
        removed = tree.remove(key)
        assert removed is not None
        assert removed[1] == before[key]
        tree = removed[0]
    for key, value in after.items():
        tree = tree.put(key, value)
    assert tree == Tree.build(after)
    assert tree.remove(b"not there") is None or b"not there" in after


@given(records, records)
def test_the_difference_of_two_trees_is_the_difference_of_their_content(
    before: dict[bytes, CID], after: dict[bytes, CID]
) -> None:
    one, two = Tree.build(before), Tree.build(after)
    found = diff(one, two)
    nodes_one, nodes_two = store(one), store(two)
    assert found.created == {c: d for c, d in nodes_two.items() if c not in nodes_one}
    assert found.deleted == {c: d for c, d in nodes_one.items() if c not in nodes_two}
    assert {c.key: (c.before, c.after) for c in found.records} == {
        key: (before.get(key), after.get(key))
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key)
    }
    assert list(record_changes(one, two)) == sorted(found.records, key=lambda c: c.key)


def operations_between(one: Tree, two: Tree) -> list[Operation]:
    operations = []
    for change in record_changes(one, two):
        action = Action.UPDATE
        if change.before is None:
            action = Action.CREATE
        elif change.after is None:
            action = Action.DELETE
        operations.append(Operation(action, change.key, change.after, change.before))
    return operations


@given(records, records, st.randoms(use_true_random=False))
def test_undoing_any_operations_on_the_covering_proof_gives_the_old_root(
    before: dict[bytes, CID], after: dict[bytes, CID], rng: random.Random
) -> None:
    one, two = Tree.build(before), Tree.build(after)
    operations = operations_between(one, two)
    proof = covering_proof(two, [op.key for op in operations])
    proof[two.root] = two.root_node.data  # a slice holds the root, even of an empty commit
    partial = SliceNodes({cid.raw: data for cid, data in proof.items()})
    assert invert(Tree.open(two.root.raw, partial), operations).root == one.root
    rng.shuffle(operations)
    whole = SliceNodes({cid.raw: data for cid, data in store(two).items()})
    assert invert(Tree.open(two.root.raw, whole), operations).root == one.root


@given(records, keys)
def test_a_path_proves_presence_or_absence(content: dict[bytes, CID], key: bytes) -> None:
    tree = Tree.build(content)
    path = {CID(node.link): node.data for node in tree.path(key)}
    if key in content:
        verify_inclusion(tree.root, key, content[key], path)
    else:
        verify_exclusion(tree.root, key, path)


@given(records, keys, keys)
def test_a_range_is_the_slice_of_the_sorted_content(
    content: dict[bytes, CID], start: bytes, stop: bytes
) -> None:
    tree = Tree.build(content)
    expected = [(k, v) for k, v in sorted(content.items()) if start <= k < stop]
    assert list(tree.items(start=start, stop=stop)) == expected
    assert list(tree.keys(prefix=start)) == sorted(k for k in content if k.startswith(start))


def as_value(node: Node) -> dag_cbor.Value:
    """The same node as a general DAG-CBOR value, written without any speed in mind."""
    entries: list[dag_cbor.Value] = []
    previous = b""
    links = [
        None if slot is None else CID(slot if isinstance(slot, bytes) else slot.link)
        for slot in node.trees
    ]
    for key, value, tree in zip(node.keys, node.values, links[1:], strict=True):
        shared = common_prefix(previous, key)
        entries.append({"k": key[shared:], "p": shared, "v": CID(value), "t": tree})
        previous = key
    return {"e": entries, "l": links[0]}


@given(st.dictionaries(st.binary(min_size=1, max_size=300), values, max_size=60))
def test_hand_written_encoding_equals_the_general_one(content: dict[bytes, CID]) -> None:
    for node in Tree.build(content).nodes():
        assert node.data == dag_cbor.encode(as_value(node))
        again = decode_node(node.data)
        assert (again.keys, again.values, again.link) == (node.keys, node.values, node.link)
        assert as_value(again) == as_value(node)


class TreeBesideDict(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.tree = Tree()
        self.blocks: dict[CID, bytes] = store(self.tree)
        self.model: dict[bytes, CID] = {}

    @rule(key=keys, value=values)
    def put(self, key: bytes, value: CID) -> None:
        before = self.tree
        root = before.root
        self.tree = before.put(key, value)
        assert before.root == root
        self.model[key] = value

    def drop(self, key: bytes) -> None:
        removed = self.tree.remove(key)
        assert (None if removed is None else removed[1]) == self.model.pop(key, None)
        if removed is not None:
            self.tree = removed[0]

    @rule(key=keys)
    def remove(self, key: bytes) -> None:
        self.drop(key)

    @precondition(lambda self: bool(self.model))
    @rule(data=st.data())
    def remove_present(self, data: st.DataObject) -> None:
        self.drop(data.draw(st.sampled_from(sorted(self.model))))

    @rule()
    def save_and_load(self) -> None:
        self.blocks |= {CID(node.link): node.data for node in self.tree.fresh_nodes()}
        self.tree = Tree.load(self.tree.root, self.blocks)

    @invariant()
    def same_content_and_shape(self) -> None:
        assert dict(self.tree.items()) == self.model
        assert self.tree.root == Tree.build(self.model).root
        for key in list(self.model)[:3]:
            assert self.tree.get(key) == self.model[key]


TreeBesideDict.TestCase.settings = settings(max_examples=30, stateful_step_count=20)
TestTreeBesideDict = TreeBesideDict.TestCase


def test_stored_nodes_keep_no_more_than_asked() -> None:
    tree = Tree.build({b"k/%d" % n: CID.of(b"") for n in range(200)})
    source = StoredNodes(store(tree), cache_nodes=3)
    assert len(list(Tree.open(tree.root.raw, source).items())) == 200
    assert len(source._cache) == 3
