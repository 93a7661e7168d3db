from __future__ import annotations

import json
from typing import Any

import pytest

from smart_byte_atproto.data import json as atproto_json
from smart_byte_atproto.data.blob import Blob
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import InvalidData, LimitExceeded, NotEncodable

RAW = CID.of(b"x", codec=Codec.RAW)
BLOB = {"$type": "blob", "ref": {"$link": str(RAW)}, "mimeType": "image/png", "size": 1}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (RAW, f'{{"$link": "{RAW}"}}'),
        (b"", '{"$bytes": ""}'),
        (b"\x00\x01\x02", '{"$bytes": "AAEC"}'),
        (b"\xff", '{"$bytes": "/w"}'),
        ({"a": [None, True, -1, "ä"]}, '{"a": [null, true, -1, "ä"]}'),
        ((1 << 63) - 1, "9223372036854775807"),
        (-(1 << 63), "-9223372036854775808"),
    ],
)
def test_values_and_json_turn_into_one_another(value: Any, text: str) -> None:
    assert atproto_json.dumps(value) == text
    assert atproto_json.loads(text) == value
    assert atproto_json.loads(text.encode()) == value


def test_padding_is_optional_on_reading() -> None:
    for text in ("/w", "/w=="):
        assert atproto_json.loads(json.dumps({"$bytes": text})) == b"\xff"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1,]",
        "NaN",
        "Infinity",
        "-Infinity",
        "1.0",
        "1e3",
        "9223372036854775808",
        "-9223372036854775809",
        "1" * 10_000,
        '{"a":1,"a":1}',
        '{"a":{"b":1,"c":2,"b":1}}',
        '"\\ud800"',
        '{"\\udc00":1}',
        '{"$link":"bafy"}',
        '{"$link":1}',
        f'{{"$link":"{RAW}","a":1}}',
        '{"$bytes":"AAE"',
        '{"$bytes":"A"}',
        '{"$bytes":"AB=="}',
        '{"$bytes":"AA="}',
        '{"$bytes":"A A="}',
        '{"$bytes":"_w"}',
        '{"$bytes":"AA==AA=="}',
        '{"$bytes":"ä"}',
        '{"$bytes":null}',
        '{"$bytes":"","a":1}',
        '{"$bytes":"","$link":""}',
        '{"$type":""}',
        '{"$type":1}',
        '{"$type":null}',
        '{"$type":"blob"}',
        b"\xff",
        b'"\xed\xa0\x80"',
    ],
)
def test_what_is_outside_the_model_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidData):
        atproto_json.loads(text)


def test_lenient_takes_whole_floats_only() -> None:
    assert atproto_json.loads("[1.0, -2.000]", lenient=True) == [1, -2]
    for text in ("1.5", "1e3", "1.0e3", "9223372036854775808.0", "NaN"):
        with pytest.raises(InvalidData):
            atproto_json.loads(text, lenient=True)


def test_depth_and_size_are_limited() -> None:
    assert atproto_json.loads("[" * 32 + "]" * 32)
    for depth in (33, 500, 100_000):
        with pytest.raises(InvalidData):
            atproto_json.loads("[" * depth + "]" * depth)
    with pytest.raises(LimitExceeded):
        atproto_json.loads('"' + "x" * (2 << 20) + '"')


def test_a_record_is_a_map() -> None:
    assert atproto_json.loads_record("{}") == {}
    with pytest.raises(InvalidData, match="not a map"):
        atproto_json.loads_record("[]")


def test_what_json_cannot_say_is_not_written() -> None:
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    cycle: list[Any] = []
    cycle.append(cycle)
    for value in ({"$link": "x"}, [{"$bytes": "", "a": 1}], deep, cycle, [object()], {"a": (1,)}):
        with pytest.raises(NotEncodable):
            atproto_json.dumps(value)  # type: ignore[arg-type]


def test_blobs_are_read_and_written() -> None:
    value = atproto_json.loads(json.dumps({"image": BLOB}))
    assert isinstance(value, dict)
    blob = Blob.from_value(value["image"])
    assert blob == Blob(RAW, "image/png", 1)
    assert blob.to_value() == value["image"]


def test_a_legacy_blob_is_read_but_never_written() -> None:
    blob = Blob.from_value({"cid": str(RAW), "mimeType": "image/png"})
    assert blob.is_legacy
    assert blob.ref == RAW
    with pytest.raises(NotEncodable):
        blob.to_value()


@pytest.mark.parametrize(
    "change",
    [
        {"ref": str(RAW)},
        {"ref": {"$link": str(CID.of(b"x"))}},
        {"ref": None},
        {"mimeType": ""},
        {"mimeType": 1},
        {"size": 0},
        {"size": -1},
        {"size": True},
        {"size": "1"},
    ],
)
def test_a_blob_with_a_wrong_field_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidData):
        atproto_json.loads(json.dumps([BLOB | change]))


@pytest.mark.parametrize(
    "value",
    [
        1,
        {},
        {"$type": "blub", "ref": RAW, "mimeType": "a/b", "size": 1},
        {"cid": "x", "mimeType": "a/b"},
        {"cid": 1, "mimeType": "a/b"},
        {"cid": str(RAW), "mimeType": ""},
        {"cid": str(RAW)},
    ],
)
def test_what_is_no_blob_is_refused(value: Any) -> None:
    with pytest.raises(InvalidData):
        Blob.from_value(value)


def test_a_repeated_key_is_found_among_very_many() -> None:
    keys = ",".join(f'"k{n}":0' for n in range(100_000))
    with pytest.raises(InvalidData, match="twice") as refused:
        atproto_json.loads("{" + keys + ',"k99999":1}')
    assert "k99999" in str(refused.value)
