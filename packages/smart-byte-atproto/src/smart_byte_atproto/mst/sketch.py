"""Sketch MST: the shape of a Merkle Search Tree with BLAKE3 node hashes and a 32-byte root.

Not part of AT Protocol: a commitment to the whole state of a set of records that two replicas
compare cheaply. The root depends on the content only, never on the order of insertion; one
change costs a path of about log4(n) hashes. Keys, values, depths and rules of shape are those
of the Merkle Search Tree; only the bytes that are hashed differ, without prefix compression and
without CBOR. The format is written down in docs/sketch-mst.md.

Source: docs/sketch-mst.md; BLAKE3, section 2 (derive_key mode); reference section 5.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from blake3 import blake3

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree

from .build import build, check_key, raw_value, sorted_pairs
from .codec import MAX_ENTRIES
from .edit import Editor
from .node import CID_BYTES, DAG_CBOR_PREFIX, MAX_KEY_BYTES, RAW_PREFIX, depth_of

CONTEXT = "smart-byte-atproto 2026 Sketch MST node v1"
HASH_BYTES = 32
_COUNT_BYTES = 4
_SIZE_BYTES = 2
_NO_TREE = b"\x00"
_TREE = b"\x01"


class SketchNode:
    """A node: immutable, hashed when first asked.

    Attributes:
        keys: Full keys, strictly increasing.
        values: 36-byte CIDs, one for each key.
        trees: Subtrees, one slot more than keys.
    """

    __slots__ = ("_digest", "keys", "trees", "values")

    def __init__(
        self,
        keys: tuple[bytes, ...],
        values: tuple[bytes, ...],
        trees: tuple[SketchNode | None, ...],
    ) -> None:
        self.keys = keys
        self.values = values
        self.trees = trees
        self._digest: bytes | None = None

    def with_tree(self, at: int, tree: SketchNode | bytes | None) -> SketchNode:
        """Return this node with another subtree in slot `at`."""
        assert not isinstance(tree, bytes)  # noqa: S101 - sketch trees hold no stubs
        return SketchNode(self.keys, self.values, (*self.trees[:at], tree, *self.trees[at + 1 :]))

    @property
    def digest(self) -> bytes:
        """BLAKE3 of `data`, 32 bytes."""
        if self._digest is None:
            self._digest = digest_of(self.data)
        return self._digest

    @property
    def data(self) -> bytes:
        """The bytes that are hashed: count, left slot, then key, value and slot of each entry."""
        # Recursion into children is bounded by the number of layers, 128.
        slots = [_NO_TREE if tree is None else _TREE + tree.digest for tree in self.trees]
        parts = [len(self.keys).to_bytes(_COUNT_BYTES, "little"), slots[0]]
        for key, value, slot in zip(self.keys, self.values, slots[1:], strict=True):
            parts += (len(key).to_bytes(_SIZE_BYTES, "little"), key, value, slot)
        return b"".join(parts)


def digest_of(data: bytes) -> bytes:
    """Hash the bytes of a node."""
    return blake3(data, derive_key_context=CONTEXT).digest()


def decode_sketch_node(
    data: bytes, *, max_entries: int = MAX_ENTRIES
) -> tuple[tuple[bytes, ...], tuple[bytes, ...], tuple[bytes | None, ...]]:
    """Decode the bytes of a node from a peer.

    Returns:
        Keys, values and the hashes in the slots.

    Raises:
        InvalidTree: `sketch` for malformed bytes, `entries`, `key`, `key-order` or `link`.
    """
    count = int.from_bytes(data[:_COUNT_BYTES], "little")
    if count > max_entries:
        raise InvalidTree("entries", f"{count} entries; at most {max_entries} are allowed")
    slot, at = _read_slot(data, _COUNT_BYTES)
    keys: list[bytes] = []
    values: list[bytes] = []
    slots = [slot]
    previous = b""
    for index in range(count):
        size = int.from_bytes(data[at : at + _SIZE_BYTES], "little")
        at += _SIZE_BYTES
        key, value = data[at : at + size], data[at + size : at + size + CID_BYTES]
        at += size + CID_BYTES
        if at > len(data):
            raise InvalidTree("sketch", "bytes of a sketch node end early")
        if not 0 < size <= MAX_KEY_BYTES:
            raise InvalidTree("key", f"entry {index}: key of {size} bytes; 1 to {MAX_KEY_BYTES}")
        if key <= previous:
            raise InvalidTree("key-order", f"entry {index}: key is not after the one before it")
        if not value.startswith((DAG_CBOR_PREFIX, RAW_PREFIX)):
            raise InvalidTree("link", f"entry {index}: value is not a CIDv1 of the blessed form")
        slot, at = _read_slot(data, at)
        keys.append(key)
        values.append(value)
        slots.append(slot)
        previous = key
    if at != len(data):
        raise InvalidTree("sketch", f"{len(data) - at} bytes follow a sketch node")
    return tuple(keys), tuple(values), tuple(slots)


def _read_slot(data: bytes, at: int) -> tuple[bytes | None, int]:
    mark = data[at : at + 1]
    if mark == _NO_TREE:
        return None, at + 1
    digest = data[at + 1 : at + 1 + HASH_BYTES]
    if mark != _TREE or len(digest) != HASH_BYTES:
        raise InvalidTree("sketch", f"no subtree slot at byte {at} of a sketch node")
    return digest, at + 1 + HASH_BYTES


def _no_stubs(digest: bytes) -> SketchNode:  # pragma: no cover - sketch trees hold no stubs
    raise AssertionError(digest)


_EDITOR: Editor[SketchNode] = Editor(SketchNode, _no_stubs)
_EMPTY = SketchNode((), (), (None,))


class SketchMST:
    """An immutable set of records with a 32-byte root. Edits share what they do not touch.

    Attributes:
        layer: Layer of the root node; 0 for the empty tree.
    """

    __slots__ = ("_root", "layer")

    def __init__(self, root: SketchNode = _EMPTY, layer: int = 0) -> None:
        """Wrap a root node. Use `build` to make a tree from content."""
        self._root = root
        self.layer = layer

    @classmethod
    def build(cls, pairs: Mapping[bytes, CID] | Iterable[tuple[bytes, CID]]) -> Self:
        """Build a tree from all its pairs at once, in time linear in their number once sorted.

        Raises:
            InvalidTreeKey: An empty or over-long key, or the same key twice.
            NotEncodable: A value is not a CIDv1 of the strict form.
        """
        items = pairs.items() if isinstance(pairs, Mapping) else pairs
        return cls(*build(sorted_pairs(items), SketchNode))

    @property
    def root(self) -> bytes:
        """The commitment: 32 bytes."""
        return self._root.digest

    @property
    def root_node(self) -> SketchNode:
        """The root node."""
        return self._root

    def put(self, key: bytes, value: CID) -> Self:
        """Return a tree with a key inserted or its value replaced.

        Raises:
            InvalidTreeKey: An empty or over-long key.
            NotEncodable: The value is not a CIDv1 of the strict form.
        """
        depth = depth_of(check_key(key))
        root, layer = _EDITOR.put(self._root, self.layer, key, raw_value(value), depth=depth)
        return self if root is self._root else type(self)(root, layer)

    def remove(self, key: bytes) -> tuple[Self, CID] | None:
        """Return a tree without a key and the value it had; None where it is absent."""
        found = _EDITOR.remove(self._root, self.layer, key, depth=depth_of(key))
        if found is None:
            return None
        root, layer, value = found
        return type(self)(root, layer), CID(value)

    def get(self, key: bytes) -> CID | None:
        """Return the value of a key, None where it is absent."""
        node: SketchNode | None = self._root
        while node is not None:
            at = bisect_left(node.keys, key)
            if at < len(node.keys) and node.keys[at] == key:
                return CID(node.values[at])
            node = node.trees[at]
        return None

    def items(self) -> Iterator[tuple[bytes, CID]]:
        """Yield pairs in the order of keys."""
        for key, value in entries(self._root):
            yield key, CID(value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SketchMST):
            return NotImplemented
        return self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def __repr__(self) -> str:
        return f"SketchMST({self.root.hex()})"


def entries(
    node: SketchNode, *, skip: frozenset[bytes] = frozenset()
) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and raw values below a node in order, leaving out subtrees with given hashes."""
    if skip and node.digest in skip:
        return
    for at, tree in enumerate(node.trees):
        if at:
            yield node.keys[at - 1], node.values[at - 1]
        if tree is not None:
            yield from entries(tree, skip=skip)
