from __future__ import annotations

import datetime as dt
import json
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from op_openbanking.jose import base64url
from op_openbanking.signing.local import LocalSigner
from op_openbanking.testing.pki import IssuedCertificate, ThrowAwayCA

HERE = Path(__file__).parent
CACHE = HERE.parents[3] / ".cache" / "interop"
INITIAL_ACCESS_TOKEN = "let-me-register"


class Provider:
    """The certified provider in a process of its own, and everything the test knows about it."""

    def __init__(self, issuer: str, authority: ThrowAwayCA, keys: dict[str, LocalSigner]) -> None:
        self.issuer = issuer
        self.authority = authority
        self.keys = keys
        self.initial_access_token = INITIAL_ACCESS_TOKEN

    def certificate(self, name: str) -> IssuedCertificate:
        return self.authority.issue(name, now=dt.datetime.now(dt.UTC))


@pytest.fixture(scope="session")
def node_modules() -> Path:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node or npm is not installed")
    fcntl = pytest.importorskip("fcntl")
    CACHE.mkdir(parents=True, exist_ok=True)
    wanted, done = (HERE / "package.json").read_bytes(), CACHE / ".installed"
    with (CACHE / ".lock").open("w") as lock:
        # Two test processes share the folder: one of them installs.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_bytes() != wanted:
            _install(npm)
            done.write_bytes(wanted)
    return CACHE


def _install(npm: str) -> None:
    (CACHE / "package.json").write_bytes((HERE / "package.json").read_bytes())
    npm_install = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--no-package-lock"],
        cwd=CACHE,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    if npm_install.returncode:
        pytest.skip(f"npm could not install oidc-provider: {npm_install.stderr[-200:]}")


@pytest.fixture(scope="session")
def provider(node_modules: Path) -> Iterator[Provider]:
    now = dt.datetime.now(dt.UTC)
    authority = ThrowAwayCA.create(now=now)
    server = authority.issue("server", now=now, hosts=("localhost", "127.0.0.1"))
    rsa_key = rsa.generate_private_key(65537, 2048)
    ec_key = ec.generate_private_key(ec.SECP256R1())
    keys = {
        "PS256": LocalSigner.from_key(rsa_key, kid="rsa-1"),
        "ES256": LocalSigner.from_key(ec_key, kid="ec-1"),
        "RS256": LocalSigner.from_key(rsa_key, kid="rsa-1", alg="RS256"),
    }
    setup = {
        "key": server.key_pem.decode(),
        "certificate": server.pem.decode(),
        "authority": authority.pem.decode(),
        "jwks": {"keys": [_private_rsa(rsa_key), _private_ec(ec_key)]},
        "initialAccessToken": INITIAL_ACCESS_TOKEN,
    }
    process = subprocess.Popen(
        ["node", str(HERE / "server.mjs"), str(node_modules)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(setup) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], 30)
        line = process.stdout.readline() if ready else ""
        assert line, f"the provider did not start (status {process.poll()})"
        yield Provider(json.loads(line)["issuer"], authority, keys)
    finally:
        # The server ends when its standard input closes; its own process alone is ended otherwise.
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        process.stdout.close()


def _text(number: int, size: int | None = None) -> str:
    octets = number.to_bytes(size or (number.bit_length() + 7) // 8, "big")
    return base64url.encode(octets).decode()


def _private_rsa(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    numbers = key.private_numbers()
    parts = {"d": numbers.d, "p": numbers.p, "q": numbers.q, "dp": numbers.dmp1}
    parts |= {"dq": numbers.dmq1, "qi": numbers.iqmp, "n": numbers.public_numbers.n}
    members = {name: _text(value) for name, value in parts.items()}
    return {"kty": "RSA", "kid": "rsa-1", "use": "sig", "alg": "PS256", "e": "AQAB", **members}


def _private_ec(key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    numbers = key.private_numbers()
    point = numbers.public_numbers
    parts = {"d": numbers.private_value, "x": point.x, "y": point.y}
    members = {name: _text(value, 32) for name, value in parts.items()}
    return {"kty": "EC", "kid": "ec-1", "use": "sig", "alg": "ES256", "crv": "P-256", **members}
