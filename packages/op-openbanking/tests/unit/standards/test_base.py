from __future__ import annotations

import json
from decimal import Decimal

import msgspec
import pytest
from msgspec import UNSET

from op_openbanking.errors import MalformedBody
from op_openbanking.standards.base import Maybe, Number, Remainder, Wire, decode, encode


class Leaf(Wire, frozen=True, kw_only=True, rename="pascal"):
    name: str
    rate: Maybe[Number] = UNSET
    count: Maybe[int] = UNSET


class Tree(Wire, frozen=True, kw_only=True, rename="pascal"):
    leaf: Maybe[Leaf] = UNSET
    leaves: Maybe[list[Leaf]] = UNSET
    by_name: Maybe[dict[str, Leaf]] = UNSET
    code: Maybe[str | int] = UNSET
    notes: Maybe[list[str] | Leaf] = UNSET


def read(text: str | bytes) -> Tree:
    octets = text.encode() if isinstance(text, str) else text
    return decode(octets, Tree, standard="test", resource="tree")


def refusal(text: str | bytes) -> MalformedBody:
    with pytest.raises(MalformedBody) as caught:
        read(text)
    assert (caught.value.standard, caught.value.resource) == ("test", "tree")
    return caught.value


def test_keeps_null_apart_from_absent() -> None:
    assert encode(read('{"Leaf":null}')) == b'{"Leaf":null}'
    assert encode(read("{}")) == b"{}"
    assert read('{"Leaf":null}').leaf is None
    assert read("{}").leaf is UNSET


@pytest.mark.parametrize(
    "text",
    [
        '{"Leaf":{"Name":"a","Extra":{"deep":[1.10,{"x":null}]}}}',
        '{"Extra":1,"Leaf":{"Name":"a","Rate":10.00}}',
        '{"Leaves":[{"Name":"a"},{"Name":"b","Extra":[]}],"More":"x"}',
        '{"ByName":{"one":{"Name":"a","Extra":12345678901234567890.0}}}',
        '{"Code":"x","(unknown members)":{"a":1}}',
        '{"Leaf":{"Name":"a","Count":3,"(unknown members)":null}}',
        '{"Leaf":{"Name":"a","Rate":0}}',
        '{"Leaf":{"Name":"a","Rate":-0}}',
        '{"Leaf":{"Name":"a","Rate":null}}',
        '{"Leaf":{"Name":"a","Rate":1E+2}}',
        '{"Leaf":{"Name":"a","Rate":0.10000000000000000555}}',
        '{"Leaf":{"Name":"a","Rate":123456789012345678901234567890}}',
        '{"Code":701}',
        '{"Code":null,"x":1}',
        '{"Notes":["a"],"x":1}',
        '{"Notes":{"Name":"a","Extra":1.0},"x":1}',
    ],
)
def test_writes_back_what_it_read(text: str) -> None:
    written = encode(read(text)).decode()
    assert texts_of(written) == texts_of(text)


def texts_of(text: str) -> object:
    return json.loads(text, parse_float=lambda t: f"#{t}", parse_int=lambda t: f"#{t}")


def test_numbers_never_pass_through_a_float() -> None:
    leaf = read('{"Leaf":{"Name":"a","Rate":0.10000000000000000555}}').leaf
    assert isinstance(leaf, Leaf)
    assert isinstance(leaf.rate, Number)
    assert leaf.rate.decimal() == Decimal("0.10000000000000000555")


def test_a_part_carries_its_unknown_members_into_another_document() -> None:
    leaf = read('{"Leaf":{"Name":"a","Extra":1.50}}').leaf
    assert encode(Tree(leaves=[leaf])) == b'{"Leaves":[{"Name":"a","Extra":1.50}]}'  # type: ignore[list-item]
    assert isinstance(leaf, Leaf)
    changed = msgspec.structs.replace(leaf, name="b")
    assert encode(changed) == b'{"Name":"b","Extra":1.50}'
    assert changed != leaf


