"""One node of a Merkle Search Tree and its bytes.

A node holds n keys and n + 1 subtree slots: slot i stands left of key i, slot n right of all
keys. A slot is None, a node in memory, or the 36 bytes of a CID (a stub: known by hash only).
On the wire a node is the DAG-CBOR map {e: [{k, p, t, v}], l}, where p counts the bytes that a
key shares with the key before it in the same node.

CIDs are kept as their 36 bytes inside the tree: at a million entries an object for each costs
more than the work. `Tree` takes and gives CID objects.

Encoding is written out by hand because the shape is fixed; a property test holds it equal to
`dag_cbor.encode` of the same map.

Source: AT Protocol, Repository, MST Structure; reference sections 5.1 to 5.3.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TypeAlias

RawCID: TypeAlias = bytes
CID_BYTES = 36
DAG_CBOR_PREFIX = b"\x01\x71\x12\x20"
RAW_PREFIX = b"\x01\x55\x12\x20"

# The reference implementation's limit for keys of repositories.
MAX_KEY_BYTES = 1024
# 256 bits in chunks of two: no key can be deeper.
MAX_LAYER = 128

LINK_HEAD = b"\xd8\x2a\x58\x25\x00"
NULL = b"\xf6"
ENTRIES_HEAD = b"\xa2\x61e"
LEFT_HEAD = b"\x61l"
_TREE_NULL = b"\x61t" + NULL
_TREE_LINK = b"\x61t" + LINK_HEAD
_VALUE_LINK = b"\x61v" + LINK_HEAD


def _head(major: int, count: int) -> bytes:
    """Encode a CBOR head in the shortest form (RFC 8949, section 4.2.1)."""
    if count < 24:  # noqa: PLR2004 - RFC 8949, section 3
        return bytes([major << 5 | count])
    for information, size in ((24, 1), (25, 2), (26, 4)):
        if count < 1 << 8 * size:
            return bytes([major << 5 | information]) + count.to_bytes(size)
    raise ValueError(count)


# Heads of the lengths that occur, computed once: {k: bytes(n)} starts an entry, p follows.
KEY_HEADS = tuple(b"\xa4\x61k" + _head(2, size) for size in range(MAX_KEY_BYTES + 1))
PREFIX_FIELDS = tuple(b"\x61p" + _head(0, size) for size in range(MAX_KEY_BYTES + 1))
_LIST_HEADS = tuple(_head(4, count) for count in range(256))


def list_head(count: int) -> bytes:
    """Encode the head of a list."""
    return _LIST_HEADS[count] if count < len(_LIST_HEADS) else _head(4, count)


def depth_of(key: bytes) -> int:
    """Return the layer that a key belongs to: leading zero bits of its SHA-256, halved.

    Source: reference section 5.1 (fanout 4).
    """
    digest = sha256(key).digest()
    if first := digest[0]:
        return (8 - first.bit_length()) >> 1
    return (256 - int.from_bytes(digest).bit_length()) >> 1


def common_prefix(left: bytes, right: bytes) -> int:
    """Count the bytes at the start that two keys share."""
    size = min(len(left), len(right))
    left, right = left[:size], right[:size]
    if left == right:
        return size
    difference = int.from_bytes(left) ^ int.from_bytes(right)
    return size - ((difference.bit_length() + 7) >> 3)


class Node:
    """A node: immutable, hashed when first asked.

    Attributes:
        keys: Full keys, strictly increasing.
        values: 36-byte CIDs, one for each key.
        trees: Subtree slots, one more than keys: None, a node, or a 36-byte CID.
    """

    __slots__ = ("_base", "_data", "_link", "keys", "trees", "values")

    def __init__(
        self,
        keys: tuple[bytes, ...],
        values: tuple[RawCID, ...],
        trees: tuple[Node | RawCID | None, ...],
        data: bytes | None = None,
        link: RawCID | None = None,
    ) -> None:
        """Make a node. Bytes and CID may be given where they are known to belong to it."""
        self.keys = keys
        self.values = values
        self.trees = trees
        self._data = data
        self._link = link
        self._base: tuple[bytes, RawCID, Node] | None = None

    def with_tree(self, at: int, tree: Node | RawCID | None) -> Node:
        """Return this node with another subtree in slot `at`."""
        before = self.trees[at]
        node = Node(self.keys, self.values, (*self.trees[:at], tree, *self.trees[at + 1 :]))
        if self._data is not None and type(tree) is Node:
            old = before.link if type(before) is Node else before
            if type(old) is bytes:
                node._base = self._data, old, tree
        return node

    @property
    def data(self) -> bytes:
        """The DAG-CBOR bytes."""
        if self._data is None:
            self._data = self._patch() or self._encode()
            self._base = None
        return self._data

    def _patch(self) -> bytes | None:
        """Exchange the one link that differs in the bytes of the node that this one came from.

        Most nodes that an edit makes differ from the old ones in one subtree only. Keys and
        values may hold the bytes of that link as well: then all is encoded anew.
        """
        if self._base is None:
            return None
        data, before, tree = self._base
        if data.count(before) != 1:
            return None
        return data.replace(before, tree.link)

    @property
    def link(self) -> RawCID:
        """The CID, 36 bytes."""
        if self._link is None:
            self._link = DAG_CBOR_PREFIX + sha256(self.data).digest()
        return self._link

    def _encode(self) -> bytes:
        # Recursion into children is bounded by the number of layers, 128.
        keys = self.keys
        count = len(keys)
        parts = [ENTRIES_HEAD, list_head(count)]
        trees = iter(self.trees)
        left = next(trees)
        previous = b""
        for key, value, tree in zip(keys, self.values, trees, strict=True):
            shared = common_prefix(previous, key)
            parts += (
                KEY_HEADS[len(key) - shared],
                key[shared:],
                PREFIX_FIELDS[shared],
                _TREE_NULL
                if tree is None
                else _TREE_LINK + (tree if type(tree) is bytes else tree.link),  # type: ignore[union-attr]
                _VALUE_LINK,
                value,
            )
            previous = key
        if left is None:
            parts += (LEFT_HEAD, NULL)
        else:
            parts += (LEFT_HEAD, LINK_HEAD, left if isinstance(left, bytes) else left.link)
        return b"".join(parts)

    def __repr__(self) -> str:
        return f"Node({len(self.keys)} keys)"


EMPTY = Node((), (), (None,))
