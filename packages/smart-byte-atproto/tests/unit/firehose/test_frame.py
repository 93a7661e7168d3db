from __future__ import annotations

from typing import Any

import pytest

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.errors import InvalidFrame
from smart_byte_atproto.firehose.encode import encode_frame
from smart_byte_atproto.firehose.frame import Frame, decode_frame


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"blocks": b""},
        {"blocks": bytes(23)},
        {"blocks": bytes(255)},
        {"blocks": bytes(256)},
        {"blocks": bytes(70_000)},
        {"blocks": "text" * 100},
        {"blocks": None, "x": bytes(300)},
        {"x": {"blocks": bytes(300)}},
        {"blocks": bytes(300), "x": {"blocks": bytes(400)}},
        {"blocks": b"\x66blocks\x59\x01\x2c" + bytes(300)},
        {"a": "fblocksY\x01\x2c" + "a" * 300, "blocks": bytes(300)},
        {"a": b"\x66blocks\x59\x01\x2c" + bytes(300)},
        {"a": b"\x66blocks\x40" + bytes(300), "blocks": bytes(300)},
        {"blocks": bytes(300), "much": [{"text": "x" * 200}] * 1000},
    ],
)
def test_a_commit_is_read_as_the_general_decoder_reads_it(body: dict[str, Any]) -> None:
    data = encode_frame("#commit", body)
    assert decode_frame(data) == Frame(1, "#commit", body)


@pytest.mark.parametrize(
    "payload",
    [
        b"\xa1\x66blocks\x59\x00\xff" + bytes(255),  # a longer length than needed
        b"\xa1\x66blocks\x5a\x00\x00\x01\x2c" + bytes(300),
        b"\xa1\x66blocks\x59\x01\x2d" + bytes(300),  # cut off
        b"\xa1\x66blocks\x59\x01\x2c" + bytes(301),  # bytes left over
        b"\xa2\x66blocks\x59\x01\x2c" + bytes(300) + b"\x61a\x01",  # keys out of order
        b"\xa1\x66blocks\x59\x01",
    ],
)
def test_a_malformed_slice_is_refused_as_the_general_decoder_refuses_it(payload: bytes) -> None:
    header = dag_cbor.encode({"op": 1, "t": "#commit"})
    with pytest.raises(InvalidFrame) as caught:
        decode_frame(header + payload)
    assert caught.value.code == "frame"
