from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from op_openbanking.eidas.certificate import Certificate
from op_openbanking.jose.hashes import x5t_s256
from op_openbanking.signing.digest import digest, verify_digest
from op_openbanking.signing.http_signature import (
    BERLIN_GROUP,
    STET,
    prepare_message,
    sign_message,
    verify_message,
)
from op_openbanking.signing.key_id import (
    berlin_group_key_id,
    certificate_header,
    read_certificate_header,
    stet_key_id,
)
from op_openbanking.signing.local import LocalSigner

pytestmark = pytest.mark.conformance


class Line(NamedTuple):
    method: str
    target: str


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "specs" / "openbanking" / "vectors"


@pytest.fixture(scope="module")
def vectors(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "vectors.json").read_bytes())
    return loaded


@pytest.fixture(scope="module")
def signer(folder: Path) -> LocalSigner:
    return LocalSigner.from_pem((folder / "seal_rsa2048_key.pem").read_bytes(), alg="RS256")


@pytest.fixture(scope="module")
def certificate(folder: Path) -> Certificate:
    return Certificate.read((folder / "seal_cert.pem").read_bytes())


@pytest.fixture(scope="module")
def body(folder: Path) -> bytes:
    return (folder / "bg_body.json").read_bytes()


def lines_of(signing_string: str) -> list[tuple[str, str]]:
    pairs = (line.split(": ", 1) for line in signing_string.split("\n"))
    return [(name, value) for name, value in pairs if name not in ("digest", "(request-target)")]


def test_digests(vectors: dict[str, Any], body: bytes) -> None:
    group = vectors["bg_http_signature"]
    assert digest(body) == group["digest"]
    assert digest(b"") == group["digest_empty_body"]
    verify_digest(group["digest"], body)


def test_berlin_group_signature_is_reproduced_to_the_last_octet(
    vectors: dict[str, Any], signer: LocalSigner, certificate: Certificate, body: bytes
) -> None:
    group = vectors["bg_http_signature"]
    headers = lines_of(group["signing_string"])
    key_id = berlin_group_key_id(certificate)
    assert key_id == group["keyId"]
    message = Line("POST", "/v1/consents")
    added = sign_message(
        BERLIN_GROUP,
        signer,
        headers=headers,
        body=body,
        key_id=key_id,
        method=message.method,
        target=message.target,
    )
    assert dict(added) == {"Digest": group["digest"], "Signature": group["Signature"]}
    sent = [*headers, *added]
    verify_message(
        BERLIN_GROUP,
        certificate.public_key,
        headers=sent,
        body=body,
        method=message.method,
        target=message.target,
    )
    ready = prepare_message(
        BERLIN_GROUP,
        headers=headers,
        body=body,
        alg="RS256",
        key_id=key_id,
        method=message.method,
        target=message.target,
    )
    assert ready.octets.decode() == group["signing_string"]


def test_certificate_header_is_the_published_one(
    vectors: dict[str, Any], certificate: Certificate
) -> None:
    value = vectors["bg_http_signature"]["TPP-Signature-Certificate"]
    assert certificate_header(certificate) == ("TPP-Signature-Certificate", value)
    assert read_certificate_header(value).x5t_s256 == vectors["x5t"]["x5t#S256"]


def test_stet_signature_is_reproduced_to_the_last_octet(
    vectors: dict[str, Any], signer: LocalSigner, certificate: Certificate, body: bytes
) -> None:
    group = vectors["stet_http_signature"]
    assert stet_key_id(certificate, base_url="https://tpp.example/certs/seal_") == group["keyId"]
    headers = lines_of(group["signing_string"])
    target = group["signing_string"].split("\n")[0].split(" ")[2]
    message = Line("POST", target)
    added = sign_message(
        STET,
        signer,
        headers=headers,
        body=body,
        key_id=group["keyId"],
        method=message.method,
        target=message.target,
    )
    assert f'signature="{group["signature_rsa_sha256"]}"' in dict(added)["Signature"]
    verify_message(
        STET,
        certificate.public_key,
        headers=[*headers, *added],
        body=body,
        method=message.method,
        target=message.target,
    )


def test_certificate_of_the_vectors(vectors: dict[str, Any], certificate: Certificate) -> None:
    assert certificate.serial == 0x9FA1
    assert str(certificate.organization_identifier) == "PSDGB-FCA-123456"
    assert certificate.x5t_s256 == x5t_s256(certificate.x509) == vectors["x5t"]["x5t#S256"]
    assert certificate.issuer() == "CN=Example QTSP CA 1,O=Example QTSP GmbH,C=DE"
