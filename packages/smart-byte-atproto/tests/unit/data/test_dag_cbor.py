from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cbor_survey import survey
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import (
    InvalidData,
    LimitExceeded,
    NotCanonical,
    NotEncodable,
)
from smart_byte_atproto.syntax import DID

LINK = CID.of(b"x")
TAGGED = "d82a582500" + LINK.raw.hex()


def _nested(depth: int, inner: bytes = b"\x80") -> bytes:
    return b"\x81" * (depth - 1) + inner


@pytest.mark.parametrize(
    ("encoded", "error", "at"),
    [
        ("", InvalidData, 0),
        ("18", InvalidData, 0),
        ("1818ff", NotCanonical, 2),
        ("8201", InvalidData, 0),
        ("a161", InvalidData, 1),
        ("a16161", InvalidData, 3),
        ("9b7fffffffffffffff", LimitExceeded, 0),
        ("9a00010000", InvalidData, 0),
        ("bb7fffffffffffffff", LimitExceeded, 0),
        ("5b7fffffffffffffff", InvalidData, 0),
        ("7b7fffffffffffffff", InvalidData, 0),
        ("fb3ff8000000000000", InvalidData, 0),
        ("fa3fc00000", InvalidData, 0),
        ("f93e00", InvalidData, 0),
        ("f7", InvalidData, 0),
        ("f820", InvalidData, 0),
        ("ff", InvalidData, 0),
        ("1c", NotCanonical, 0),
        ("9f01ff", NotCanonical, 0),
        ("7f6161ff", NotCanonical, 0),
        ("1b8000000000000000", InvalidData, 0),
        ("3b8000000000000000", InvalidData, 0),
        ("821b80000000000000003bffffffffffffffff", InvalidData, 1),
        ("a1613bfb3ff8000000000000", InvalidData, 3),
        ("c001", InvalidData, 0),
        ("d9002a" + TAGGED[4:], NotCanonical, 0),
        ("d82a6161", InvalidData, 2),
        ("d82a40", InvalidData, 2),
        ("d82a4101", InvalidData, 2),
        ("d82a", InvalidData, 0),
        ("d82a58250001711e20" + "00" * 32, NotCanonical, 0),
        ("a200010101", InvalidData, 1),
        ("6180", InvalidData, 1),
        ("63eda080", InvalidData, 1),
        ("62c080", InvalidData, 1),
        ("a1614101" + "00", NotCanonical, 4),
    ],
)
def test_refusals_say_where(encoded: str, error: type[InvalidData], at: int) -> None:
    with pytest.raises(error) as caught:
        dag_cbor.decode(bytes.fromhex(encoded))
    assert caught.value.at == at


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1,
        (1 << 63) - 1,
        -(1 << 63),
        "",
        "ä€😀\x00",
        b"",
        b"\xfb\x1b\xff;\xff" * 10,
        LINK,
        [],
        {},
        {"": 1, "a": {"b": [LINK, None]}, ";ä": ["\x1bä", ";é"]},
        {"text": "待って" * 100},
        ["ä" * 40] * 3,
        list(range(300)),
        {f"k{i}": i for i in range(2000)},
        [[[{"a": [LINK] * 400}]]],
    ],
)
def test_values_round_trip(value: Any) -> None:
    data = dag_cbor.encode(value)
    again = dag_cbor.decode(data)
    assert again == value
    assert type(again) is type(value)
    assert survey(data) == len(data)
    assert dag_cbor.decode_lenient(data) == value


def test_true_is_no_integer() -> None:
    assert dag_cbor.encode([True, 1, False, 0]).hex() == "84f501f400"
    assert dag_cbor.decode(bytes.fromhex("84f501f400")) == [True, 1, False, 0]
    value = dag_cbor.decode(bytes.fromhex("82f501"))
    assert isinstance(value, list)
    assert [type(item) for item in value] == [bool, int]


@pytest.mark.parametrize("inner", [b"\x80", b"\xa0"])
@pytest.mark.parametrize("padding", [0, 2_000, 20_000, 200_000])
def test_nesting_ends_at_32(inner: bytes, padding: int) -> None:
    long = b"\x82" + dag_cbor.encode("x" * padding)
    assert dag_cbor.decode(long + _nested(31, inner))
    with pytest.raises(LimitExceeded):
        dag_cbor.decode(long + _nested(32, inner))
    with pytest.raises(LimitExceeded):
        dag_cbor.decode(_nested(33, inner))
    assert dag_cbor.decode(_nested(32, inner))


@pytest.mark.parametrize("depth", [1_000, 4_000, 100_000, 1_000_000])
def test_deep_nesting_ends_quickly_and_without_recursion(depth: int) -> None:
    with pytest.raises(InvalidData):
        dag_cbor.decode(_nested(depth))
    with pytest.raises(InvalidData):
        dag_cbor.decode(b"\xa1\x60" * depth)


