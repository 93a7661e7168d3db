from __future__ import annotations

import datetime as dt
import json
import selectors
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from op_openbanking.http.tls import TrustAnchors, client_context

pytestmark = [pytest.mark.interop, pytest.mark.slow]


def openpay(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "op_openbanking", "fapi", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def facts(*arguments: str | Path) -> dict[str, Any]:
    done = openpay(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


class Desk:
    """A folder with keys, a client file and a free port on loopback."""

    def __init__(self, provider: Any, folder: Path) -> None:
        self.provider = provider
        self.folder = folder
        leaf = provider.certificate("tpp")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.redirect = f"https://127.0.0.1:{free.getsockname()[1]}/callback"
        for name, octets in {
            "tls.pem": leaf.pem,
            "tls-key.pem": leaf.key_pem,
            "signing.pem": leaf.key_pem,
            "ca.pem": provider.authority.pem,
            "initial.txt": provider.initial_access_token.encode(),
        }.items():
            (folder / name).write_bytes(octets)
        catcher = provider.authority.issue(
            "catcher", now=dt.datetime.now(dt.UTC), hosts=("127.0.0.1",)
        )
        self.catcher = folder / "catcher.pem"
        self.catcher.write_bytes(catcher.key_pem + catcher.pem)
        self.config = folder / "client.toml"
        self.tokens = folder / "tokens.json"
        self.write_config(client_id="")
        made = facts(
            "register",
            "--config",
            self.config,
            "--initial-access-token-file",
            folder / "initial.txt",
            "--save",
            folder / "registration.json",
        )
        self.client_id = made["client_id"]
        self.write_config(client_id=self.client_id)

    def write_config(self, *, client_id: str) -> None:
        self.config.write_text(
            f"""
            issuer = "{self.provider.issuer}"
            client_id = "{client_id}"
            redirect_uri = "{self.redirect}"
            scope = "openid accounts"
            signing_key = "signing.pem"
            tls_certificate = "tls.pem"
            tls_key = "tls-key.pem"
            ca = "ca.pem"
            """
        )

    def authorize(self, *options: str | Path) -> dict[str, Any]:
        """Run the command, be the browser, and return what it prints."""
        process = subprocess.Popen(
            [sys.executable, "-m", "op_openbanking", "fapi", "authorize", "--json"]
            + [str(each) for each in ("--config", self.config, "--tokens", self.tokens, *options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            url = _first_line(process)
            landed = self.browse(url)
            paste = "--paste" in options
            if not paste:
                self.arrive(landed)
            out, errors = process.communicate(f"{landed}\n" if paste else None, timeout=30)
        finally:
            process.kill()
            process.wait(10)
        assert process.returncode == 0, errors
        printed: dict[str, Any] = json.loads(out)
        return printed

    def browse(self, url: str) -> str:
        trust = TrustAnchors(ca_pem=self.provider.authority.pem)
        with httpx2.Client(verify=client_context(trust), trust_env=False) as browser:
            for _ in range(10):
                location: str = browser.get(url).headers["location"]
                url = str(httpx2.URL(url).join(location))
                if location.startswith(self.redirect):
                    return location
        raise AssertionError("the browser never came back")

    def arrive(self, landed: str) -> None:
        trust = TrustAnchors(ca_pem=self.provider.authority.pem)
        with httpx2.Client(verify=client_context(trust), trust_env=False) as browser:
            page = browser.get(landed)
            fragment = landed.partition("#")[2]
            if fragment:
                assert "location.hash" in page.text
                assert "default-src 'none'" in page.headers["content-security-policy"]
                form = {"content-type": "application/x-www-form-urlencoded"}
                page = browser.post(landed, content=fragment, headers=form)
            assert "You may close this window" in page.text


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        assert selector.select(30), "the command printed nothing"
    line = process.stderr.readline()
    assert line.startswith("Open: "), line + process.stderr.read()
    return line.removeprefix("Open: ").strip()


@pytest.fixture(scope="module")
def desk(provider: Any, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(provider, tmp_path_factory.mktemp("desk"))


def test_discover_prints_checked_metadata(desk: Desk) -> None:
    ca = desk.folder / "ca.pem"
    printed = facts("discover", desk.provider.issuer, "--ca", ca)
    assert printed["issuer"] == desk.provider.issuer
    table = openpay("discover", desk.provider.issuer, "--ca", ca).stdout
    assert "binds tokens to certificates" in table


def test_discover_refuses_a_server_it_does_not_trust(desk: Desk) -> None:
    done = openpay("discover", desk.provider.issuer)
    assert done.returncode == 1
    assert "no connection" in done.stderr


def test_register_keeps_the_answer_private(desk: Desk) -> None:
    kept = desk.folder / "registration.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_bytes())["client_id"] == desk.client_id


@pytest.mark.parametrize("answer", ["jarm", "hybrid"])
def test_authorize_catches_the_answer_on_loopback(desk: Desk, answer: str) -> None:
    printed = desk.authorize("--answer", answer, "--catcher-pem", desk.catcher)
    assert printed["subject"] == "user-1"
    assert stat.S_IMODE(desk.tokens.stat().st_mode) == 0o600
    kept = json.loads(desk.tokens.read_bytes())
    assert kept["access_token"] not in json.dumps(printed)


def test_authorize_takes_a_pasted_url(desk: Desk) -> None:
    printed = desk.authorize("--paste", "--intent-id", "intent-1")
    assert printed["scope"] == "openid accounts"


def test_token_refreshes_introspects_and_revokes(desk: Desk) -> None:
    desk.authorize("--paste")
    common = ("token", "--config", desk.config, "--tokens", desk.tokens)
    before = desk.tokens.read_bytes()
    assert facts(*common, "--refresh")["refreshable"]
    assert desk.tokens.read_bytes() != before
    assert facts(*common, "--introspect")["active"]
    assert facts(*common, "--revoke") == {"revoked": True}
    assert not desk.tokens.exists()


def test_token_serves_the_client_itself(desk: Desk) -> None:
    own = desk.folder / "own.json"
    arguments = ("token", "--config", desk.config, "--tokens", own, "--client-credentials")
    assert facts(*arguments)["scope"] == "accounts"


def test_a_refusal_ends_with_status_1_and_the_words_of_the_bank(desk: Desk) -> None:
    own, config = desk.folder / "refused.json", desk.folder / "nobody.toml"
    config.write_text(desk.config.read_text().replace(desk.client_id, "nobody"))
    done = openpay("token", "--config", config, "--tokens", own, "--client-credentials")
    assert done.returncode == 1
    assert "invalid_client" in done.stderr
    assert not own.exists()
