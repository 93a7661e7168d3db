from __future__ import annotations

from typing import Any

import pytest

from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import SchemaMismatch, UnknownSchema
from smart_byte_atproto.lexicon import Catalog, Validator, from_value

RAW = CID.of(b"file", codec=Codec.RAW)
BLOB: dict[str, Value] = {"$type": "blob", "ref": RAW, "mimeType": "image/png", "size": 5}
NAME = "com.example.thing"


def validator(field: Any, *, required: bool = False, nullable: bool = False) -> Validator:
    """A validator of records with one field `a`, and two objects for references."""
    record = {
        "type": "object",
        "properties": {"a": field},
        "required": ["a"] if required else [],
        "nullable": ["a"] if nullable else [],
    }
    part = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    defs = {
        "main": {"type": "record", "key": "tid", "record": record},
        "part": part,
        "nest": {"type": "object", "properties": {"in": {"type": "ref", "ref": "#nest"}}},
    }
    return Validator(Catalog([from_value({"lexicon": 1, "id": NAME, "defs": defs})]))


def codes(field: Any, value: Any, **options: Any) -> list[tuple[str, str]]:
    found = validator(field, **options).problems({"$type": NAME, "a": value})
    return [(problem.code, str(problem.at)) for problem in found]


STRING = {"type": "string"}


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ({"type": "boolean"}, 1, "type"),
        ({"type": "boolean", "const": True}, False, "const"),
        ({"type": "integer"}, True, "type"),
        ({"type": "integer"}, "1", "type"),
        ({"type": "integer", "const": 1}, 2, "const"),
        ({"type": "integer", "enum": [1, 2]}, 3, "enum"),
        ({"type": "integer", "minimum": 1}, 0, "range"),
        ({"type": "integer", "maximum": 1}, 2, "range"),
        (STRING, 5, "type"),
        (STRING, b"a", "type"),
        (STRING | {"const": "a"}, "b", "const"),
        (STRING | {"enum": ["a"]}, "b", "enum"),
        (STRING | {"minLength": 2}, "a", "length"),
        (STRING | {"maxLength": 2}, "äö", "length"),
        (STRING | {"minGraphemes": 2}, "e\u0301", "graphemes"),
        (STRING | {"maxGraphemes": 1}, "ab", "graphemes"),
        (STRING | {"maxGraphemes": 1}, "👩‍👩‍👧🇩🇪", "graphemes"),
        (STRING | {"format": "did"}, "did:x", "format"),
        (STRING | {"format": "datetime"}, "yesterday", "format"),
        ({"type": "bytes"}, "a", "type"),
        ({"type": "bytes", "maxLength": 1}, b"ab", "length"),
        ({"type": "cid-link"}, str(RAW), "type"),
        ({"type": "blob"}, {"$type": "blob"}, "blob"),
        ({"type": "blob"}, {"cid": str(RAW), "mimeType": "image/png"}, "blob"),
        ({"type": "blob", "maxSize": 4}, BLOB, "blob"),
        ({"type": "blob", "accept": ["text/*"]}, BLOB, "blob"),
        ({"type": "unknown"}, [], "type"),
        ({"type": "unknown"}, BLOB, "type"),
        ({"type": "object"}, [], "type"),
        ({"type": "array", "items": STRING}, {}, "type"),
        ({"type": "array", "items": STRING, "maxLength": 1}, ["a", "b"], "length"),
        ({"type": "ref", "ref": "#part"}, {}, "required"),
        ({"type": "ref", "ref": "com.example.absent"}, {}, "unknown-schema"),
        ({"type": "union", "refs": ["#part"]}, {"n": 1}, "union"),
        ({"type": "union", "refs": ["#part"]}, {"$type": f"{NAME}#part", "n": "1"}, "type"),
        ({"type": "union", "refs": ["#part"]}, {"$type": f"{NAME}#main"}, "union"),
        ({"type": "union", "refs": ["#part"], "closed": True}, {"$type": "com.other.x"}, "union"),
        (STRING, None, "null"),
    ],
)
def test_refuses_what_the_schema_does_not_say(field: Any, value: Any, code: str) -> None:
    assert [found for found, _ in codes(field, value)] == [code]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 1}, 1),
        (STRING | {"maxLength": 4}, "äö"),
        (STRING | {"minGraphemes": 2, "maxGraphemes": 2}, "👩‍👩‍👧🇩🇪"),
        (STRING | {"knownValues": ["a"]}, "b"),
        ({"type": "blob", "accept": ["image/*"], "maxSize": 5}, BLOB),
        ({"type": "blob", "accept": ["*/*"]}, BLOB),
        ({"type": "unknown"}, {"$type": "com.other.thing", "x": [1]}),
        ({"type": "union", "refs": ["#part"]}, {"$type": "com.other.x", "n": "1"}),
        ({"type": "object", "properties": {"b": STRING}}, {"other": 5}),
    ],
)
def test_takes_what_the_schema_says(field: Any, value: Any) -> None:
    assert codes(field, value) == []


