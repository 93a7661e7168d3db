from __future__ import annotations

from collections.abc import Callable

import pytest

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree
from smart_byte_atproto.mst import SketchMST
from smart_byte_atproto.mst.sketch import SketchNode, digest_of
from smart_byte_atproto.mst.sketch_difference import (
    MAX_BATCH,
    Conversation,
    SketchReference,
    SketchReply,
    SketchSummary,
    answer,
    compare,
    summary,
)

CONTENT = {b"key/%d" % n: CID.of(b"") for n in range(300)}
OURS = SketchMST.build(CONTENT)
THEIRS = OURS.put(b"key/7", CID.of(b"other"))


def talk(conversation: Conversation, reply: Callable[[int], SketchReply]) -> None:
    request = next(conversation)
    while True:
        request = conversation.send(reply(len(request)))


def refused(remote: SketchSummary, reply: Callable[[int], SketchReply], **options: int) -> str:
    conversation = compare(OURS, remote, **options)
    with pytest.raises(InvalidTree) as caught:
        talk(conversation, reply)
    return caught.value.code


def lie(node: SketchNode, *, layer: int) -> str:
    """Let a peer claim a root that it made up."""
    remote = SketchSummary(node.digest, layer)
    return refused(remote, lambda asked: (node.data,) * asked)


def test_refuses_replies_that_are_not_what_was_asked_for() -> None:
    remote = summary(THEIRS)
    assert refused(remote, lambda asked: ()) == "sketch"
    assert refused(remote, lambda asked: (OURS.root_node.data,) * asked) == "hash"
    assert refused(remote, lambda asked: (b"",) * asked) == "hash"


def test_refuses_trees_of_another_shape() -> None:
    low, value = b"key/1", CID.of(b"").raw
    leaf = SketchNode((low,), (value,), (None, None))
    assert SketchMST.build({low: CID(value)}).layer == 0
    assert lie(leaf, layer=3) == "key-layer"
    assert lie(SketchNode((low,), (value,), (leaf, None)), layer=0) == "child-layer"
    assert refused(SketchSummary(leaf.digest, 129), lambda asked: ()) == "depth"
    assert refused(SketchSummary(leaf.digest, -1), lambda asked: ()) == "depth"
    data = leaf.data + b"\0"
    assert refused(SketchSummary(digest_of(data), 0), lambda asked: (data,)) == "sketch"
    many = (4097).to_bytes(4, "little")
    assert refused(SketchSummary(digest_of(many), 0), lambda asked: (many,)) == "entries"


def test_refuses_keys_out_of_the_range_of_their_parent() -> None:
    root = THEIRS.root_node
    forged = root.with_tree(0, SketchNode(root.keys[:1], root.values[:1], (None, None)))
    remote = SketchSummary(forged.digest, THEIRS.layer)
    replies = iter([(forged.data,)])

    def reply(asked: int) -> SketchReply:
        return next(replies, tuple(t.data for t in forged.trees if t is not None)[:asked])

    assert refused(remote, reply) == "bounds"


def test_bounds_what_is_asked_for_and_answered() -> None:
    assert refused(summary(THEIRS), lambda asked: (), max_nodes=0) == "nodes"
    reference = SketchReference(THEIRS.layer, b"", THEIRS.root)
    with pytest.raises(InvalidTree) as caught:
        answer(THEIRS, (reference,) * (MAX_BATCH + 1))
    assert caught.value.code == "entries"


@pytest.mark.parametrize(
    "reference",
    [
        SketchReference(OURS.layer, b"", OURS.root),
        SketchReference(0, b"key/1", THEIRS.root),
        SketchReference(THEIRS.layer + 1, b"", bytes(32)),
        SketchReference(0, b"zzz", bytes(32)),
    ],
)
def test_a_replica_that_changed_says_so(reference: SketchReference) -> None:
    with pytest.raises(InvalidTree) as caught:
        answer(THEIRS, (reference,))
    assert caught.value.code == "stale"
