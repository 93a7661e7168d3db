from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from op_openbanking.errors import ProtocolViolation
from op_openbanking.jose.strict_json import parse_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        b'{"alg":"PS256","alg":"none"}',
        b'{"a":{"b":1,"b":1}}',
        b'{"a":[{"b":1,"b":2}]}',
        b'{"a":1,"\\u0061":2}',
        b'{"a":1} x',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1e999}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b"[]",
        b'"a"',
        b"",
        b"{",
        b"null",
        b'\xef\xbb\xbf{"a":1}',
    ],
)
def test_refuses_what_is_not_one_strict_object(text: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        parse_object(text, what="it", limit_bytes=100)


def test_refuses_nesting_without_a_recursion_error() -> None:
    text = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(ProtocolViolation):
        parse_object(text, what="it", limit_bytes=1_000_000)


def test_refuses_text_above_the_limit() -> None:
    with pytest.raises(ProtocolViolation, match="longer than 3 bytes"):
        parse_object(b'{"a":1}', what="it", limit_bytes=3)


def test_refuses_an_integer_of_thousands_of_digits() -> None:
    with pytest.raises(ProtocolViolation):
        parse_object(b'{"a":' + b"9" * 9000 + b"}", what="it", limit_bytes=10_000)


@given(st.dictionaries(st.text(max_size=5), VALUES), st.sampled_from([None, 2]))
def test_reads_what_the_standard_library_wrote(value: dict[str, object], indent: int) -> None:
    text = json.dumps(value, indent=indent).encode()
    expected = json.loads(text)
    try:
        parsed = parse_object(text, what="it", limit_bytes=1_000_000)
    except ProtocolViolation:
        assert any(
            0xD800 <= ord(letter) <= 0xDFFF for letter in json.dumps(value, ensure_ascii=False)
        )
    else:
        assert parsed == expected
