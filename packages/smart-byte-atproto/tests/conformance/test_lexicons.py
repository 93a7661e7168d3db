"""Published Lexicon documents, and the interop files on schemas and records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smart_byte_atproto.data.json import loads_record
from smart_byte_atproto.errors import InvalidLexicon
from smart_byte_atproto.lexicon import Catalog, Validator, from_value, parse

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def interop(vectors: Path) -> Path:
    return vectors / "atproto-interop-tests" / "lexicon"


def test_every_published_document_parses_and_refers_to_what_exists(vectors: Path) -> None:
    catalog = Catalog.from_folder(vectors / "lexicons")
    files = list((vectors / "lexicons").rglob("*.json"))
    assert len(catalog) == len(files) > 250
    for file in files:
        assert catalog[parse(file.read_bytes()).id].defs
    assert list(catalog.dangling()) == []


def test_schemas_come_out_as_filed(interop: Path) -> None:
    for case in json.loads((interop / "lexicon-valid.json").read_text()):
        assert from_value(case["lexicon"]).defs, case["name"]
    for case in json.loads((interop / "lexicon-invalid.json").read_text()):
        with pytest.raises(InvalidLexicon):
            from_value(case["lexicon"])


def test_records_of_the_interop_catalogue_are_valid(interop: Path) -> None:
    validator = Validator(Catalog.from_folder(interop / "catalog"), lenient=True)
    cases = json.loads((interop / "record-data-valid.json").read_text())
    assert len(cases) >= 3
    for case in cases:
        record = loads_record(json.dumps(case["data"]), lenient=True)
        problems = validator.problems(
            record, collection="example.lexicon.record", record_key=case["rkey"]
        )
        assert problems == [], case["name"]