@pytest.mark.parametrize("size", [300, 1_000, 5_000, 100_000, 1_000_000])
def test_declared_lengths_take_no_memory(size: int) -> None:
    for head in (b"\x9a\x00\x01", b"\x99\xff", b"\x98\xff", b"\x97"):
        with pytest.raises(InvalidData):
            dag_cbor.decode((head + b"\x00\x00" * (len(head) > 2)) * (size // 5))


def test_depth_hidden_beside_text_and_constants_is_seen() -> None:
    for filler in (b"\xf4", b"\x63\xe3\x81\x82", b"\x18\xc3", b"\x42\xe3\x81"):
        with pytest.raises(LimitExceeded):
            dag_cbor.decode((b"\x82" + filler) * 33 + b"\x00")


def test_an_item_has_at_most_five_megabytes() -> None:
    exact = dag_cbor.MAX_BYTES - 5
    assert dag_cbor.decode(dag_cbor.encode(b"x" * exact)) == b"x" * exact
    with pytest.raises(LimitExceeded):
        dag_cbor.decode(dag_cbor.encode(b"x" * (exact + 1)))


def test_containers_and_keys_have_limits() -> None:
    assert dag_cbor.decode(dag_cbor.encode([0] * 131_072))
    with pytest.raises(LimitExceeded):
        dag_cbor.decode(dag_cbor.encode([0] * 131_073))
    assert dag_cbor.decode(dag_cbor.encode({"k" * 8_192: 0}))
    with pytest.raises(LimitExceeded):
        dag_cbor.decode(dag_cbor.encode({"k" * 8_193: 0}))


def test_items_back_to_back_are_read_one_by_one() -> None:
    first, second = dag_cbor.encode({"op": 1}), dag_cbor.encode({"blocks": b"\x97" * 20_000})
    data = first + second
    value, end = dag_cbor.decode_first(data)
    assert (value, end) == ({"op": 1}, len(first))
    assert dag_cbor.decode_first(data, end) == ({"blocks": b"\x97" * 20_000}, len(data))
    with pytest.raises(NotCanonical, match="after"):
        dag_cbor.decode(data)
    with pytest.raises(InvalidData):
        dag_cbor.decode_first(data, len(data))
    for filler in (b"", b"\x40", dag_cbor.encode(b"x" * 5_000), dag_cbor.encode(b"x" * 50_000)):
        bad = first + b"\x82" + (filler or b"\x00") + b"\xfb" + bytes(8)
        with pytest.raises(InvalidData, match="float") as caught:
            dag_cbor.decode_first(bad, len(first))
        assert caught.value.at == len(bad) - 9


def test_a_huge_input_is_left_at_the_limit() -> None:
    with pytest.raises(LimitExceeded):
        dag_cbor.decode_first((b"\x9a\x00\x01\x00\x00" + b"\x00" * 65_535) * 100)


def test_lenient_reads_floats_and_other_links_but_no_other_form() -> None:
    data = bytes.fromhex("83fb3ff80000000000001bffffffffffffffffd82a58190001551114" + "00" * 20)
    sha1 = CID(bytes.fromhex("01551114") + bytes(20))
    assert dag_cbor.decode_lenient(data) == [1.5, 2**64 - 1, sha1]
    nan, infinity = "fb7ff8000000000000", "fb7ff0000000000000"
    for encoded in (nan, infinity, "f93e00", "1801", "0000", "d82a40", "fb00"):
        with pytest.raises(InvalidData):
            dag_cbor.decode_lenient(bytes.fromhex(encoded))


class Number(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"a": [1, 2.0]}, "a/1", "float"),
        ({"a": {"b": float("nan")}}, "a/b", "float"),
        ({"a": 1 << 63}, "a", "64 bits"),
        ([-(1 << 63) - 1], "0", "64 bits"),
        ({1: 2}, "", "not a string"),
        ({b"a": 2}, "", "not a string"),
        ({"a": {None: 1}}, "a", "not a string"),
        ({"a": "\ud800"}, "a", "surrogate"),
        ({"a": {"\ud800": 1}}, "a", "surrogate"),
        ({"a": (1, 2)}, "a", "tuple"),
        ({"a": bytearray(b"x")}, "a", "bytearray"),
        ({"a": memoryview(b"x")}, "a", "memoryview"),
        ({"a": {1}}, "a", "set"),
        ({"a": object()}, "a", "object"),
        ({"a": Number.ONE}, "a", "Number"),
        ({"a": DID("did:plc:abc")}, "a", "DID"),
        ({"a": OrderedDict()}, "a", "OrderedDict"),
        ({"a": CID(b"\x01")}, "a", "strict form"),
        (1.5, "", "float"),
    ],
)
def test_what_has_no_place_is_not_written(value: Any, path: str, reason: str) -> None:
    with pytest.raises(NotEncodable, match=reason) as caught:
        dag_cbor.encode(value)
    assert caught.value.path == path


def test_cycles_and_depth_are_not_written() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    wide: dict[str, Any] = {}
    wide["a"] = [wide, wide]
    deep: Any = []
    for _ in range(32):
        deep = [deep]
    for value in (cycle, deep):
        with pytest.raises(NotEncodable, match="nested deeper"):
            dag_cbor.encode(value)
    assert dag_cbor.decode(dag_cbor.encode(deep[0])) == deep[0]


def test_lists_that_hold_one_another_over_and_over_are_refused() -> None:
    shared: list[Any] = []
    for _ in range(27):
        shared = [shared, shared]
    endless: list[Any] = []
    endless += [endless, endless]
    for value in (shared, endless):
        with pytest.raises(NotEncodable):
            dag_cbor.encode(value)
