from __future__ import annotations

import json
from typing import Any

import pytest

from smart_byte_atproto.errors import InvalidData, InvalidLexicon, LimitExceeded
from smart_byte_atproto.lexicon.schema import MAX_BYTES, Lexicon, Record, from_value, parse


def document(main: Any, **defs: Any) -> dict[str, Any]:
    return {"lexicon": 1, "id": "com.example.thing", "defs": {"main": main, **defs}}


def record(**properties: Any) -> Any:
    body = {"type": "object", "properties": properties}
    return {"type": "record", "key": "tid", "record": body}


def test_a_document_is_read() -> None:
    made = parse(json.dumps(document(record(n={"type": "integer", "minimum": 1}))))
    assert isinstance(made, Lexicon)
    assert made.id == "com.example.thing"
    assert isinstance(made.main, Record)
    assert made.main.key == "tid"


def test_references_become_full_names() -> None:
    made = from_value(document(record()))
    assert made.absolute("#part") == "com.example.thing#part"
    assert made.absolute("com.example.other#main") == "com.example.other"
    assert made.absolute("com.example.other#part") == "com.example.other#part"


def test_what_a_later_version_adds_is_left_out() -> None:
    field = {"type": "string", "description": "a", "colour": "blue"}
    assert from_value(document(record(a=field)) | {"later": {}}).main is not None


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        ({"lexicon": 2}, "lexicon"),
        ({"lexicon": True}, "lexicon"),
        ({"id": "com.example"}, "id"),
        ({"description": 5}, "description"),
        ({"defs": {}}, "defs"),
        ({"defs": []}, "defs"),
        ({"defs": {"a-b": {"type": "token"}}}, "defs/a-b"),
        ({"defs": {"main": {"type": "nothing"}}}, "defs/main/type"),
        ({"defs": {"main": {"type": "string", "maxLength": "5"}}}, "defs/main/maxLength"),
        ({"defs": {"main": 5}}, "defs/main"),
        ({"defs": {"main": {"type": "params", "properties": {}}}}, "defs/main"),
    ],
)
def test_a_broken_document_is_refused_and_the_place_named(bad: Any, where: str) -> None:
    with pytest.raises(InvalidLexicon) as caught:
        from_value(document(record()) | bad)
    assert caught.value.at == where


@pytest.mark.parametrize(
    "field",
    [
        {"type": "string", "format": "colour"},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "string", "maxGraphemes": -1},
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "integer", "default": 1.5},
        {"type": "bytes", "maxLength": -1},
        {"type": "blob", "maxSize": -1},
        {"type": "array"},
        {"type": "array", "items": {"type": "string"}, "minLength": 2, "maxLength": 1},
        {"type": "ref", "ref": ""},
        {"type": "ref", "ref": "#"},
        {"type": "ref", "ref": "not a name"},
        {"type": "union", "refs": [], "closed": True},
        {"type": "union", "refs": ["com.example.a#b#c"]},
        {"type": "object", "properties": {}, "required": ["a"]},
        {"type": "object", "properties": {}, "nullable": ["a"]},
        {"type": "record", "key": "tid", "record": {"type": "object"}},
    ],
)
def test_a_broken_field_is_refused(field: Any) -> None:
    with pytest.raises(InvalidLexicon) as caught:
        from_value(document(record(a=field)))
    assert str(caught.value.at).startswith("defs/main")


@pytest.mark.parametrize("key", ["", "uuid", "literal:", "literal:a/b", "TID"])
def test_a_record_key_of_no_kind_is_refused(key: str) -> None:
    with pytest.raises(InvalidLexicon):
        from_value(document(record() | {"key": key}))


def test_a_parameter_without_a_form_in_a_query_is_refused() -> None:
    params = {"type": "params", "properties": {"a": {"type": "bytes"}}}
    with pytest.raises(InvalidLexicon, match="no form in a query"):
        from_value(document({"type": "query", "parameters": params}))


def test_input_that_is_no_document_is_refused() -> None:
    for text in ("", "[]", "{", '{"lexicon": 1.5}', "\ud800"):
        with pytest.raises(InvalidData):
            parse(text)
    with pytest.raises(LimitExceeded):
        parse(b" " * (MAX_BYTES + 1))


def test_deep_nesting_is_refused() -> None:
    field: Any = {"type": "string"}
    for _ in range(100):
        field = {"type": "array", "items": field}
    with pytest.raises(InvalidData):
        parse(json.dumps(document(record(a=field))))
