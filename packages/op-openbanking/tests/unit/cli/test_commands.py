from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from op_openbanking.cli import main
from op_openbanking.eidas.qc_statements import CertificateType, Role
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.testing.pki import IssuedCertificate, ThrowAwayCA

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLIENT_FILE = 'issuer = "https://127.0.0.1:1"\nredirect_uri = "https://127.0.0.1:2/"\n'


@pytest.fixture(scope="module")
def issued() -> IssuedCertificate:
    return ThrowAwayCA.create(now=NOW).issue(
        "seal",
        now=NOW,
        organization_identifier="PSDDE-BAFIN-123456",
        roles=(Role.PSP_PI,),
        types=(CertificateType.SEAL,),
        authority=("Federal Authority", "DE-BAFIN"),
    )


@pytest.fixture
def folder(tmp_path: Path, issued: IssuedCertificate) -> Path:
    (tmp_path / "key.pem").write_bytes(issued.key_pem)
    (tmp_path / "cert.pem").write_bytes(issued.pem)
    (tmp_path / "cert.der").write_bytes(issued.der)
    (tmp_path / "body.json").write_bytes(b'{"a":1}')
    jwks = JWKSet.of([JWK.from_private_key(issued.key)])
    (tmp_path / "jwks.json").write_text(json.dumps(jwks.to_members()))
    return tmp_path


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)


def good(*arguments: object, stdin: str | bytes | None = None) -> str:
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


def as_json(*arguments: object, stdin: str | bytes | None = None) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(good(*arguments, "--json", stdin=stdin))
    return parsed


def test_help_lists_the_groups() -> None:
    shown = good("--help")
    for name in ("jws", "jwk", "cert"):
        assert name in shown
    assert run("other").exit_code == 2


def test_signs_and_verifies_compact(folder: Path) -> None:
    token = good("jws", "sign", "--key", folder / "key.pem", "--typ", "JWT", stdin=b"{}")
    verdict = as_json("jws", "verify", "--jwks", folder / "jwks.json", stdin=token)
    assert verdict["valid"] is True
    assert verdict["payload"] == {}
    assert verdict["header"]["typ"] == "JWT"
    shown = run("jws", "verify", "--key", folder / "cert.pem", stdin=token)
    assert (shown.exit_code, shown.stdout.strip()) == (0, "{}")
    assert "The signature holds." in shown.stderr


@pytest.mark.parametrize("raw", [[], ["--raw"]])
def test_signs_and_verifies_detached(folder: Path, raw: list[str]) -> None:
    body = folder / "body.json"
    token = good("jws", "sign", body, "--key", folder / "key.pem", "--detached", *raw)
    trust = ["--jwks", folder / "jwks.json"]
    assert as_json("jws", "verify", "--payload", body, *trust, stdin=token)["valid"] is True
    body.write_bytes(b'{"a":2}')
    done = run("jws", "verify", "--payload", body, *trust, "--json", stdin=token)
    assert done.exit_code == 1
    assert json.loads(done.stdout)["check"] == "jws-signature"


def test_signs_and_verifies_for_obie(folder: Path) -> None:
    key = rsa.generate_private_key(65537, 2048)
    store = pkcs12.serialize_key_and_certificates(
        b"n", key, None, None, BestAvailableEncryption(b"word")
    )
    (folder / "key.p12").write_bytes(store)
    (folder / "word").write_bytes(b"word\n")
    (folder / "rsa.pem").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    made = as_json(
        *("jws", "sign", folder / "body.json", "--obie-iss", "org/ssa"),
        *("--key", folder / "key.p12", "--password-file", folder / "word"),
    )
    assert made["alg"] == "PS256"
    trust = ["--key", folder / "rsa.pem", "--payload", folder / "body.json"]
    verdict = as_json("jws", "verify", "--obie-iss", "org/ssa", *trust, stdin=made["jws"])
    assert verdict["header"]["http://openbanking.org.uk/iss"] == "org/ssa"
    done = run("jws", "verify", *trust, stdin=made["jws"])
    assert done.exit_code == 1
    assert "jws-crit" in done.stderr
    for option, check in (("--obie-iss", "obie-iss"), ("--obie-tan", "obie-tan")):
        claims = {"--obie-iss": "org/ssa", option: "another"}
        named = [each for pair in claims.items() for each in pair]
        done = run("jws", "verify", *named, *trust, "--json", stdin=made["jws"])
        assert (done.exit_code, json.loads(done.stdout)["check"]) == (1, check)
    assert run("jws", "verify", "--obie-iss", "x", *trust[:2], stdin=made["jws"]).exit_code == 2


