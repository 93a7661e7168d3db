"""CARs of others: fixtures of the TypeScript reference, repository exports, tree files."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest

from smart_byte_atproto import car
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID

pytestmark = pytest.mark.conformance

REFERENCE = (
    "3aa265726f6f747381d82a58250001711220bff9492425db7872938645a36b15abd912e1f4317f6d7450be6e7b0c"
    "e1f9ae866776657273696f6e01e00101711220bff9492425db7872938645a36b15abd912e1f4317f6d7450be6e7b"
    "0ce1f9ae86a66364696478206469643a706c633a65777669376e787a796f756e367a687872687336346f697a6372"
    "65766d336a7a6663696a706a327a3261637369675840d776e85ad405dff14d1f34cf597904ed016c37b725ca950d"
    "59bf937566baa168091445501750aba15d41f5bc4a5b2422dbda9d7290093b3040fcd136f8ec70746464617461d8"
    "2a582500017112209dfefe61dd76ea3dcae5023880b08379d57adf20482d6fdbe2759289f647677b6470726576f6"
    "6776657273696f6e032b017112209dfefe61dd76ea3dcae5023880b08379d57adf20482d6fdbe2759289f647677b"
    "a2616580616cf6"
)


def test_the_car_of_the_reference_round_trips() -> None:
    data = bytes.fromhex(REFERENCE)
    assert len(data) == 329
    assert hashlib.sha256(data).hexdigest() == (
        "1ee8951cc44d1aff4a998aafdf49a91203104cde301a3d5d7c887de6759277b4"
    )
    read = car.load(data)
    assert str(read.roots[0]) == "bafyreif77fesijo3pbzjhbsfunvrlk6zclq7iml7nv2fbptopmgod6noqy"
    assert read.blocks[0][0] == read.roots[0]
    assert dict(read.decoded())[read.blocks[1][0]] == {"e": [], "l": None}
    assert car.dump(read.roots, read.blocks) == data


def test_car_fixtures_of_the_typescript_reference(vectors: Path) -> None:
    file = vectors / "atproto-ts/packages/repo/tests/car-file-fixtures.json"
    fixtures = json.loads(file.read_text())
    assert fixtures
    for fixture in fixtures:
        root = CID.parse(fixture["root"])
        blocks = [
            (CID.parse(block["cid"]), b64decode(block["bytes"] + "=="))
            for block in fixture["blocks"]
        ]
        data = b64decode(fixture["car"] + "==")
        assert car.dump([root], blocks) == data
        assert car.load(data) == car.CAR((root,), blocks)


@pytest.mark.parametrize(
    "name", ["greenground.repo.car", "paul_staging.repo.car", "repo_slice.car"]
)
def test_exports_are_read_alike_in_every_way(vectors: Path, name: str) -> None:
    data = (vectors / "indigo" / "testing" / "testdata" / name).read_bytes()
    read = car.load(data)
    assert read.roots[0] in dict(read.blocks)
    reader = car.CARReader(BytesIO(data))
    assert (reader.roots, list(reader)) == (read.roots, read.blocks)
    for cid, value in read.decoded():
        if not isinstance(value, bytes):
            assert CID.of(dag_cbor.encode(value)) == cid


def test_tree_files_hash_and_round_trip(vectors: Path) -> None:
    files = sorted((vectors / "mst-test-suite" / "cars" / "exhaustive").glob("*.car"))
    assert files
    for file in files:
        data = file.read_bytes()
        read = car.load(data)
        assert read.roots[0] in dict(read.blocks)
        assert car.dump(read.roots, read.blocks) == data
