from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from op_openbanking.errors import SignatureInvalid, UnusableKey
from op_openbanking.jose import hashes, jws
from op_openbanking.jose.detached import prepare_detached, verify_detached
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.signing.local import LocalSigner

pytestmark = pytest.mark.conformance

OBIE_NAMES = tuple(f"http://openbanking.org.uk/{name}" for name in ("iat", "iss", "tan"))
AGES = ("v3.1.4+", "v3.1.3-")


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "specs" / "openbanking" / "vectors"


@pytest.fixture(scope="module")
def vectors(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "vectors.json").read_bytes())
    return loaded


@pytest.fixture(scope="module")
def keys(folder: Path) -> JWKSet:
    return JWKSet.parse((folder / "jwks.json").read_bytes())


def test_rfc7638_thumbprint_of_the_rfcs_own_key(vectors: dict[str, Any]) -> None:
    members = json.loads(vectors["rfc7638"]["canonical_json"])
    assert JWK.from_members(members).thumbprint() == vectors["rfc7638"]["thumbprint"]


def test_x5t_s256_of_the_certificate(folder: Path, vectors: dict[str, Any]) -> None:
    der = (folder / "seal_cert.der").read_bytes()
    assert len(der) == vectors["x5t"]["der_len"]
    assert hashes.x5t_s256(der) == vectors["x5t"]["x5t#S256"]
    wrong = {value for name, value in vectors["x5t"].items() if name.startswith("WRONG")}
    assert hashes.x5t_s256(der) not in wrong


def test_x5t_s256_refuses_pem_text(folder: Path) -> None:
    with pytest.raises(UnusableKey, match="DER"):
        hashes.x5t_s256((folder / "seal_cert.pem").read_bytes())


@pytest.mark.parametrize(("file", "kind"), [("seal_rsa2048_key", "rsa"), ("ec_p256_key", "ec")])
def test_jwk_of_a_private_pem(folder: Path, vectors: dict[str, Any], file: str, kind: str) -> None:
    signer = LocalSigner.from_pem((folder / f"{file}.pem").read_bytes())
    expected = dict(vectors["jwk"][kind])
    assert signer.kid == expected.pop("thumbprint")
    assert signer.jwk.required_members() == expected


def test_hashes_of_state_code_and_access_token(vectors: dict[str, Any]) -> None:
    group = vectors["hashes"]
    assert hashes.s_hash(group["s_hash"]["state"]) == group["s_hash"]["value"]
    assert hashes.c_hash(group["c_hash"]["code"]) == group["c_hash"]["value"]
    assert hashes.at_hash(group["at_hash"]["access_token"]) == group["at_hash"]["value"]


def test_pkce_challenge(vectors: dict[str, Any]) -> None:
    verifier = vectors["pkce"]["code_verifier"].encode("ascii")
    assert hashes.sha256_base64url(verifier) == vectors["pkce"]["S256"]


@pytest.mark.parametrize("age", AGES)
def test_detached_signature_verifies_in_its_own_mode(
    folder: Path, vectors: dict[str, Any], keys: JWKSet, age: str
) -> None:
    body = (folder / "obie_body.json").read_bytes()
    vector = vectors["detached_jws"][age]
    verified = verify_detached(vector["x-jws-signature"], body, keys, understood=OBIE_NAMES)
    assert dict(verified.header) == vector["header"]


@pytest.mark.parametrize("age", AGES)
def test_detached_signing_input_is_the_published_one(
    folder: Path, vectors: dict[str, Any], age: str
) -> None:
    body = (folder / "obie_body.json").read_bytes()
    vector = vectors["detached_jws"][age]
    wanted = dict(vector["header"])
    alg, kid = wanted.pop("alg"), wanted.pop("kid")
    wanted.pop("crit")
    b64 = wanted.pop("b64", True)
    ready = prepare_detached(body, alg=alg, kid=kid, header=wanted, critical=OBIE_NAMES, b64=b64)
    if b64:
        digest = hashlib.sha256(ready.octets).hexdigest()
        assert digest == vector["signing_input_sha256_hex"]
    else:  # the published header puts b64 between others: compare members and body
        head, _, rest = ready.octets.partition(b".")
        assert dict(jws.parse_header(head).members) == vector["header"]
        assert rest == body
        octets = vector["protected_b64u"].encode("ascii") + b"." + body
        assert hashlib.sha256(octets).hexdigest() == vector["signing_input_sha256_hex"]


@pytest.mark.parametrize("age", AGES)
def test_detached_signature_fails_over_another_body(
    folder: Path, vectors: dict[str, Any], keys: JWKSet, age: str
) -> None:
    body = (folder / "obie_body.json").read_bytes()
    signature = vectors["detached_jws"][age]["x-jws-signature"]
    respaced = json.dumps(json.loads(body)).encode()
    for other in (body[:-1] + b" ", body + b"\n", respaced, b""):
        with pytest.raises(SignatureInvalid) as caught:
            verify_detached(signature, other, keys, understood=OBIE_NAMES)
        assert caught.value.check == "jws-signature"


@pytest.mark.parametrize("age", AGES)
def test_detached_signature_fails_in_the_other_mode(
    folder: Path, vectors: dict[str, Any], keys: JWKSet, age: str
) -> None:
    other = AGES[1 - AGES.index(age)]
    signature = vectors["detached_jws"][age]["x-jws-signature"].rpartition(".")[2]
    swapped = f"{vectors['detached_jws'][other]['protected_b64u']}..{signature}"
    with pytest.raises(SignatureInvalid) as caught:
        verify_detached(
            swapped, (folder / "obie_body.json").read_bytes(), keys, understood=OBIE_NAMES
        )
    assert caught.value.check == "jws-signature"


def test_es256_client_assertion(vectors: dict[str, Any], keys: JWKSet) -> None:
    verified = jws.verify_compact(vectors["client_assertion_es256"]["jwt"], keys)
    assert json.loads(verified.payload) == vectors["client_assertion_es256"]["claims"]
    assert verified.key.kty == "EC"