def test_what_is_no_url_and_no_text_is_named(tmp_path: Path) -> None:
    done = run("fapi", "discover", "https://[::1")
    assert (done.exit_code, done.stderr) == (1, "Error: the issuer is not a URL\n")
    (tmp_path / "tls.toml").write_text(CLIENT_FILE)
    (tmp_path / "bin.dat").write_bytes(b"\xff\xfe")
    named = ("--config", tmp_path / "tls.toml")
    done = run("fapi", "register", *named, "--statement", tmp_path / "bin.dat")
    assert done.exit_code == 1
    assert "no ASCII text" in done.stderr


def test_where_tokens_cannot_be_kept_nothing_is_asked_of_the_bank(tmp_path: Path) -> None:
    (tmp_path / "client.toml").write_text(CLIENT_FILE)
    absent = tmp_path / "absent" / "tokens.json"
    for command in (("authorize",), ("token", "--client-credentials")):
        named = ("--config", tmp_path / "client.toml", "--tokens", absent)
        done = run("fapi", *command, *named)
        assert done.exit_code == 1
        assert "cannot write" in done.stderr


def test_bad_input_ends_with_one_and_wrong_usage_with_two(folder: Path) -> None:
    (folder / "junk.pem").write_bytes(b"junk")
    assert run("jws", "sign", "--key", folder / "junk.pem", stdin=b"").exit_code == 1
    assert run("jws", "verify", stdin=b"").exit_code == 1
    assert run("jws", "verify", "--jwks", folder / "junk.pem", stdin=b"").exit_code == 1
    assert run("jws", "sign", "--key", folder / "key.pem", "--raw", stdin=b"").exit_code == 2
    assert run("jws", "sign", "--key", folder / "absent").exit_code == 2
    assert run("cert", "show", folder / "junk.pem").exit_code == 1


def test_makes_keys_thumbprints_and_sets(folder: Path, issued: IssuedCertificate) -> None:
    expected = JWK.from_private_key(issued.key)
    for file in ("key.pem", "cert.pem"):
        made = as_json("jwk", "from-pem", folder / file, "--kid", "k", "--alg", "ES256")
        assert (made["kid"], made["alg"], made["x"]) == (
            "k",
            "ES256",
            expected.required_members()["x"],
        )
        assert "d" not in made
        assert good("jwk", "thumbprint", folder / file) == expected.kid
    made = as_json("jwk", "jwks", folder / "key.pem", folder / "cert.pem")
    assert [each["kid"] for each in made["keys"]] == [expected.kid] * 2
    (folder / "public.jwk").write_text(json.dumps(made["keys"][0]))
    assert as_json("jwk", "thumbprint", folder / "public.jwk") == {"thumbprint": expected.kid}


def test_a_private_jwk_signs_and_shows_its_public_half(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())

    secret = key.private_numbers().private_value.to_bytes(32, "big")
    members = JWK.from_private_key(key, kid="mine").to_members()
    members["d"] = base64.urlsafe_b64encode(secret).rstrip(b"=").decode()
    (folder / "private.jwk").write_text(json.dumps(members))
    token = good("jws", "sign", "--key", folder / "private.jwk", stdin=b"x")
    assert as_json("jws", "verify", "--key", folder / "private.jwk", stdin=token)["valid"]
    assert "d" not in as_json("jwk", "from-pem", folder / "private.jwk")


@pytest.mark.parametrize("file", ["cert.pem", "cert.der"])
def test_shows_certificates(folder: Path, issued: IssuedCertificate, file: str) -> None:
    facts = as_json("cert", "show", folder / file, "--dn", "certificate-order")
    assert facts["roles"] == ["PSP_PI"]
    assert facts["types"] == ["eseal"]
    assert facts["authority"] == "DE-BAFIN"
    assert facts["organizationIdentifier"] == "PSDDE-BAFIN-123456"
    assert facts["subject"].startswith("C=DE, O=")
    shown = good("cert", "show", folder / file)
    assert "PSP_PI (payment initiation)" in shown
    assert good("cert", "thumbprint", folder / file) == facts["x5t#S256"]
    assert as_json("cert", "thumbprint", folder / file) == {"x5t#S256": facts["x5t#S256"]}


def test_a_failure_under_json_is_a_json_object(tmp_path: Path) -> None:
    (tmp_path / "junk.pem").write_bytes(b"junk")
    done = run("cert", "show", tmp_path / "junk.pem", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert (told["type"], told["check"], told["retryable"]) == (
        "CertificateInvalid",
        "certificate-form",
        False,
    )
    assert told["section"]
    done = run("fapi", "discover", "https://[::1", "--json")
    assert json.loads(done.stdout)["error"] == "the issuer is not a URL"
