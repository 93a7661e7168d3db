from __future__ import annotations

from typing import Any

import pytest

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import InvalidTree
from smart_byte_atproto.mst.codec import decode_node, explain
from smart_byte_atproto.mst.node import DAG_CBOR_PREFIX, EMPTY, Node

VALUE = CID.of(b"value")
TREE = CID.of(b"tree")
RAW = CID.of(b"raw", codec=Codec.RAW)


def entry(key: bytes, prefix: int = 0, **changes: Any) -> dict[str, Any]:
    return {"k": key, "p": prefix, "t": None, "v": VALUE} | changes


def node(*entries: Any, left: Any = None) -> bytes:
    return dag_cbor.encode({"e": list(entries), "l": left})


def test_the_empty_node_has_the_known_cid() -> None:
    assert EMPTY.data.hex() == "a2616580616cf6"
    assert str(CID(EMPTY.link)) == "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm"
    assert decode_node(EMPTY.data).trees == (None,)


def test_reads_every_field_of_a_node() -> None:
    found = decode_node(node(entry(b"k/1", t=TREE), entry(b"2", 2, v=RAW), left=TREE))
    assert found.keys == (b"k/1", b"k/2")
    assert found.values == (VALUE.raw, RAW.raw)
    assert found.trees == (TREE.raw, TREE.raw, None)
    assert found.link == CID.of(found.data).raw


MALFORMED: list[tuple[str, bytes]] = [
    ("cbor", b""),
    ("cbor", node(entry(b"k/1"))[:-1]),
    ("cbor", node(entry(b"k/1")) + b"\x00"),
    ("cbor", b"\xa2\x61l\xf6\x61e\x80"),
    ("cbor", b"\xa2\x61e\x98\x00\x61l\xf6"),
    ("cbor", node(entry(b"k/1")).replace(b"\x61p\x00", b"\x61p\x18\x00")),
    ("cbor", node(entry(b"k/1")).replace(b"\x43k/1", b"\x58\x03k/1")),
    ("fields", b"\x80"),
    ("fields", dag_cbor.encode({"e": []})),
    ("fields", dag_cbor.encode({"l": None})),
    ("fields", dag_cbor.encode({"e": [], "l": None, "x": 1})),
    ("fields", dag_cbor.encode({"e": {}, "l": None})),
    ("fields", dag_cbor.encode({"e": None, "l": None})),
    ("fields", node(left=1)),
    ("fields", node(1)),
    ("fields", node({"k": b"k/1", "p": 0, "v": VALUE})),
    ("fields", node({"k": b"k/1", "p": 0, "t": None})),
    ("fields", node(entry(b"k/1", x=1))),
    ("fields", node(entry(b"k/1", k="k/1"))),
    ("fields", node(entry(b"k/1", p=None))),
    ("fields", node(entry(b"k/1", p=False))),
    ("fields", node(entry(b"k/1", v=None))),
    ("fields", node(entry(b"k/1", v=VALUE.raw))),
    ("fields", node(entry(b"k/1", t=b""))),
    ("link", node(left=RAW)),
    ("link", node(entry(b"k/1", t=RAW))),
    ("key", node(entry(b""))),
    ("key", node(entry(bytes(1025)))),
    ("key", node(entry(b"a" * 1000), entry(b"b" * 100, 1000))),
    ("prefix-range", node(entry(b"k/1", 1))),
    ("prefix-range", node(entry(b"k/1"), entry(b"", 4))),
    ("prefix-range", node(entry(b"k/1", -1))),
    ("prefix-range", node(entry(b"k/1", 70_000))),
    ("prefix", node(entry(b"k/1"), entry(b"/2", 1))),
    ("prefix", node(entry(b"k/1"), entry(b"k/2"))),
    ("prefix", node(entry(b"k/1"), entry(b"1x", 2))),
    ("key-order", node(entry(b"k/2"), entry(b"1", 2))),
    ("key-order", node(entry(b"k/2"), entry(b"", 3))),
    ("key-order", node(entry(b"k/2"), entry(b"", 2))),
]


@pytest.mark.parametrize(
    ("code", "data"), MALFORMED, ids=[f"{n}-{code}" for n, (code, _) in enumerate(MALFORMED)]
)
def test_refuses_a_malformed_node_and_names_the_rule(code: str, data: bytes) -> None:
    with pytest.raises(InvalidTree) as caught:
        decode_node(data)
    assert caught.value.code == code


def test_bounds_the_number_of_entries() -> None:
    data = node(*[entry(b"%05d" % n if n == 0 else b"", 0) for n in range(1)])
    assert decode_node(data, max_entries=1).keys == (b"00000",)
    many = Node(tuple(b"%05d" % n for n in range(300)), (VALUE.raw,) * 300, (None,) * 301).data
    assert len(decode_node(many).keys) == 300
    with pytest.raises(InvalidTree) as caught:
        decode_node(many, max_entries=299)
    assert caught.value.code == "entries"


def test_a_link_of_another_form_is_refused() -> None:
    sha512 = b"\x01\x71\x13\x20" + bytes(32)
    data = node(entry(b"k/1", t=TREE)).replace(TREE.raw, sha512)
    with pytest.raises(InvalidTree):
        decode_node(data)
    assert explain(EMPTY.data).code == "cbor"


def test_a_patched_node_is_encoded_anew_where_its_link_stands_twice() -> None:
    # A record whose CID is that of the subtree, and a key that holds the bytes of the link.
    base = decode_node(node(entry(b"k/1", v=TREE), left=TREE))
    other = Node((b"zzz",), (VALUE.raw,), (None, None))
    patched = base.with_tree(0, other)
    assert patched.data == node(entry(b"k/1", v=TREE), left=CID(other.link))
    base = decode_node(node(entry(b"k" + TREE.raw), left=TREE))
    assert base.with_tree(0, other).data == node(entry(b"k" + TREE.raw), left=CID(other.link))
    base = decode_node(node(entry(b"k/1", t=TREE)))
    assert base.with_tree(1, other).data == node(entry(b"k/1", t=CID(other.link)))
    assert base.with_tree(1, None).data == node(entry(b"k/1"))
    third = Node((b"zzzz",), (VALUE.raw,), (None, None))
    again = base.with_tree(1, other)
    assert again.data == node(entry(b"k/1", t=CID(other.link)))
    assert again.with_tree(1, third).data == node(entry(b"k/1", t=CID(third.link)))
    assert other.link.startswith(DAG_CBOR_PREFIX)
