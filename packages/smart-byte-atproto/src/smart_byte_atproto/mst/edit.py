"""Insert, update and delete, each returning a tree that shares what did not change.

Works on any node type with `keys`, `values` and `trees`; the Merkle tree and the sketch tree use
it with their own nodes. A slot may be a stub (bytes of a hash); it is opened only where the edit
has to look inside. Recursion is bounded by the number of layers, at most 128.

Source: reference section 5.6.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any, Generic, Protocol, Self, TypeVar

from smart_byte_atproto.errors import InvalidTree

from .node import MAX_LAYER


class TreeNode(Protocol):
    """What an edit needs of a node."""

    keys: tuple[bytes, ...]
    values: tuple[bytes, ...]

    @property
    def trees(self) -> tuple[Self | bytes | None, ...]:
        """Subtree slots, one more than keys."""
        ...

    def with_tree(self, at: int, tree: Self | bytes | None, /) -> Self:
        """Return this node with another subtree in slot `at`."""
        ...


N = TypeVar("N", bound=TreeNode)


class Editor(Generic[N]):
    """Edits of trees whose nodes `make` builds and whose stubs `open_link` opens."""

    __slots__ = ("_make", "_open_link")

    def __init__(
        self,
        make: Callable[[tuple[bytes, ...], tuple[bytes, ...], tuple[Any, ...]], N],
        open_link: Callable[[bytes], N],
    ) -> None:
        self._make = make
        self._open_link = open_link

    def open(self, slot: N | bytes) -> N:
        """Return the node of a slot."""
        return self._open_link(slot) if isinstance(slot, bytes) else slot

    def put(self, root: N, layer: int, key: bytes, value: bytes, *, depth: int) -> tuple[N, int]:
        """Insert a key or replace its value.

        Args:
            root: Root node.
            layer: Its layer.
            key: Key of depth `depth`.
            value: What to store.
            depth: Layer that the key belongs to.

        Returns:
            The root and its layer; the same root object where nothing changed.
        """
        if not root.keys and root.trees[0] is None:
            return self._make((key,), (value,), (None, None)), depth
        if depth <= layer:
            return self._put(root, layer, key, value, depth), layer
        left, right = self._split(root, key)
        below = depth - 1
        slots = (self._raise(left, layer, below), self._raise(right, layer, below))
        return self._make((key,), (value,), slots), depth

    def _put(self, node: N, layer: int, key: bytes, value: bytes, depth: int) -> N:
        keys, values, trees = node.keys, node.values, node.trees
        at = bisect_left(keys, key)
        if at < len(keys) and keys[at] == key:
            if depth != layer:
                raise InvalidTree("key-layer", "a key stands in a layer that is not its own")
            if values[at] == value:
                return node
            return self._make(keys, (*values[:at], value, *values[at + 1 :]), trees)
        slot = trees[at]
        if depth == layer:
            left, right = self._split(slot, key)
            return self._make(
                (*keys[:at], key, *keys[at:]),
                (*values[:at], value, *values[at:]),
                (*trees[:at], left, right, *trees[at + 1 :]),
            )
        if slot is None:
            child = self._raise(self._make((key,), (value,), (None, None)), depth, layer - 1)
        else:
            before = self.open(slot)
            child = self._put(before, layer - 1, key, value, depth)
            if child is before:
                return node
        return node.with_tree(at, child)

    def remove(self, root: N, layer: int, key: bytes, *, depth: int) -> tuple[N, int, bytes] | None:
        """Remove a key.

        Returns:
            The root, its layer and the value that was removed; None where the key is absent.
        """
        if depth > layer:
            return None
        found = self._remove(root, layer, key, depth)
        if found is None:
            return None
        node, value = found
        if node is None:
            return self._make((), (), (None,)), 0, value
        while not node.keys:
            slot = node.trees[0]
            if slot is None:
                raise InvalidTree("empty-node", "a node has neither entries nor a subtree")
            if layer == 0:
                raise InvalidTree("child-layer", "a subtree hangs below layer 0")
            node = self.open(slot)
            layer -= 1
        return node, layer, value

    def _remove(self, node: N, layer: int, key: bytes, depth: int) -> tuple[N | None, bytes] | None:
        keys, trees = node.keys, node.trees
        at = bisect_left(keys, key)
        here = at < len(keys) and keys[at] == key
        if depth == layer:
            return self._cut(node, at) if here else None
        slot = trees[at]
        if here or slot is None:
            return None
        found = self._remove(self.open(slot), layer - 1, key, depth)
        if found is None:
            return None
        child, value = found
        return (node.with_tree(at, child) if keys or child is not None else None), value

    def _cut(self, node: N, at: int) -> tuple[N | None, bytes]:
        """Take entry `at` out of a node; the node goes too where nothing is left of it."""
        keys, values, trees = node.keys, node.values, node.trees
        merged = self._merge(trees[at], trees[at + 1])
        if len(keys) == 1 and merged is None:
            return None, values[at]
        left = self._make(
            keys[:at] + keys[at + 1 :],
            values[:at] + values[at + 1 :],
            (*trees[:at], merged, *trees[at + 2 :]),
        )
        return left, values[at]

    def _raise(self, node: N | None, layer: int, to: int) -> N | None:
        """Wrap a node of one layer in empty parents up to another layer."""
        if node is None:
            return None
        for _ in range(layer, to):
            node = self._make((), (), (node,))
        return node

    def _split(
        self, slot: N | bytes | None, key: bytes, fall: int = 0
    ) -> tuple[N | None, N | None]:
        """Split the subtree of a slot into what is left and right of a key it does not hold."""
        if slot is None:
            return None, None
        if fall > MAX_LAYER:
            raise InvalidTree("depth", f"a tree has over {MAX_LAYER} layers")
        node = self.open(slot)
        keys, values, trees = node.keys, node.values, node.trees
        at = bisect_left(keys, key)
        if at < len(keys) and keys[at] == key:
            raise InvalidTree("key-layer", "a key stands in a layer that is not its own")
        left, right = self._split(trees[at], key, fall + 1)
        return (
            self._make(keys[:at], values[:at], (*trees[:at], left)) if at or left else None,
            self._make(keys[at:], values[at:], (right, *trees[at + 1 :]))
            if at < len(keys) or right
            else None,
        )

    def _merge(
        self, left: N | bytes | None, right: N | bytes | None, fall: int = 0
    ) -> N | bytes | None:
        """Join two neighbouring subtrees of the same layer."""
        if left is None:
            return right
        if right is None:
            return left
        if fall > MAX_LAYER:
            raise InvalidTree("depth", f"a tree has over {MAX_LAYER} layers")
        one, two = self.open(left), self.open(right)
        middle = self._merge(one.trees[-1], two.trees[0], fall + 1)
        return self._make(
            one.keys + two.keys,
            one.values + two.values,
            (*one.trees[:-1], middle, *two.trees[1:]),
        )
