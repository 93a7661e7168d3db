"""A Merkle Search Tree: an immutable map from keys to CIDs with one root hash.

Every edit returns another tree that shares the nodes it did not touch, and hashes nothing until
a root is asked for: a hundred edits between two commits hash each changed node once.

Keys are any 1 to 1024 bytes; what a repository allows on top is checked there.

Source: AT Protocol, Repository, MST Structure; reference section 5.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree

from .build import build, check_key, raw_value, sorted_pairs
from .edit import Editor
from .node import EMPTY, MAX_LAYER, Node, RawCID, depth_of
from .source import DEFAULT_CACHE_NODES, Blocks, NodeSource, NoNodes, StoredNodes

_NO_NODES = NoNodes()


class Tree:
    """An immutable Merkle Search Tree.

    Attributes:
        layer: Layer of the root node; 0 for the empty tree.
    """

    __slots__ = ("_root", "_source", "layer")

    def __init__(
        self, root: Node = EMPTY, layer: int = 0, *, source: NodeSource = _NO_NODES
    ) -> None:
        """Wrap a root node. Use `build` or `load` to make a tree from content or from blocks."""
        self._root = root
        self._source = source
        self.layer = layer

    @classmethod
    def build(cls, pairs: Mapping[bytes, CID] | Iterable[tuple[bytes, CID]]) -> Self:
        """Build a tree from all its pairs at once, in time linear in their number once sorted.

        Raises:
            InvalidTreeKey: An empty or over-long key, or the same key twice.
            NotEncodable: A value is not a CIDv1 of the strict form.
        """
        items = pairs.items() if isinstance(pairs, Mapping) else pairs
        return cls(*build(sorted_pairs(items), Node))

    @classmethod
    def load(cls, root: CID, blocks: Blocks, *, cache_nodes: int = DEFAULT_CACHE_NODES) -> Self:
        """Open a tree in a block store; nodes are read when needed.

        Args:
            root: CID of the root node.
            blocks: Where the nodes are.
            cache_nodes: Most decoded nodes kept in memory.

        Raises:
            MissingBlock: The root is not there.
            InvalidTree: The root is malformed. Other nodes are checked when they are read; use
                `validate` on trees of others.
        """
        return cls.open(root.raw, StoredNodes(blocks, cache_nodes=cache_nodes))

    @classmethod
    def open(cls, root: RawCID, source: NodeSource) -> Self:
        """Open a tree whose nodes come from a source. Raises as `load` does."""
        node = source.open(root)
        return cls(node, root_layer(node), source=source)

    @property
    def root(self) -> CID:
        """CID of the root node: the whole content in 32 bytes of hash."""
        return CID(self._root.link)

    @property
    def root_node(self) -> Node:
        """The root node."""
        return self._root

    @property
    def source(self) -> NodeSource:
        """Where stubs are opened."""
        return self._source

    def node(self, slot: Node | RawCID) -> Node:
        """Open a slot of a node of this tree. Raises as `load` does."""
        return self._source.open(slot) if isinstance(slot, bytes) else slot

    def get(self, key: bytes) -> CID | None:
        """Return the value of a key, None where it is absent.

        Raises:
            MissingBlock: A node on the path is not there.
        """
        raw = self.get_raw(key)
        return None if raw is None else CID(raw)

    def get_raw(self, key: bytes) -> RawCID | None:
        """Return the value of a key as 36 bytes."""
        depth = depth_of(key)
        layer = self.layer
        node = self._root
        while depth <= layer:
            at = bisect_left(node.keys, key)
            if at < len(node.keys) and node.keys[at] == key:
                return node.values[at]
            slot = node.trees[at]
            if slot is None:
                return None
            node = self.node(slot)
            layer -= 1
        return None

    def items(
        self, *, start: bytes = b"", stop: bytes | None = None
    ) -> Iterator[tuple[bytes, CID]]:
        """Yield pairs in the order of keys, from `start` (included) to `stop` (excluded).

        Memory is bounded by the path to the current key. Nodes out of the range stay closed.
        """
        stack: list[tuple[Node, int]] = []
        slot: Node | RawCID | None = self._root
        last = b""
        while True:
            while slot is not None:
                if len(stack) > MAX_LAYER:
                    raise InvalidTree("depth", f"a tree has over {MAX_LAYER} layers")
                node = self.node(slot)
                at = bisect_left(node.keys, start)
                stack.append((node, at))
                slot = node.trees[at]
                if at < len(node.keys) and node.keys[at] == start:
                    slot = None
            while stack and stack[-1][1] == len(stack[-1][0].keys):
                stack.pop()
            if not stack:
                return
            node, at = stack.pop()
            key = node.keys[at]
            if stop is not None and key >= stop:
                return
            if key <= last:
                # Slots that link to one node over and over would be walked for ever.
                raise InvalidTree("key-order", "keys do not increase", cid=CID(node.link))
            last = key
            yield key, CID(node.values[at])
            stack.append((node, at + 1))
            slot = node.trees[at + 1]

    def keys(self, *, prefix: bytes = b"") -> Iterator[bytes]:
        """Yield keys in order, only those that start with a prefix."""
        for key, _ in self.items(start=prefix):  # noqa: PERF102 - items has a range, keys a prefix
            if not key.startswith(prefix):
                return
            yield key

    def put(self, key: bytes, value: CID) -> Self:
        """Return a tree with a key inserted or its value replaced.

        Raises:
            InvalidTreeKey: An empty or over-long key.
            NotEncodable: The value is not a CIDv1 of the strict form.
            MissingBlock: A node that the edit has to open is not there.
        """
        return self.put_raw(check_key(key), raw_value(value))

    def put_raw(self, key: bytes, value: RawCID) -> Self:
        """Insert or replace, the value as 36 bytes."""
        depth = depth_of(key)
        root, layer = self._editor().put(self._root, self.layer, key, value, depth=depth)
        return self if root is self._root else self._with(root, layer)

    def remove(self, key: bytes) -> tuple[Self, CID] | None:
        """Return a tree without a key and the value it had; None where it is absent.

        Raises:
            MissingBlock: A node that the edit has to open is not there.
        """
        found = self._editor().remove(self._root, self.layer, key, depth=depth_of(key))
        if found is None:
            return None
        root, layer, value = found
        return self._with(root, layer), CID(value)

    def path(self, key: bytes) -> list[Node]:
        """Return the nodes from the root to a key, or down to the lowest gap it would fall in."""
        nodes = [self._root]
        while len(nodes) <= MAX_LAYER + 1:
            node = nodes[-1]
            at = bisect_left(node.keys, key)
            slot = node.trees[at]
            if slot is None or (at < len(node.keys) and node.keys[at] == key):
                return nodes
            nodes.append(self.node(slot))
        raise InvalidTree("depth", f"a tree has over {MAX_LAYER} layers")

    def nodes(self) -> Iterator[Node]:
        """Yield every node, a parent before its children, left to right.

        Raises:
            InvalidTree: `bounds` or `depth`; so a tree whose slots link to one node over and over
                is not walked for ever.
        """
        stack: list[tuple[Node | RawCID, int, bytes, bytes | None]] = [(self._root, 0, b"", None)]
        while stack:
            slot, fall, low, high = stack.pop()
            if fall > MAX_LAYER:
                raise InvalidTree("depth", f"a tree has over {MAX_LAYER} layers")
            node = self.node(slot)
            keys = node.keys
            if keys and (keys[0] <= low or (high is not None and keys[-1] >= high)):
                raise InvalidTree(
                    "bounds", "keys are not between those of the parent", cid=CID(node.link)
                )
            yield node
            for at in range(len(keys), -1, -1):
                if (tree := node.trees[at]) is not None:
                    left = keys[at - 1] if at else low
                    right = keys[at] if at < len(keys) else high
                    stack.append((tree, fall + 1, left, right))

    def fresh_nodes(self) -> Iterator[Node]:
        """Yield the nodes made in memory since the tree was loaded, a parent before its children.

        These are the blocks that a store must gain before `load` finds this tree there.
        """
        if isinstance(self._source, NoNodes):
            yield from self.nodes()
            return
        stack = [self._root]
        while stack:
            node = stack.pop()
            yield node
            stack += [tree for tree in reversed(node.trees) if isinstance(tree, Node)]

    def over(self, source: NodeSource) -> Self:
        """Return the same tree with stubs opened from another source."""
        return type(self)(self._root, self.layer, source=source)

    def _editor(self) -> Editor[Node]:
        return Editor(Node, self._source.open)

    def _with(self, root: Node, layer: int) -> Self:
        return type(self)(root, layer, source=self._source)

    def __iter__(self) -> Iterator[bytes]:
        return self.keys()

    def __contains__(self, key: bytes) -> bool:
        return self.get_raw(key) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self._root is other._root or self._root.link == other._root.link

    def __hash__(self) -> int:
        return hash(self._root.link)

    def __repr__(self) -> str:
        return f"Tree({self.root})"


def root_layer(node: Node) -> int:
    """Return the layer of a root node.

    Raises:
        InvalidTree: `root-empty`: it has a subtree but no entries.
    """
    if node.keys:
        return depth_of(node.keys[0])
    if node.trees[0] is not None:
        raise InvalidTree("root-empty", "the root has a subtree but no entries")
    return 0
