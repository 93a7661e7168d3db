from __future__ import annotations

import random
from contextlib import suppress

import pytest

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTreeKey, InversionFailed, MissingBlock, NotEncodable
from smart_byte_atproto.mst import Action, Operation, SketchMST, Tree, invert, record_changes
from smart_byte_atproto.mst.invert import _undo
from smart_byte_atproto.mst.source import SliceNodes

VALUE = CID.parse("bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454")
OTHER = CID.of(b"other")
PREFIX = b"com.example.record/3jqfcqzm3f"
ODD = CID(b"\x01\x71\x13\x40" + bytes(64))


@pytest.mark.parametrize(
    ("keys", "root", "nodes"),
    [
        ([], "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm", 1),
        (
            [b"com.example.record/3jqfcqzm3fo2j"],
            "bafyreibj4lsc3aqnrvphp5xmrnfoorvru4wynt6lwidqbm2623a6tatzdu",
            1,
        ),
        (
            [b"com.example.record/3jqfcqzm3fx2j"],
            "bafyreih7wfei65pxzhauoibu3ls7jgmkju4bspy4t2ha2qdjnzqvoy33ai",
            1,
        ),
        (
            [PREFIX + end for end in (b"p2j", b"r2j", b"s2j", b"t2j")]
            + [b"com.example.record/3jqfcqzm4fc2j"],
            "bafyreicmahysq4n6wfuxo522m6dpiy7z7qzym3dzs756t5n7nfdgccwq7m",
            3,
        ),
    ],
)
def test_known_trees_have_the_known_roots(keys: list[bytes], root: str, nodes: int) -> None:
    tree = Tree.build((key, VALUE) for key in keys)
    assert str(tree.root) == root
    assert len(list(tree.nodes())) == nodes


def test_four_posts_share_one_node_with_long_prefixes() -> None:
    value = CID.parse("bafyreichmiecf7tjp652kfc5p3muegjhvadremxg7xw44pw7down4kn5qa")
    keys = [b"app.bsky.feed.post/3ke6kg3wk2" + end for end in (b"222", b"322", b"422", b"522")]
    tree = Tree.build((key, value) for key in keys)
    assert str(tree.root) == "bafyreidrjhhwpufk366ng5swz3euwvxujzgcansgycg5kmzj62acxltt2q"


def test_refuses_keys_and_values_that_a_tree_cannot_hold() -> None:
    for kind in (Tree, SketchMST):
        for key in (b"", bytes(1025)):
            with pytest.raises(InvalidTreeKey):
                kind().put(key, VALUE)
            with pytest.raises(InvalidTreeKey):
                kind.build([(key, VALUE)])
        with pytest.raises(InvalidTreeKey, match="twice"):
            kind.build([(b"a", VALUE), (b"a", OTHER)])
        with pytest.raises(NotEncodable):
            kind().put(b"a", ODD)
        with pytest.raises(NotEncodable):
            kind.build([(b"a", ODD)])
        assert list(kind().put(bytes(1024), VALUE).items()) == [(bytes(1024), VALUE)]


def test_an_edit_that_changes_nothing_returns_the_same_tree() -> None:
    tree = Tree.build({b"k/%d" % n: VALUE for n in range(50)})
    assert tree.put(b"k/7", VALUE) is tree
    assert tree.remove(b"absent") is None
    sketch = SketchMST.build(tree.items())
    assert sketch.put(b"k/7", VALUE) is sketch
    assert sketch.remove(b"absent") is None
    assert sketch.get(b"absent") is None


def test_a_partial_tree_opens_no_stub_that_it_has_not() -> None:
    tree = Tree.build({b"k/%d" % n: VALUE for n in range(200)})
    partial = Tree.open(tree.root.raw, SliceNodes({tree.root.raw: tree.root_node.data}))
    assert partial.root == tree.root
    with pytest.raises(MissingBlock):
        list(partial.items())
    with pytest.raises(MissingBlock):
        partial.put(b"k/0x", VALUE)


def test_operations_listed_in_another_order_are_undone_deletes_first() -> None:
    # With only the nodes that undoing in the order of paths opens, other orders may need more.
    rng = random.Random(4)
    fallbacks = 0
    for _ in range(300):
        names = [b"k/%02d" % n for n in rng.sample(range(60), 30)]
        one = Tree.build(dict.fromkeys(names[:25], VALUE))
        two = Tree.build(dict.fromkeys(names[3:], VALUE))
        operations = [
            Operation(
                Action.CREATE if change.before is None else Action.DELETE,
                change.key,
                change.after,
                change.before,
            )
            for change in record_changes(one, two)
        ]
        whole = SliceNodes({node.link: node.data for node in two.nodes()})
        assert invert(Tree.open(two.root.raw, whole), operations).root == one.root
        minimal = {link: node.data for link, node in whole.opened.items()}
        rng.shuffle(operations)
        with suppress(MissingBlock):
            _undo(Tree.open(two.root.raw, SliceNodes(minimal)), reversed(operations))
            continue
        # Where the second order needs another node too, the commit is refused.
        with suppress(InversionFailed):
            undone = invert(Tree.open(two.root.raw, SliceNodes(minimal)), operations)
            assert undone.root == one.root
            fallbacks += 1
    assert fallbacks > 0