def test_the_path_leads_to_the_fault() -> None:
    field = {"type": "array", "items": {"type": "ref", "ref": "#part"}}
    assert codes(field, [{"n": 1}, {"n": "1"}, {}]) == [("type", "a/1/n"), ("required", "a/2/n")]


def test_required_and_nullable_are_two_things() -> None:
    assert codes(STRING, None, required=True, nullable=True) == []
    missing = validator(STRING, required=True, nullable=True).problems({"$type": NAME})
    assert [problem.code for problem in missing] == ["required"]


def test_the_type_and_key_of_a_record_are_checked() -> None:
    check = validator(STRING)
    assert [p.code for p in check.problems({"$type": "com.a.b"}, collection=NAME)] == ["const"]
    assert [p.code for p in check.problems({"$type": NAME}, record_key="self")] == ["key"]
    assert [p.code for p in check.problems({})] == ["type"]
    assert [p.code for p in check.problems([])] == ["type"]
    check.check_record({"$type": NAME}, collection=NAME, record_key="3jzfcijpj2z2a")
    with pytest.raises(UnknownSchema):
        check.problems({"$type": f"{NAME}#part"})
    with pytest.raises(UnknownSchema):
        check.problems({"$type": "com.example.absent"})


def test_a_schema_that_holds_itself_ends_with_the_data() -> None:
    deep: Any = {}
    for _ in range(20):
        deep = {"in": deep}
    assert codes({"type": "ref", "ref": "#nest"}, deep) == []
    assert codes({"type": "ref", "ref": "#nest"}, {"in": {"in": 5}}) == [("type", "a/in/in")]


def test_problems_are_bounded() -> None:
    assert len(codes({"type": "array", "items": STRING}, [5] * 1000)) == 100


CALLS = {
    "lexicon": 1,
    "id": "com.example.call",
    "defs": {
        "main": {
            "type": "procedure",
            "parameters": {
                "type": "params",
                "required": ["limit"],
                "properties": {"limit": {"type": "integer", "maximum": 5}},
            },
            "input": {"encoding": "application/json", "schema": {"type": "object"}},
            "output": {"encoding": "image/*"},
        }
    },
}
STREAM = {
    "lexicon": 1,
    "id": "com.example.stream",
    "defs": {
        "main": {
            "type": "subscription",
            "message": {"schema": {"type": "union", "refs": ["#info"]}},
        },
        "info": {"type": "object", "required": ["name"], "properties": {"name": STRING}},
    },
}


def test_calls_are_checked() -> None:
    check = Validator(Catalog([from_value(CALLS)]))
    check.check_params("com.example.call", {"limit": 5, "more": "x"})
    check.check_input("com.example.call", {}, encoding="application/json; charset=utf-8")
    check.check_output("com.example.call", b"\x89PNG", encoding="image/png")
    for params in ({}, {"limit": 6}, {"limit": "5"}):
        with pytest.raises(SchemaMismatch):
            check.check_params("com.example.call", params)
    with pytest.raises(SchemaMismatch):
        check.check_input("com.example.call", [], encoding="application/json")
    with pytest.raises(SchemaMismatch):
        check.check_input("com.example.call", {}, encoding="text/plain")
    with pytest.raises(SchemaMismatch):
        check.check_output("com.example.call", b"", encoding="video/mp4")
    with pytest.raises(UnknownSchema):
        check.check_params("com.example.absent", {})


def test_events_of_a_stream_are_checked() -> None:
    check = Validator(Catalog([from_value(STREAM)]))
    check.check_message("com.example.stream", "#info", {"name": "a"})
    with pytest.raises(SchemaMismatch):
        check.check_message("com.example.stream", "#info", {})
    check.check_message("com.example.stream", "#later", {"x": 1})
