"""Interop data model, record blocks of real posts, and the examples of the reference."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest

from smart_byte_atproto.data import dag_cbor, json as atproto_json
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import InvalidData

pytestmark = pytest.mark.conformance

LINK_AND_BYTES = (
    '{"link":{"$link":"bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"},'
    '"bytes":{"$bytes":"AAEC"}}'
)
HELLO_WORLD = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
EXAMPLES = {
    "{}": ("a0", "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua"),
    '{"hello":"world"}': (
        "a16568656c6c6f65776f726c64",
        "bafyreidykglsfhoixmivffc5uwhcgshx4j465xwqntbmu43nb2dzqwfvae",
    ),
    '{"b":1,"aa":2,"a":[null,true,false,-1,255,256]}': (
        "a3616186f6f5f42018ff19010061620162616102",
        "bafyreiged27qcku6pktkbjyrwmffenm4s3pnxccth5lxoinjltifsegy6u",
    ),
    LINK_AND_BYTES: (
        f"a2646c696e6bd82a58250001551220{HELLO_WORLD}65627974657343000102",
        "bafyreibcfd6vumpbszabr6bii4ijvwka27or46axzgum4iomwk5jqt5tsm",
    ),
}
REFUSED = {
    "duplicate key": "a263616263016361626302",
    "order by length": "a263646566016361626302",
    "order by bytes": "a26361616101617802",
    "long integer": "a161611801",
    "indefinite map": "bf616101ff",
    "float": "a16161fb3ff8000000000000",
    "tag 43": "a16161d82b01",
    "undefined": "a16161f7",
    "bytes as key": "a1416101",
    "trailing": "a001",
    "not UTF-8": "a1616161ff",
    "surrogate": "a1616163eda080",
    "over 64 bits": "a161611bffffffffffffffff",
    "link without its zero": "a16161d82a582401711220" + "00" * 32,
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_of_the_reference(text: str) -> None:
    encoded, cid = EXAMPLES[text]
    data = dag_cbor.encode(atproto_json.loads(text))
    assert data.hex() == encoded
    assert str(CID.of(data)) == cid
    assert atproto_json.loads(atproto_json.dumps(dag_cbor.decode(data))) == atproto_json.loads(text)


@pytest.mark.parametrize("name", REFUSED)
def test_examples_that_must_be_refused(name: str) -> None:
    with pytest.raises(InvalidData):
        dag_cbor.decode(bytes.fromhex(REFUSED[name]))


def test_bytes_that_look_like_a_cid_stay_bytes() -> None:
    data = bytes.fromhex(
        "a161785824017112202d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    )
    value = dag_cbor.decode(data)
    assert isinstance(value, dict)
    assert type(value["x"]) is bytes
    assert dag_cbor.encode(value) == data
    link = CID.decode(value["x"])
    assert len({link, value["x"]}) == 2
    assert dag_cbor.encode({"x": link}) != data


@pytest.mark.parametrize(
    ("content", "cid"),
    [
        (b"", "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"),
        (b"hello world", "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"),
    ],
)
def test_raw_cids_of_the_reference(content: bytes, cid: str) -> None:
    assert str(CID.of(content, codec=Codec.RAW)) == cid


def test_data_model_fixtures_give_their_bytes_and_cids(vectors: Path) -> None:
    file = vectors / "atproto-interop-tests" / "data-model" / "data-model-fixtures.json"
    fixtures = json.loads(file.read_text())
    assert fixtures
    for fixture in fixtures:
        value = atproto_json.loads(json.dumps(fixture["json"]))
        data = b64decode(fixture["cbor_base64"] + "==")
        assert dag_cbor.encode(value) == data
        assert dag_cbor.decode(data) == value
        assert str(CID.of(data)) == fixture["cid"]
        assert json.loads(atproto_json.dumps(value)) == fixture["json"]


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_data_model_json_gets_its_verdict(vectors: Path, kind: str) -> None:
    file = vectors / "atproto-interop-tests" / "data-model" / f"data-model-{kind}.json"
    if not file.is_file():
        pytest.skip(f"this copy of the interop tests has no {file.name}")
    for case in json.loads(file.read_text()):
        text = json.dumps(case["json"])
        if kind == "valid":
            record = atproto_json.loads_record(text, lenient=True)
            assert dag_cbor.decode(dag_cbor.encode(record)) == record
        else:
            with pytest.raises(InvalidData):
                atproto_json.loads_record(text)


@pytest.mark.parametrize(
    "name",
    ["atproto/atdata/testdata/feedpost_record.cbor", "testing/testdata/post_richtext_link.cbor"],
)
def test_record_blocks_round_trip(vectors: Path, name: str) -> None:
    file = vectors / "indigo" / name
    data = file.read_bytes()
    value = dag_cbor.decode(data)
    assert isinstance(value, dict)
    assert value["$type"] == "app.bsky.feed.post"
    assert dag_cbor.encode(value) == data
    assert atproto_json.loads(atproto_json.dumps(value)) == value
