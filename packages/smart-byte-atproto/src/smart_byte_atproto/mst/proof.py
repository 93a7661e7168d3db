"""Proofs: few nodes that show a key in, or absent from, the tree behind a root.

A covering proof holds, for each key that a commit touched, the path to the key and to its left
and right neighbours in the new tree: with it anyone can undo the commit's operations.

Source: reference section 5.8.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree, MissingBlock, ProofFailed

from .node import Node, RawCID, depth_of
from .source import StoredNodes
from .tree import Tree


def prove(tree: Tree, key: bytes) -> dict[CID, bytes]:
    """Return the nodes on the path from the root to a key, or to where it would be.

    The same nodes prove presence or absence, whichever holds.
    """
    return {CID(node.link): node.data for node in tree.path(key)}


def verify_inclusion(root: CID, key: bytes, value: CID, nodes: Mapping[CID, bytes]) -> None:
    """Check that a key has a value in the tree behind a root.

    Args:
        root: Root that is trusted.
        key: The key.
        value: The value claimed.
        nodes: Nodes of the proof; hashes are checked here.

    Raises:
        ProofFailed: `incomplete`, `absent`, `value`, or `tree` for a malformed node.
    """
    found = look_up(root, key, nodes)
    if found is None:
        raise ProofFailed("absent", "the key is not in the tree", key=key)
    if found != value:
        raise ProofFailed("value", "the key has another value", key=key)


def verify_exclusion(root: CID, key: bytes, nodes: Mapping[CID, bytes]) -> None:
    """Check that a key is absent from the tree behind a root.

    Raises:
        ProofFailed: `incomplete`, `present`, or `tree` for a malformed node.
    """
    if look_up(root, key, nodes) is not None:
        raise ProofFailed("present", "the key is in the tree", key=key)


def look_up(root: CID, key: bytes, nodes: Mapping[CID, bytes]) -> CID | None:
    """Return the value of a key in the tree behind a root, or None where it is absent.

    Every rule is checked that the path can show, so that nobody can hide a key.

    Raises:
        ProofFailed: `incomplete`, or `tree` for a malformed node.
    """
    source = StoredNodes(nodes)
    try:
        tree = Tree.open(root.raw, source)
        layer = tree.layer
        low: bytes = b""
        high: bytes | None = None
        for node in tree.path(key):
            check_place(node, layer, low=low, high=high)
            at = bisect_left(node.keys, key)
            if at < len(node.keys) and node.keys[at] == key:
                return CID(node.values[at])
            low = node.keys[at - 1] if at else low
            high = node.keys[at] if at < len(node.keys) else high
            layer -= 1
    except MissingBlock as error:
        raise ProofFailed("incomplete", f"the proof lacks node {error.cid}", key=key) from error
    except InvalidTree as error:
        raise ProofFailed("tree", str(error), key=key) from error
    return None


def check_place(node: Node, layer: int, *, low: bytes, high: bytes | None) -> None:
    """Check a node against what its parents say of it.

    Args:
        node: A decoded node, so its own rules hold.
        layer: Layer that the node has to be of.
        low: Key left of the subtree, b"" if none.
        high: Key right of the subtree, None if none.

    Raises:
        InvalidTree: `bounds`, `key-layer`, `child-layer` or `empty-node`.
    """
    cid = CID(node.link)
    keys = node.keys
    if not keys:
        if node.trees[0] is None:
            if low or high is not None or layer:
                raise InvalidTree("empty-node", "a node has neither entries nor subtree", cid=cid)
            return
        if layer <= 0:
            raise InvalidTree("child-layer", "a subtree hangs below layer 0", cid=cid)
        return
    if keys[0] <= low or (high is not None and keys[-1] >= high):
        raise InvalidTree("bounds", "keys are not between those of the parent", cid=cid)
    depths = {depth_of(key) for key in keys}
    if depths != {layer}:
        if len(depths) == 1:
            raise InvalidTree(
                "child-layer", f"a node of layer {depths.pop()} stands at layer {layer}", cid=cid
            )
        raise InvalidTree("key-layer", f"keys of layers {sorted(depths)} share a node", cid=cid)
    if layer == 0 and any(tree is not None for tree in node.trees):
        raise InvalidTree("child-layer", "a subtree hangs below layer 0", cid=cid)


def covering_nodes(tree: Tree, keys: Iterable[bytes]) -> dict[RawCID, Node]:
    """Return the nodes on the paths to keys and to the neighbours of each, in the new tree.

    Args:
        tree: The tree after the changes.
        keys: Keys created, updated or deleted.
    """
    nodes: dict[RawCID, Node] = {}
    for key in keys:
        for node in _paths(tree, key):
            nodes[node.link] = node
    return nodes


def covering_proof(tree: Tree, keys: Iterable[bytes]) -> dict[CID, bytes]:
    """Return the blocks that let others undo changes of these keys. See `covering_nodes`."""
    return {CID(link): node.data for link, node in covering_nodes(tree, keys).items()}


def _paths(tree: Tree, key: bytes) -> Iterator[Node]:
    """Path to a key and on to its neighbours.

    The neighbours of a present key end the edges of the subtrees on its sides. Those of an
    absent key lie on the path itself, which ends in the lowest gap.
    """
    path = tree.path(key)
    yield from path
    node = path[-1]
    at = bisect_left(node.keys, key)
    if at < len(node.keys) and node.keys[at] == key:
        yield from _edge(tree, node.trees[at], side=-1)
        yield from _edge(tree, node.trees[at + 1], side=0)


def _edge(tree: Tree, slot: Node | RawCID | None, *, side: int) -> Iterator[Node]:
    """Go down the left (0) or right (-1) edge of a subtree, to its outermost key."""
    while slot is not None:
        node = tree.node(slot)
        yield node
        slot = node.trees[side]
