"""Strict validation of a whole tree from an untrusted source.

Each rule of reference section 5.7 has its own code: `hash`, `cbor`, `fields`, `link`, `key`,
`prefix-range`, `prefix`, `key-order`, `bounds`, `key-layer`, `child-layer`, `empty-node`,
`root-empty`, `entries`, `depth`, `nodes`. (Sketch trees add `sketch` for malformed bytes and
`stale` for nodes that a replica no longer has.) Cycles cannot pass: a child stands one layer below
its parent, and a hash cannot hold itself. A node that is not there is MissingBlock.

Source: reference section 5.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree

from .codec import MAX_ENTRIES
from .node import RawCID
from .proof import check_place
from .source import Blocks, StoredNodes
from .tree import root_layer

DEFAULT_MAX_NODES = 10_000_000


@dataclass(frozen=True, slots=True)
class TreeReport:
    """What a valid tree holds.

    Attributes:
        nodes: Number of nodes.
        entries: Number of keys.
        layers: Layer of the root plus one; 1 for the empty tree.
    """

    nodes: int
    entries: int
    layers: int


def validate(
    root: CID,
    blocks: Blocks,
    *,
    max_entries: int = MAX_ENTRIES,
    max_nodes: int = DEFAULT_MAX_NODES,
    check_key: Callable[[bytes], object] | None = None,
    on_entry: Callable[[bytes, CID], object] | None = None,
) -> TreeReport:
    """Read every node of a tree and check every rule.

    Memory is bounded by the path to the current node.

    Args:
        root: Root of the tree.
        blocks: Where its nodes are; hashes are checked here.
        max_entries: Most entries in a node.
        max_nodes: Most nodes in the tree.
        check_key: Further rule for keys; raises an error of its own.
        on_entry: Called with each key and value, in the order of nodes.

    Raises:
        InvalidTree: With the code of the broken rule and the node.
        MissingBlock: A node is not there.
    """
    source = StoredNodes(blocks, cache_nodes=1, max_entries=max_entries)
    link = root.raw
    layer = root_layer(source.open(link))
    layers = layer + 1
    stack: list[tuple[RawCID, int, bytes, bytes | None]] = [(link, layer, b"", None)]
    nodes = entries = 0
    while stack:
        link, layer, low, high = stack.pop()
        nodes += 1
        if nodes > max_nodes:
            raise InvalidTree("nodes", f"over {max_nodes} nodes")
        node = source.open(link)
        check_place(node, layer, low=low, high=high)
        entries += len(node.keys)
        bounds = (low, *node.keys, high)
        stack += [
            (tree, layer - 1, bounds[at] or b"", bounds[at + 1])
            for at, tree in reversed(list(enumerate(node.trees)))
            if isinstance(tree, bytes)
        ]
        for key, value in zip(node.keys, node.values, strict=True):
            if check_key is not None:
                check_key(key)
            if on_entry is not None:
                on_entry(key, CID(value))
    return TreeReport(nodes, entries, layers)
