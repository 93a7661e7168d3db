"""The command line against the official server, as a person would use it."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from smart_byte_atproto.xrpc import Client

from .conftest import Official

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]


def run(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "smart_byte_atproto", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_from_login_to_a_verified_repository(official: Official, tmp_path: Path) -> None:
    name, password = f"u{secrets.token_hex(5)}", secrets.token_urlsafe(12)
    with Client(official.pds, local=True) as client:
        made = client.procedure(
            "com.atproto.server.createAccount",
            {"handle": f"{name}.test", "email": f"{name}@example.test", "password": password},
        )
    did, session = str(made["did"]), tmp_path / "session.json"
    here = ("--plc", official.plc, "--local")

    shown = run("resolve", did, *here, "--json")
    assert json.loads(shown.stdout)["pds"] == official.pds

    logged_in = run("login", did, "--session", session, *here, stdin=password + "\n")
    assert logged_in.returncode == 0, logged_in.stderr
    assert did in logged_in.stdout
    assert session.stat().st_mode & 0o777 == 0o600
    assert password not in session.read_text()

    acting = ("--session", session, "--local")
    picture = tmp_path / "picture.png"
    picture.write_bytes(secrets.token_bytes(1000))
    blob = json.loads(run("blob", "upload", picture, *acting).stdout)
    record = {
        "text": "with a picture",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "embed": {"$type": "app.bsky.embed.images", "images": [{"alt": "", "image": blob}]},
    }
    created = run("record", "create", "app.bsky.feed.post", *acting, stdin=json.dumps(record))
    assert created.returncode == 0, created.stderr
    uri = created.stdout.split()[1]
    got = json.loads(run("record", "get", uri, *here, "--json").stdout)
    assert got["record"]["text"] == "with a picture"
    assert got["record"]["embed"]["images"][0]["image"] == blob

    put = run("record", "put", uri, *acting, stdin=json.dumps(record | {"text": "changed"}))
    assert put.returncode == 0, put.stderr
    assert json.loads(run("record", "get", uri, *here).stdout)["text"] == "changed"

    out = tmp_path / "repo.car"
    fetched = json.loads(run("repo", "fetch", did, "--out", out, *here, "--json").stdout)
    assert (fetched["did"], fetched["records"]) == (did, 1)
    assert out.exists()

    assert run("record", "delete", uri, *acting).returncode == 0
    gone = run("record", "get", uri, *here)
    assert gone.returncode == 1
    assert "no such record" in gone.stderr

    log = run("plc", "log", did, *here)
    assert log.returncode == 0
    assert "plc_operation" in log.stdout


def test_what_cannot_be_done_is_said_in_one_line(official: Official, tmp_path: Path) -> None:
    session = tmp_path / "session.json"
    here = ("--plc", official.plc, "--local")
    for arguments, said in (
        (
            ("record", "delete", "at://did:plc:a/app.bsky.feed.post/a", "--session", session),
            "login",
        ),
        (("resolve", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", *here), "nobody"),
        (("resolve", "nobody.example", *here), "no domain"),
        (("repo", "fetch", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", *here), "nobody"),
    ):
        done = run(*arguments)
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr
