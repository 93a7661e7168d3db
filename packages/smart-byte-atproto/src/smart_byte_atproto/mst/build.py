"""Bottom-up construction of a tree from sorted pairs, in linear time.

One open node for each layer. A key of depth d closes the layers below d, each closed node
becoming the subtree left of the key in the layer above it, and joins layer d. Every key is
appended once and every node closed once.

Source: reference sections 5.3 and 5.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTreeKey, NotEncodable

from .node import MAX_KEY_BYTES, RawCID, depth_of

N = TypeVar("N")
# Keys, values and left subtrees of the open node of a layer.
_Layer: TypeAlias = tuple[list[bytes], list[RawCID], list[N | None]]


def check_key(key: bytes) -> bytes:
    """Return the key if a tree can hold it.

    Raises:
        InvalidTreeKey: Empty, or over 1024 bytes.
    """
    if not 0 < len(key) <= MAX_KEY_BYTES:
        raise InvalidTreeKey(f"{len(key)} bytes; a key has 1 to {MAX_KEY_BYTES}")
    return key


def raw_value(value: CID) -> RawCID:
    """Return the 36 bytes of a value that a tree can hold.

    Raises:
        NotEncodable: It is not a CIDv1 of the strict form.
    """
    if not value.is_strict:
        raise NotEncodable(f"value of a tree is not a CID of the strict form: {value}")
    return value.raw


def sorted_pairs(items: Iterable[tuple[bytes, CID]]) -> list[tuple[bytes, RawCID]]:
    """Sort pairs by key and check every key.

    Raises:
        InvalidTreeKey: An empty or over-long key, or the same key twice.
        NotEncodable: A value is not a CIDv1 of the strict form.
    """
    ordered = sorted([(key, raw_value(value)) for key, value in items])
    previous = b""
    for key, _ in ordered:
        if key == previous or len(key) > MAX_KEY_BYTES:
            check_key(key)
            raise InvalidTreeKey(f"{key[:80]!r} occurs twice")
        previous = key
    return ordered


def build(
    pairs: Iterable[tuple[bytes, bytes]],
    make: Callable[[tuple[bytes, ...], tuple[bytes, ...], tuple[N | None, ...]], N],
) -> tuple[N, int]:
    """Build the tree of sorted pairs.

    Args:
        pairs: Key and value, keys strictly increasing and not empty.
        make: Makes a node of keys, values and subtrees.

    Returns:
        The root and its layer; for no pairs the empty node and 0.
    """
    layers: list[_Layer[N]] = [([], [], [])]
    for key, value in pairs:
        depth = depth_of(key)
        while len(layers) <= depth:
            layers.append(([], [], []))
        subtree = _close(layers, depth, make) if depth else None
        keys, values, trees = layers[depth]
        keys.append(key)
        values.append(value)
        trees.append(subtree)
    root = _close(layers, len(layers), make)
    if root is None:
        return make((), (), (None,)), 0
    return root, len(layers) - 1


def _close(
    layers: list[_Layer[N]],
    count: int,
    make: Callable[[tuple[bytes, ...], tuple[bytes, ...], tuple[N | None, ...]], N],
) -> N | None:
    """Close the lowest `count` layers and return the subtree that they make, None for nothing."""
    subtree: N | None = None
    for layer in range(count):
        keys, values, trees = layers[layer]
        if keys:
            subtree = make(tuple(keys), tuple(values), (*trees, subtree))
            layers[layer] = ([], [], [])
        elif subtree is not None:
            subtree = make((), (), (subtree,))
    return subtree
