from __future__ import annotations

import pytest

from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import NotEncodable, SchemaMismatch
from smart_byte_atproto.lexicon.query_string import decode_params, encode_params
from smart_byte_atproto.lexicon.schema import Array, Boolean, Integer, Params, String

SCHEMA = Params(
    properties={
        "all": Boolean(default=False),
        "limit": Integer(default=50),
        "q": String(),
        "uris": Array(items=String()),
    }
)


def test_values_become_pairs_and_values_again() -> None:
    values: dict[str, Value] = {"all": True, "limit": -5, "q": "a b", "uris": ["x", "y"]}
    pairs = encode_params({**values, "none": None})
    assert pairs == [
        ("all", "true"),
        ("limit", "-5"),
        ("q", "a b"),
        ("uris", "x"),
        ("uris", "y"),
    ]
    assert decode_params(SCHEMA, pairs) == values


def test_defaults_stand_in() -> None:
    assert decode_params(SCHEMA, [("unknown", "1")]) == {"all": False, "limit": 50}


@pytest.mark.parametrize(
    "pair", [("all", "1"), ("all", "True"), ("limit", "1.0"), ("limit", "٣"), ("limit", "1" * 30)]
)
def test_text_that_is_no_value_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(SchemaMismatch):
        decode_params(SCHEMA, [pair])


def test_a_name_twice_is_refused_unless_it_is_an_array() -> None:
    with pytest.raises(SchemaMismatch):
        decode_params(SCHEMA, [("q", "a"), ("q", "b")])


def test_what_has_no_form_in_a_query_is_refused() -> None:
    with pytest.raises(NotEncodable):
        encode_params({"a": {"b": 1}})
    with pytest.raises(NotEncodable):
        encode_params({"a": [b"x"]})
