"""Logs of did:plc that must pass and that must fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smart_byte_atproto.errors import InvalidLog
from smart_byte_atproto.identity.plc_log import audit

pytestmark = pytest.mark.conformance

VALID = [
    "log_bnewbold_robocracy",
    "log_duplicate_rotation_keys",
    "log_empty_rotation_keys",
    "log_legacy_dholms",
    "log_nullification",
    "log_nullification_nontrivial",
    "log_tombstone",
]
INVALID = {
    "log_invalid_nullification_too_slow": "late",
    "log_invalid_sig_b64_newline": "signature",
    "log_invalid_sig_b64_padding_chars": "signature",
    "log_invalid_sig_der": "signature",
    "log_invalid_sig_k256_high_s": "signature",
    "log_invalid_update_tombstoned": "tombstone",
}


@pytest.mark.parametrize("name", VALID)
def test_log_is_accepted(vectors: Path, name: str) -> None:
    text = (vectors / "plc-audit-log" / "valid" / f"{name}.json").read_bytes()
    entries = json.loads(text)
    found = audit(text)
    assert found.did == entries[0]["did"]
    assert found.nullified == {i for i, entry in enumerate(entries) if entry["nullified"]}
    assert found.is_tombstoned == (name == "log_tombstone")
    standing = [entry["cid"] for entry in entries if not entry["nullified"]]
    assert str(found.head.cid) == standing[-1]


@pytest.mark.parametrize(("name", "code"), INVALID.items())
def test_log_is_refused(vectors: Path, name: str, code: str) -> None:
    text = (vectors / "plc-audit-log" / "invalid" / f"{name}.json").read_bytes()
    with pytest.raises(InvalidLog) as caught:
        audit(text)
    assert caught.value.code == code


def test_every_log_of_the_folder_is_tested(vectors: Path) -> None:
    folder = vectors / "plc-audit-log"
    assert {file.stem for file in (folder / "valid").iterdir()} == set(VALID)
    assert {file.stem for file in (folder / "invalid").iterdir()} == set(INVALID)


def test_a_legacy_first_operation_is_read_as_one_of_today(vectors: Path) -> None:
    text = (vectors / "plc-audit-log" / "valid" / "log_legacy_dholms.json").read_bytes()
    first = audit(text).operations[0]
    assert first.kind == "create"
    assert len(first.rotation_keys) == 2
    assert first.also_known_as[0].startswith("at://")
    assert first.services["atproto_pds"].endpoint.startswith("https://")
