"""Difference of two trees, at the level of records and of nodes.

Both trees are read as streams of subtrees and entries in the order of keys. Equal subtrees at
the head of both are skipped unopened; otherwise the higher one is opened. The work grows with
the number of nodes that differ, not with the size of the trees.

Source: reference sections 5.3 and 6.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree

from .node import Node, RawCID
from .proof import check_place
from .tree import Tree


@dataclass(frozen=True, slots=True)
class RecordChange:
    """One key whose value differs.

    Attributes:
        key: The key.
        before: Value in the first tree, None where it was created.
        after: Value in the second tree, None where it was deleted.
    """

    key: bytes
    before: CID | None
    after: CID | None


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """What turns one tree into another.

    Attributes:
        records: Changes in the order of keys.
        created: Nodes of the second tree that the first has not, by CID.
        deleted: Nodes of the first tree that the second has not, by CID.
    """

    records: tuple[RecordChange, ...]
    created: dict[CID, bytes]
    deleted: dict[CID, bytes]


class _Entry(NamedTuple):
    key: bytes
    value: RawCID


class _Subtree(NamedTuple):
    slot: Node | RawCID
    layer: int
    low: bytes
    high: bytes | None

    @property
    def link(self) -> RawCID:
        return self.slot if isinstance(self.slot, bytes) else self.slot.link


class _Stream:
    """Subtrees and entries of one tree, in the order of keys."""

    __slots__ = ("_stack", "_tree", "opened")

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._stack: list[_Entry | _Subtree] = [_Subtree(tree.root_node, tree.layer, b"", None)]
        self.opened: dict[RawCID, bytes] = {}

    @property
    def head(self) -> _Entry | _Subtree | None:
        return self._stack[-1] if self._stack else None

    def advance(self) -> None:
        self._stack.pop()

    def expand(self, subtree: _Subtree) -> None:
        """Replace the subtree at the head by what it holds.

        Each node is checked against its place: so an invalid tree is refused, and one whose slots
        link to the same node over and over is not walked for ever.
        """
        self._stack.pop()
        _, layer, low, high = subtree
        if layer < 0:
            raise InvalidTree("child-layer", "a subtree hangs below layer 0")
        node = self._tree.node(subtree.slot)
        check_place(node, layer, low=low, high=high)
        self.opened[node.link] = node.data
        keys = node.keys
        for at in range(len(keys), -1, -1):
            if (tree := node.trees[at]) is not None:
                left = keys[at - 1] if at else low
                right = keys[at] if at < len(keys) else high
                self._stack.append(_Subtree(tree, layer - 1, left, right))
            if at:
                self._stack.append(_Entry(keys[at - 1], node.values[at - 1]))


def record_changes(before: Tree, after: Tree) -> Iterator[RecordChange]:
    """Yield the changed records in the order of keys, opening only nodes that differ.

    Raises:
        InvalidTree: A node that differs is not in its place.
        MissingBlock: A node that differs is not there.
    """
    return _changes(_Stream(before), _Stream(after))


def diff(before: Tree, after: Tree) -> TreeDiff:
    """Compare two trees.

    Raises:
        InvalidTree: A node that differs is not in its place.
        MissingBlock: A node that differs is not there.
    """
    one, two = _Stream(before), _Stream(after)
    records = tuple(_changes(one, two))
    # An equal subtree that follows a changed entry is opened on both sides: not a difference.
    created = {CID(link): data for link, data in two.opened.items() if link not in one.opened}
    deleted = {CID(link): data for link, data in one.opened.items() if link not in two.opened}
    return TreeDiff(records, created, deleted)


def _changes(one: _Stream, two: _Stream) -> Iterator[RecordChange]:
    while True:
        left, right = one.head, two.head
        if isinstance(left, _Subtree):
            if not isinstance(right, _Subtree) or left.layer > right.layer:
                one.expand(left)
            elif left.layer < right.layer:
                two.expand(right)
            elif left.link == right.link:
                one.advance()
                two.advance()
            else:
                one.expand(left)
                two.expand(right)
        elif isinstance(right, _Subtree):
            two.expand(right)
        elif left is None and right is None:
            return
        else:
            yield from _compare(one, left, two, right)


def _compare(
    one: _Stream, left: _Entry | None, two: _Stream, right: _Entry | None
) -> Iterator[RecordChange]:
    """Take the lower of two entries, or both where they have the same key."""
    if left is not None and (right is None or left.key < right.key):
        one.advance()
        yield RecordChange(left.key, CID(left.value), None)
    elif right is not None and (left is None or left.key > right.key):
        two.advance()
        yield RecordChange(right.key, None, CID(right.value))
    elif left is not None and right is not None:
        one.advance()
        two.advance()
        if left.value != right.value:
            yield RecordChange(left.key, CID(left.value), CID(right.value))