def test_documents_with_different_unknown_members_differ() -> None:
    assert read('{"x":1}') != read('{"x":2}')
    assert read('{"x":1}') == read('{ "x" : 1 }')
    unknown = read('{"x":1}').unknown
    assert isinstance(unknown, Remainder)
    assert bytes(unknown["x"]) == b"1"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"Leaf":{}}', "$.Leaf"),
        ('{"Leaves":[{"Name":"a"},{"Name":1}]}', "$.Leaves[1].Name"),
        ('{"Leaves":[{"Name":"a"},{"Rate":1}]}', "$.Leaves[1]"),
        ('{"Leaf":{"Name":"a","Rate":"1"}}', "$.Leaf.Rate"),
        ('{"Leaf":{"Name":"a","Rate":true}}', "$.Leaf.Rate"),
        ('{"Leaf":{"Name":"a","Count":1.0}}', "$.Leaf.Count"),
        ('{"x":1,"ByName":{"one":[]}}', "$.ByName.one"),
        ('{"Leaf":[]}', "$.Leaf"),
        ('{"Leaf":{"Name":null}}', "$.Leaf.Name"),
        ('{"Notes":7}', "$.Notes"),
        ('{"Notes":[7],"x":1}', "$.Notes[0]"),
        ("[]", "$"),
        ("1", "$"),
    ],
)
def test_says_where_a_body_is_not_of_its_shape(text: str, path: str) -> None:
    assert refusal(text).path == path


@pytest.mark.parametrize(
    "text",
    [
        '{"Code":"a","Code":"a"}',
        '{"Code":"a","C\\u006fde":"b"}',
        '{"Leaf":{"Name":"a","Name":"b"}}',
        '{"x":{"a":1,"a":1}}',
        '{ "x" : [ { "a" : 1 , "a" : 1 } ] , "Code" : "\\/" }',
        '{"x":1,"x":1}',
    ],
)
def test_refuses_a_member_that_occurs_twice(text: str) -> None:
    assert "twice" in str(refusal(text))


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"{",
        b'{"x":NaN}',
        b'{"x":Infinity}',
        b'{"x":-Infinity}',
        b'{"Leaf":{"Name":"a","Rate":01}}',
        b'{"Leaf":{"Name":"a","Rate":.5}}',
        b'{"x":"\xff"}',
        b'{"Code":"\xc3\x28"}',
        b'{"x":"\\ud800"}',
        b'{"Code":"a\nb"}',
        b"{}{}",
        b"{} x",
        b'\xef\xbb\xbf{"Code":"a"}',
        b"<html></html>",
    ],
)
def test_refuses_text_that_is_not_strict_json(octets: bytes) -> None:
    assert refusal(octets).path == "$"


@pytest.mark.parametrize("depth", [65, 1_000, 200_000])
def test_refuses_nesting_without_end(depth: int) -> None:
    assert "deeper" in str(refusal('{"x":' + "[" * depth + "]" * depth + "}"))
    assert "deeper" in str(refusal('{"x":' + '{"a":' * depth + "1" + "}" * depth + "}"))


def test_accepts_nesting_up_to_the_limit() -> None:
    text = '{"x":' + "[" * 63 + "]" * 63 + "}"
    assert encode(read(text)).decode() == text


def test_refuses_text_beyond_the_limit() -> None:
    with pytest.raises(MalformedBody, match="longer than 10 bytes"):
        decode(b'{"Code":"abc"}', Tree, standard="test", resource="tree", limit_bytes=10)


@pytest.mark.parametrize("text", ["1e3x", "NaN", "", "+1", " 1", "1_0", "٣", "0x1", "1\n"])
def test_a_number_is_json_text(text: str) -> None:
    with pytest.raises(ValueError, match="JSON number"):
        Number(text)


def test_refuses_to_expand_an_absurd_exponent() -> None:
    with pytest.raises(ValueError, match="exponent"):
        Number("1e99999").decimal()
    assert Number("1e-9999").decimal() == Decimal("1e-9999")
