"""`said`, `aid` and `bridge` as a person runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from smart_byte_atproto import car
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data import json as data_json
from smart_byte_atproto.repo import Repo
from smart_byte_atproto.repo.export import export_blocks
from smart_byte_atproto.stores.memory import MemoryStore

pytestmark = pytest.mark.end_to_end

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
POST = f"at://{DID}/app.bsky.feed.post/3jzfcijpj2z2a"
SUE = '{"d":"","first":"Sue","last":"Smith","role":"Founder"}'
SUE_SAID = "EPjC9oI1JVaeGTvqZbqq9gIuDnAM2ATUhbT4x3g88zll"
AID = "EAdiswB-RdGlljJgh7mT6IXTSWaBfpCGGa4a7fj1YzD9"


def run(folder: Path, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "smart_byte_atproto", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=folder,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three key files and the log of an AID."""
    keys = {
        "key": PrivateKey(KeyType.ED25519, bytes(range(1, 33))),
        "next": PrivateKey(KeyType.ED25519, bytes(range(0x21, 0x41))),
        "third": PrivateKey(KeyType.K256, bytes(range(1, 33))),
    }
    for name, key in keys.items():
        (tmp_path / name).write_text(key.export_multikey() + "\n")
    status, out, _ = run(tmp_path, "aid", "incept", "log", "--key", "key", "--next", "next")
    assert status == 0
    assert AID in out
    return tmp_path


def test_a_said_is_computed_embedded_and_verified(tmp_path: Path) -> None:
    assert run(tmp_path, "said", "compute", stdin=SUE) == (0, SUE_SAID + "\n", "")
    status, out, _ = run(tmp_path, "said", "compute", "--embed", stdin=SUE)
    assert (status, out) == (0, SUE.replace('"d":""', f'"d":"{SUE_SAID}"') + "\n")
    assert run(tmp_path, "said", "verify", stdin=out) == (0, f"valid  {SUE_SAID}\n", "")
    status, _, error = run(tmp_path, "said", "verify", stdin=out.replace("Sue", "Sam"))
    assert status == 1
    assert "the content makes" in error


def test_a_said_over_dag_cbor_is_another(tmp_path: Path) -> None:
    how = ("--serialization", "dag-cbor")
    post = json.dumps({"uri": POST})
    assert run(tmp_path, "said", "compute", *how, stdin=post)[1] == (
        "EHVP9RyAnjwDgiawk9L6ZbHLME3VQ9di_eS_nhWxerVh\n"
    )
    whole = run(tmp_path, "said", "compute", "--embed", *how, stdin=post)[1]
    assert run(tmp_path, "said", "verify", *how, stdin=whole)[0] == 0
    assert run(tmp_path, "said", "verify", stdin=whole)[0] == 1


def test_what_is_no_map_is_refused_in_one_line(tmp_path: Path) -> None:
    for text in ("", "[]", '{"a":1,"a":2}'):
        status, _, error = run(tmp_path, "said", "compute", stdin=text)
        assert status == 1
        assert error.startswith("Error: ")
        assert "Traceback" not in error


def test_keys_are_rotated_and_a_log_that_was_altered_is_refused(folder: Path) -> None:
    status, out, _ = run(
        folder, "aid", "rotate", "log", "--key", "next", "--next", "third", "--json"
    )
    assert status == 0
    assert json.loads(out)["sequence"] == 1
    assert run(folder, "aid", "verify", "log", "--json")[1] == out
    status, _, error = run(folder, "aid", "rotate", "log", "--key", "key")
    assert status == 1
    assert "committed to" in error
    assert run(folder, "aid", "verify", "log", "--json")[1] == out
    (folder / "log").write_text((folder / "log").read_text().replace("icp", "ixn"))
    assert run(folder, "aid", "verify", "log")[0] == 1


def test_a_log_that_is_there_is_not_written_over(folder: Path) -> None:
    before = (folder / "log").read_text()
    assert run(folder, "aid", "incept", "log", "--key", "third")[0] == 1
    assert (folder / "log").read_text() == before


def test_a_binding_is_made_and_verified_in_both_directions(folder: Path) -> None:
    status, record, where = run(
        folder, "bridge", "bind", POST, "--aid", AID, "--log", "log", "--key", "key"
    )
    assert status == 0
    path = where.strip().removeprefix(f"at://{DID}/")
    (folder / "binding.json").write_text(record)
    status, out, _ = run(folder, "bridge", "verify", "binding.json")
    assert status == 0
    assert "not checked: whether the account vouches" in out

    account = PrivateKey(KeyType.K256, bytes(range(1, 33)))
    repo = Repo.create(DID, MemoryStore())
    repo = repo.create_record("app.bsky.feed.post/3jzfcijpj2z2a", {"text": "hi"})
    repo = repo.create_record(path, data_json.loads_record(record))
    made = repo.commit(account, rev="3jzfcijpj2z2a")
    (folder / "repo.car").write_bytes(car.dump([made.commit.cid], export_blocks(made.repo)))
    both = ("--repo", "repo.car", "--key", account.public_key.did_key)
    status, out, _ = run(folder, "bridge", "verify", "binding.json", *both, "--json")
    assert status == 0
    assert json.loads(out) | {"date": ""} == {
        "valid": True,
        "uri": POST,
        "cid": None,
        "aid": AID,
        "said": path.rpartition("/")[2],
        "date": "",
        "anchored": False,
        "account_vouches": True,
    }
    (folder / "binding.json").write_text(record.replace("3jzfcijpj2z2a", "3jzfcijpj2z2b"))
    assert run(folder, "bridge", "verify", "binding.json", *both)[0] == 1


def test_a_binding_says_that_it_is_anchored_and_only_its_aid_makes_it(folder: Path) -> None:
    bind = ("bridge", "bind", POST, "--log", "log", "--key", "key")
    _, _, where = run(folder, *bind, "--aid", AID, "--date", "2026-01-01T00:00:00.000Z")
    said = where.strip().rpartition("/")[2]
    assert run(folder, "aid", "anchor", "log", said, "--key", "key")[0] == 0
    again = run(folder, *bind, "--aid", AID, "--date", "2026-01-01T00:00:00.000Z")
    assert again[2] == where
    assert '"anchored": true' in run(folder, "bridge", "verify", "--json", stdin=again[1])[1]
    status, _, error = run(folder, *bind, "--aid", "E" + "A" * 43)
    assert status == 1
    assert AID in error
