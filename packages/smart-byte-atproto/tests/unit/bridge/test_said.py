from __future__ import annotations

import json

import pytest

from smart_byte_atproto.bridge import Serialization, compute_said, verify_said, with_said
from smart_byte_atproto.bridge.said import load_fields
from smart_byte_atproto.errors import (
    ATProtoError,
    BindingRefused,
    InvalidData,
    InvalidPrimitive,
    NotEncodable,
)

SUE: dict[str, object] = {"d": "", "first": "Sue", "last": "Smith", "role": "Founder"}
SUE_SAID = "EPjC9oI1JVaeGTvqZbqq9gIuDnAM2ATUhbT4x3g88zll"
SCHEMA = (
    '{"$id":"","$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":'
    '{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":"string","format":"date-time"}}}'
)
POST: dict[str, object] = {
    "uri": "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3jzfcijpj2z2a",
    "d": "",
}


def test_saids_of_the_reference() -> None:
    assert compute_said(SUE) == SUE_SAID
    assert (
        compute_said(json.loads(SCHEMA), label="$id")
        == "EMRvS7lGxc1eDleXBkvSHkFs8vUrslRcla6UXOJdcczw"
    )
    assert (
        compute_said(POST, serialization=Serialization.DAG_CBOR)
        == "EHVP9RyAnjwDgiawk9L6ZbHLME3VQ9di_eS_nhWxerVh"
    )


def test_a_said_does_not_depend_on_what_stands_in_its_place() -> None:
    assert compute_said({**SUE, "d": "anything"}) == SUE_SAID


@pytest.mark.parametrize("code", ["E", "I", "0D"])
def test_what_is_made_verifies_and_what_was_altered_does_not(code: str) -> None:
    whole = with_said(SUE, code=code)
    assert verify_said(whole) == whole["d"]
    with pytest.raises(BindingRefused) as caught:
        verify_said({**whole, "role": "founder"})
    assert caught.value.code == "said"


def test_the_order_counts_in_json_and_not_in_dag_cbor() -> None:
    turned = dict(reversed(SUE.items()))
    assert compute_said(turned) != SUE_SAID
    cbor = Serialization.DAG_CBOR
    assert compute_said(turned, serialization=cbor) == compute_said(SUE, serialization=cbor)
    assert compute_said(SUE, serialization=cbor) != SUE_SAID


@pytest.mark.parametrize("told", [None, 7, "", "E", "D" + "A" * 43, "E" + "A" * 43])
def test_what_is_no_said_is_refused(told: object) -> None:
    with pytest.raises(BindingRefused) as caught:
        verify_said({**SUE, "d": told})
    assert caught.value.code == "said"


def test_a_map_without_the_field_and_codes_of_no_digest_are_refused() -> None:
    with pytest.raises(NotEncodable):
        compute_said({"a": 1})
    with pytest.raises(InvalidPrimitive):
        compute_said(SUE, code="D")


@pytest.mark.parametrize("value", [float("nan"), b"bytes", {1, 2}, "\ud800"])
def test_values_that_cannot_be_written_are_refused(value: object) -> None:
    for kind in Serialization:
        if kind is Serialization.DAG_CBOR and value == b"bytes":
            continue
        with pytest.raises(ATProtoError):
            compute_said({"d": "", "x": value}, serialization=kind)


@pytest.mark.parametrize("text", [b"", b"[]", b'{"a":1,"a":2}', b'{"a":NaN}', b'{"a":' * 100_000])
def test_files_that_are_no_map_are_refused(text: bytes) -> None:
    with pytest.raises(InvalidData):
        load_fields(text)
