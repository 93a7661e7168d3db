"""Difference of two sketch replicas: a conversation that opens only nodes that are not shared.

The side that wants to know runs `compare`, a generator that yields requests and is sent replies;
the other side runs `answer`. Nobody here talks: a driver carries requests and replies over
whatever connects the replicas. Replies are checked against the hashes asked for, so that a peer
cannot lie about its content; it can only stop.

A remote subtree is shared where a local node of the same layer and range has the same hash. Each
round asks for all open nodes of one layer, so there are as many rounds as layers, about log4(n).

Source: docs/sketch-mst.md.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree

from .diff import RecordChange
from .node import MAX_LAYER, depth_of
from .sketch import SketchMST, SketchNode, decode_sketch_node, digest_of, entries

DEFAULT_MAX_NODES = 1_000_000
MAX_BATCH = 512


@dataclass(frozen=True, slots=True)
class SketchSummary:
    """What replicas exchange first; equal roots end the conversation.

    Attributes:
        root: 32 bytes.
        layer: Layer of the root node.
    """

    root: bytes
    layer: int


@dataclass(frozen=True, slots=True)
class SketchReference:
    """Names a node of the peer.

    Attributes:
        layer: Layer of the node.
        after: Key left of its range, b"" where there is none.
        digest: Its hash, 32 bytes.
    """

    layer: int
    after: bytes
    digest: bytes


SketchRequest = tuple[SketchReference, ...]
SketchReply = tuple[bytes, ...]
Conversation = Generator[SketchRequest, SketchReply, tuple[RecordChange, ...]]


def summary(tree: SketchMST) -> SketchSummary:
    """Return what a replica tells first."""
    return SketchSummary(tree.root, tree.layer)


def answer(tree: SketchMST, request: SketchRequest) -> SketchReply:
    """Return the bytes of the nodes asked for.

    Raises:
        InvalidTree: `entries` for over 512 references, `stale` where this replica has no such
            node: it changed since its summary, or the peer asks for things it was not told of.
    """
    if len(request) > MAX_BATCH:
        raise InvalidTree("entries", f"{len(request)} references; at most {MAX_BATCH} are allowed")
    return tuple(_find(tree, reference).data for reference in request)


def _find(tree: SketchMST, reference: SketchReference) -> SketchNode:
    node: SketchNode | None = tree.root_node
    for _ in range(tree.layer - reference.layer):
        if node is None:
            break
        node = node.trees[bisect_right(node.keys, reference.after)]
    if node is None or node.digest != reference.digest:
        raise InvalidTree("stale", "this replica has no such node")
    return node


def compare(
    tree: SketchMST, remote: SketchSummary, *, max_nodes: int = DEFAULT_MAX_NODES
) -> Conversation:
    """Find what turns this replica into the remote one.

    Args:
        tree: This replica.
        remote: The peer's summary.
        max_nodes: Most nodes to ask for.

    Yields:
        References to at most 512 nodes of the peer; send back what its `answer` returned.

    Returns:
        Changes in the order of keys, `before` being this replica and `after` the remote one.

    Raises:
        InvalidTree: A reply is malformed, has another hash (`hash`), breaks the shape of the tree
            (`key-layer`, `bounds`, `child-layer`), or there is too much of it (`nodes`).
    """
    if remote.root == tree.root:
        return ()
    if not 0 <= remote.layer <= MAX_LAYER:
        raise InvalidTree("depth", f"root layer {remote.layer}; at most {MAX_LAYER}")
    theirs: dict[bytes, bytes] = {}
    shared: set[bytes] = set()
    pending: list[tuple[SketchReference, bytes | None]] = [
        (SketchReference(remote.layer, b"", remote.root), None)
    ]
    asked = 0
    while pending:
        batch, pending = pending[:MAX_BATCH], pending[MAX_BATCH:]
        asked += len(batch)
        if asked > max_nodes:
            raise InvalidTree("nodes", f"over {max_nodes} nodes")
        reply = yield tuple(reference for reference, _ in batch)
        if len(reply) != len(batch):
            raise InvalidTree("sketch", f"{len(reply)} nodes for {len(batch)} references")
        for (reference, before), data in zip(batch, reply, strict=True):
            keys, values, slots = _read(data, reference, before)
            theirs.update(zip(keys, values, strict=True))
            bounds = (reference.after, *keys, before)
            for at, digest in enumerate(slots):
                if digest is None:
                    continue
                low, high = bounds[at] or b"", bounds[at + 1]
                if _holds(tree, reference.layer - 1, low, high, digest):
                    shared.add(digest)
                else:
                    pending.append((SketchReference(reference.layer - 1, low, digest), high))
    ours = dict(entries(tree.root_node, skip=frozenset(shared)))
    return tuple(_changes(ours, theirs))


def _read(
    data: bytes, reference: SketchReference, before: bytes | None
) -> tuple[tuple[bytes, ...], tuple[bytes, ...], tuple[bytes | None, ...]]:
    if digest_of(data) != reference.digest:
        raise InvalidTree("hash", "bytes of a sketch node do not match its hash")
    keys, values, slots = decode_sketch_node(data)
    if keys and (keys[0] <= reference.after or (before is not None and keys[-1] >= before)):
        raise InvalidTree("bounds", "keys are not between those of the parent")
    if any(depth_of(key) != reference.layer for key in keys):
        raise InvalidTree("key-layer", "a key stands in a layer that is not its own")
    if reference.layer == 0 and any(slots):
        raise InvalidTree("child-layer", "a subtree hangs below layer 0")
    return keys, values, slots


def _holds(tree: SketchMST, layer: int, low: bytes, high: bytes | None, digest: bytes) -> bool:
    """Tell whether a local node of this layer, with keys between low and high, has the hash."""
    nodes: Iterator[SketchNode] = iter((tree.root_node,))
    for _ in range(tree.layer - layer):
        nodes = _children(nodes, low, high)
    return tree.layer >= layer and any(node.digest == digest for node in nodes)


def _children(nodes: Iterator[SketchNode], low: bytes, high: bytes | None) -> Iterator[SketchNode]:
    for node in nodes:
        first = bisect_right(node.keys, low)
        last = len(node.keys) if high is None else bisect_left(node.keys, high)
        for tree in node.trees[first : last + 1]:
            if tree is not None:
                yield tree


def _changes(ours: dict[bytes, bytes], theirs: dict[bytes, bytes]) -> Iterator[RecordChange]:
    for key in sorted(ours.keys() | theirs.keys()):
        before, after = ours.get(key), theirs.get(key)
        if before != after:
            yield RecordChange(
                key,
                None if before is None else CID(before),
                None if after is None else CID(after),
            )


def difference(one: SketchMST, two: SketchMST) -> tuple[RecordChange, ...]:
    """Compare two replicas in one process. See `compare`."""
    conversation = compare(one, summary(two))
    try:
        request = next(conversation)
        while True:
            request = conversation.send(answer(two, request))
    except StopIteration as done:
        changes: tuple[RecordChange, ...] = done.value
        return changes
