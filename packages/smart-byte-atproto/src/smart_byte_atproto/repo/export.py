"""Blocks of a whole repository in the order of a streamable export.

Commit, root of the tree, then depth-first: the nodes and records of a node in the order in which
its links stand. A record that several paths share is written once, where it stands first.

Source: reference sections 4 (streamable order) and 6.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree, MissingBlock, WriteRefused
from smart_byte_atproto.mst.node import MAX_LAYER, Node, RawCID

from .repo import Repo


def export_blocks(repo: Repo) -> Iterator[tuple[CID, bytes]]:
    """Yield every block of the head of a repository, the commit first.

    Memory is bounded by the path in the tree and 36 bytes for each record.

    Raises:
        WriteRefused: `commit`: there is no commit, or there are changes that none holds.
        MissingBlock: A node or record is not in the store.
    """
    if repo.head is None or repo.head.data != repo.tree.root:
        raise WriteRefused("commit", "changes have to be committed before an export")
    block = repo.head.encode()
    yield CID.of(block), block
    seen: set[RawCID] = set()
    whole: tuple[bytes, bytes | None] = (b"", None)
    stack: list[tuple[Node | RawCID, int, tuple[bytes, bytes | None]] | RawCID] = [
        (repo.tree.root_node, 0, whole)
    ]
    while stack:
        item = stack.pop()
        if isinstance(item, bytes):
            if item not in seen:
                seen.add(item)
                yield CID(item), _record(repo, CID(item))
            continue
        slot, fall, (low, high) = item
        if fall > MAX_LAYER:
            raise InvalidTree("depth", f"a tree has over {MAX_LAYER} layers")
        node = repo.tree.node(slot)
        keys = node.keys
        if keys and (keys[0] <= low or (high is not None and keys[-1] >= high)):
            raise InvalidTree("bounds", "keys are not between those of the parent")
        yield CID(node.link), node.data
        for at in range(len(keys), -1, -1):
            if (tree := node.trees[at]) is not None:
                between = (keys[at - 1] if at else low, keys[at] if at < len(keys) else high)
                stack.append((tree, fall + 1, between))
            if at:
                stack.append(node.values[at - 1])


def _record(repo: Repo, cid: CID) -> bytes:
    block = repo.blocks.get(cid)
    if block is None:
        raise MissingBlock(cid)
    return block
