"""Cases of dasl-testing.

Not all rule sets there are atproto's. A case that must be refused by any of them is refused here,
except where the other rule set asks for what DAG-CBOR forbids. A case that must round-trip does,
unless it holds what atproto has no place for (`BEYOND`).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.errors import ATProtoError, InvalidData

pytestmark = pytest.mark.conformance

FILES = ["cid", "concat", "floats", "integer_range", "short_form", "simple", "tags"]
REFUSED_AT_LEAST = {"cid": 10, "floats": 10, "short_form": 25, "tags": 2, "simple": 2, "concat": 1}

# Must round-trip elsewhere, must be refused in atproto: floats, integers of more than 63 bits and
# a sign, big numbers, links with another hash than SHA-256.
BEYOND = {
    "f93e00",
    "fb3ff8000000000000",
    "f97e00",
    "fb0000000000000000",
    "fb0000000000000001",
    "f90000",
    "1bffffffffffffffff",
    "3bffffffffffffffff",
    "c249010000000000000000",
    "c349010000000000000000",
}


def _cases(vectors: Path, name: str, kind: str) -> list[bytes]:
    cases = json.loads((vectors / "dasl-testing" / "cbor" / f"{name}.json").read_text())
    return [bytes.fromhex(case["data"]) for case in cases if case["type"] == kind]


@pytest.fixture(autouse=True)
def _folder(vectors: Path) -> None:
    if not (vectors / "dasl-testing" / "cbor").is_dir():
        pytest.skip("no dasl-testing among the vectors")


@pytest.mark.parametrize("name", FILES)
def test_what_must_not_be_read_is_refused(vectors: Path, name: str) -> None:
    cases = _cases(vectors, name, "invalid_in")
    assert len(cases) >= REFUSED_AT_LEAST.get(name, 0)
    for data in cases:
        with pytest.raises(InvalidData):
            dag_cbor.decode(data)


@pytest.mark.parametrize("name", FILES)
def test_what_must_round_trip_does(vectors: Path, name: str) -> None:
    for data in _cases(vectors, name, "roundtrip"):
        if _is_beyond(data):
            with pytest.raises(InvalidData):
                dag_cbor.decode(data)
        else:
            assert dag_cbor.encode(dag_cbor.decode(data)) == data


@pytest.mark.parametrize("name", FILES)
def test_what_must_not_be_written_cannot_be_read_either(vectors: Path, name: str) -> None:
    for data in _cases(vectors, name, "invalid_out"):
        with pytest.raises(ATProtoError):
            dag_cbor.encode(dag_cbor.decode(data))


def _is_beyond(data: bytes) -> bool:
    return data.hex() in BEYOND or data.startswith(bytes.fromhex("d82a58250001551e20"))
