from __future__ import annotations

import base64

import pytest
from hypothesis import given, strategies as st

from op_openbanking.errors import ProtocolViolation
from op_openbanking.jose import base64url


@pytest.mark.parametrize(
    "text",
    [
        b"AA==",
        b"AAA=",
        b"A",
        b"AAAAA",
        b"A A",
        b"AA\n",
        b"+_aa",
        b"/-aa",
        b"A.AA",
        b'AA"A',
        b'"AA=',
        b"AA\\u003d",
        b"\xff\xffAA",
        b"\x00AAA",
    ],
)
def test_refuses_what_is_not_the_alphabet_without_padding(text: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        base64url.decode(text, "it")


@pytest.mark.parametrize("text", [b"AB", b"A_", b"AAB", b"AA_", b"AAD"])
def test_refuses_bits_behind_the_last_octet(text: bytes) -> None:
    with pytest.raises(ProtocolViolation, match="canonical"):
        base64url.decode(text, "it")


@given(st.binary(max_size=200))
def test_encodes_as_the_standard_library_and_decodes_back(octets: bytes) -> None:
    text = base64url.encode(octets)
    assert text == base64.urlsafe_b64encode(octets).rstrip(b"=")
    assert base64url.decode(text, "it") == octets


@given(st.binary(max_size=40))
def test_accepted_text_is_the_only_text_of_its_octets(text: bytes) -> None:
    try:
        octets = base64url.decode(text, "it")
    except ProtocolViolation:
        return
    assert base64url.encode(octets) == text
