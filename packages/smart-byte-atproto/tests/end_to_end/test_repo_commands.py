from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from smart_byte_atproto.car import load
from smart_byte_atproto.cli import main

pytestmark = pytest.mark.end_to_end

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
POST = "app.bsky.feed.post"


def run(*arguments: object, stdin: str = "") -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def done(*arguments: object, stdin: str = "") -> str:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.output


def post(text: str) -> str:
    return json.dumps({"$type": POST, "text": text})


def test_a_repository_from_init_to_verification(tmp_path: Path) -> None:
    key, store, car = tmp_path / "key", tmp_path / "repo.db", tmp_path / "repo.car"
    public = json.loads(done("key", "generate", "--output", key, "--json"))["did_key"]
    done("repo", "init", store, "--did", DID, "--key", key)
    for n in range(30):
        done("repo", "add", store, f"{POST}/{n:02}", stdin=post(str(n)))
    assert len(done("repo", "commit", store, "--key", key).splitlines()) == 31
    done("repo", "export", store, car)
    assert done("repo", "verify", car, "--key", public).startswith("valid\n")

    done("repo", "add", store, f"{POST}/07", stdin=post("edited"))
    done("repo", "add", store, f"{POST}/08", "--delete")
    done("repo", "add", store, f"{POST}/zz", stdin=post("another"))
    done("repo", "add", store, f"{POST}/zz", "--delete")
    operations = done("repo", "commit", store, "--key", key).splitlines()[1:]
    assert [line.split("\t")[:2] for line in operations] == [
        ["update", f"{POST}/07"],
        ["delete", f"{POST}/08"],
    ]
    later = tmp_path / "later.car"
    done("repo", "export", store, later)
    changes = [line.split("\t")[0] for line in done("repo", "diff", car, later).splitlines()]
    assert changes == [f"~ {POST}/07", f"- {POST}/08"]
    assert len(done("repo", "diff", later, car, "--json").splitlines()) == 2
    assert done("repo", "diff", later, store) == ""

    facts = json.loads(done("repo", "verify", later, "--key", public, "--json"))
    assert (facts["valid"], facts["did"], facts["records"]) == (True, DID, 29)
    assert len(done("repo", "ls", later).splitlines()) == 29
    assert done("repo", "ls", store) == done("repo", "ls", later)
    assert done("repo", "ls", later, "--collection", "app.bsky.feed.like") == ""
    assert json.loads(done("repo", "get", later, f"{POST}/07"))["text"] == "edited"
    assert load(later.read_bytes()).roots[0].is_strict
    assert sorted(path.name for path in tmp_path.iterdir() if "staged" in path.name) == []


def test_staged_changes_survive_and_a_repeated_commit_is_harmless(tmp_path: Path) -> None:
    key, store = tmp_path / "key", tmp_path / "repo.db"
    done("key", "generate", "--output", key)
    done("repo", "init", store, "--did", DID, "--key", key)
    done("repo", "add", store, f"{POST}/a", stdin=post("a"))
    staged = (tmp_path / "repo.db.staged").read_bytes()
    done("repo", "commit", store, "--key", key)
    # As if the process had died between the commit and the removal of the staged changes.
    (tmp_path / "repo.db.staged").write_bytes(staged)
    assert len(done("repo", "commit", store, "--key", key).splitlines()) == 1
    assert len(done("repo", "ls", store).splitlines()) == 1
    (tmp_path / "repo.db.staged").write_bytes(b"[]\n")
    assert run("repo", "commit", store, "--key", key).exit_code == 1


def test_what_a_crash_left_of_a_staged_change_is_dropped(tmp_path: Path) -> None:
    key, store, staged = tmp_path / "key", tmp_path / "repo.db", tmp_path / "repo.db.staged"
    done("key", "generate", "--output", key)
    done("repo", "init", store, "--did", DID, "--key", key)
    staged.write_bytes(b'{"path":"x","ci')
    done("repo", "add", store, f"{POST}/a", stdin=post("a"))
    with staged.open("ab") as file:
        file.write(b'{"path":"y')
    assert len(done("repo", "commit", store, "--key", key).splitlines()) == 2
    assert done("repo", "ls", store).startswith(f"{POST}/a")


