from __future__ import annotations

import json
from pathlib import Path

import pytest

from smart_byte_atproto import car
from smart_byte_atproto.data.json import loads
from smart_byte_atproto.errors import InvalidRepo
from smart_byte_atproto.identity.signing_key import signing_key
from smart_byte_atproto.mst import Tree
from smart_byte_atproto.repo import Repo, verify_repo
from smart_byte_atproto.repo.export import export_blocks
from smart_byte_atproto.stores.memory import MemoryStore

pytestmark = pytest.mark.conformance

FOLDER = "indigo/testing/testdata"


def test_greenground_repo_car_and_the_did_document_of_another_account(vectors: Path) -> None:
    whole = car.load((vectors / FOLDER / "greenground.repo.car").read_bytes())
    document = json.loads((vectors / FOLDER / "greenground.didDoc.json").read_text("utf-8"))
    blocks = dict(whole.blocks)
    with pytest.raises(InvalidRepo) as caught:
        verify_repo(whole.roots[0], blocks, key=signing_key(document), did=document["id"])
    assert caught.value.code == "did"
    # The host signed for all of its accounts with one key then.
    assert verify_repo(whole.roots[0], blocks, key=signing_key(document)).records == 2


def test_paul_staging_repo_car_and_did_document(vectors: Path) -> None:
    whole = car.load((vectors / FOLDER / "paul_staging.repo.car").read_bytes())
    document = json.loads((vectors / FOLDER / "paul_staging.didDoc.json").read_text("utf-8"))
    blocks = dict(whole.blocks)
    report = verify_repo(whole.roots[0], blocks, key=signing_key(document), did=document["id"])
    assert report.records == len(list(Tree.load(report.data, blocks)))
    assert report.version == 2
    assert report.warning_count == 0
    repo = Repo.load(MemoryStore(blocks.items(), root=whole.roots[0]))
    exported = car.load(car.dump(whole.roots, export_blocks(repo)))
    again = verify_repo(exported.roots[0], dict(exported.blocks), key=signing_key(document))
    assert again == report


def test_repo_slice_car(vectors: Path) -> None:
    whole = car.load((vectors / FOLDER / "repo_slice.car").read_bytes())
    record = loads((vectors / FOLDER / "repo_slice_record.json").read_text("utf-8"))
    assert isinstance(record, dict)
    uri, cid = record["uri"], record["cid"]
    assert isinstance(uri, str)
    _, _, did, path = uri.split("/", 3)
    repo = Repo.load(MemoryStore(whole.blocks, root=whole.roots[0]))
    assert repo.did == did
    assert str(repo.get_cid(path)) == cid
    assert repo.get(path) == record["value"]