def test_an_add_beside_a_commit_is_not_taken_away_with_it(tmp_path: Path) -> None:
    key, store = tmp_path / "key", tmp_path / "repo.db"
    done("key", "generate", "--output", key)
    done("repo", "init", store, "--did", DID, "--key", key)
    command = [sys.executable, "-m", "smart_byte_atproto", "repo"]
    adds = [
        subprocess.Popen(
            [*command, "add", str(store), f"{POST}/{n}", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        for n in range(6)
    ]
    for add in adds:
        assert add.stdin is not None
        add.stdin.write(post("x").encode())
        add.stdin.close()
    while any(add.poll() is None for add in adds):
        done("repo", "commit", store, "--key", key)
    assert [add.returncode for add in adds] == [0] * 6
    done("repo", "commit", store, "--key", key)
    assert len(done("repo", "ls", store).splitlines()) == 6


def test_export_refuses_a_folder_and_writes_into_a_pipe(tmp_path: Path) -> None:
    key, store = tmp_path / "key", tmp_path / "repo.db"
    done("key", "generate", "--output", key)
    done("repo", "init", store, "--did", DID, "--key", key)
    for output in (tmp_path, "/", "."):
        assert run("repo", "export", store, output).exit_code == 2
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    done("repo", "export", store, pipe)
    out, _ = reader.communicate(timeout=20)
    assert pipe.is_fifo()
    assert len(load(out).blocks) == 2


def test_bad_writes_and_bad_files_have_status_1(tmp_path: Path) -> None:
    key, store, car = tmp_path / "key", tmp_path / "repo.db", tmp_path / "repo.car"
    public = json.loads(done("key", "generate", "--output", key, "--json"))["did_key"]
    init = ("repo", "init", store, "--did", DID, "--key", key)
    assert run("repo", "init", store, "--did", "alice", "--key", key).exit_code == 1
    assert not store.exists()
    done(*init)
    assert run(*init).exit_code == 1
    assert run("repo", "add", store, "no-slash", stdin=post("a")).exit_code == 1
    assert run("repo", "add", store, f"{POST}/a", stdin="[]").exit_code == 1
    assert run("repo", "add", store, f"{POST}/a", stdin='{"x": 1.5}').exit_code == 1
    assert run("repo", "add", store, f"{POST}/a", "--delete").exit_code == 1
    assert run("repo", "get", store, f"{POST}/a").exit_code == 1
    done("repo", "add", store, f"{POST}/a", stdin=post("a"))
    done("repo", "commit", store, "--key", key)
    done("repo", "export", store, car)
    good = car.read_bytes()
    for bad in (b"", good[:-1], good.replace(b"text", b"test"), b"\x00" * 50):
        car.write_bytes(bad)
        assert run("repo", "verify", car, "--key", public).exit_code == 1
        assert run("repo", "ls", car).exit_code == 1
        result = run("repo", "verify", car, "--key", public, "--json")
        assert (result.exit_code, json.loads(result.output)["valid"]) == (1, False)
    car.write_bytes(good)
    other = json.loads(done("key", "generate", "--json"))["did_key"]
    result = run("repo", "verify", car, "--key", other, "--json")
    facts = json.loads(result.output)
    assert (facts["error"], facts["code"]) == ("BadSignature", "mismatch")
    assert run("repo", "verify", car).exit_code == 2
    assert run("repo", "verify", car, "--key", public, "--did", "did:web:x.test").exit_code == 1


def test_a_did_document_tells_key_and_account(tmp_path: Path) -> None:
    key, store, car = tmp_path / "key", tmp_path / "repo.db", tmp_path / "repo.car"
    public = json.loads(done("key", "generate", "--type", "P-256", "--output", key, "--json"))
    done("repo", "init", store, "--did", DID, "--key", key)
    done("repo", "export", store, car)
    method = {"id": f"{DID}#atproto", "type": "Multikey", "controller": DID}
    method["publicKeyMultibase"] = public["multikey"]
    document = tmp_path / "did.json"
    document.write_text(json.dumps({"id": DID, "verificationMethod": [method]}))
    done("repo", "verify", car, "--did-doc", document)
    assert run("repo", "verify", car, "--did-doc", document, "--key", "z").exit_code == 2
    other = DID.replace("ewvi", "aaaa")
    text = document.read_text().replace(DID, other)
    document.write_text(text)
    assert run("repo", "verify", car, "--did-doc", document).exit_code == 1
    document.write_text("no json")
    assert run("repo", "verify", car, "--did-doc", document).exit_code == 1


def test_ed25519_repositories_are_for_closed_systems_only(tmp_path: Path) -> None:
    key, store, car = tmp_path / "key", tmp_path / "repo.db", tmp_path / "repo.car"
    made = done("key", "generate", "--type", "Ed25519", "--output", key, "--json")
    public = json.loads(made)["did_key"]
    init = ("repo", "init", store, "--did", DID, "--key", key)
    assert run(*init).exit_code == 1
    store.unlink(missing_ok=True)
    done(*init, "--closed")
    done("repo", "export", store, car)
    assert run("repo", "verify", car, "--key", public).exit_code == 1
    done("repo", "verify", car, "--key", public, "--closed")
