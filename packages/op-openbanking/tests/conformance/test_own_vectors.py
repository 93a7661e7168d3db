from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from op_openbanking.errors import SecurityError, SignatureInvalid
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.jws import verify_compact
from op_openbanking.signing.http_signature import BERLIN_GROUP, prepare_message
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.obie_signature import OBIEVerifier

pytestmark = pytest.mark.conformance

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "own_vectors.json").read_text(encoding="utf-8")
)
KEYS = JWKSet.from_members(VECTORS["keys"]["jwks"])
NOW = 1_735_689_600


@pytest.mark.parametrize("alg", sorted(VECTORS["compact"]))
def test_compact_signature_holds(alg: str) -> None:
    verified = verify_compact(VECTORS["compact"][alg]["jws"], KEYS)
    assert verified.payload.decode() == VECTORS["compact"][alg]["payload"]
    assert verified.header["alg"] == alg


@pytest.mark.parametrize("kind", sorted(VECTORS["refused"]))
def test_signature_of_a_forbidden_kind_is_refused(kind: str) -> None:
    with pytest.raises(SignatureInvalid) as caught:
        verify_compact(VECTORS["refused"][kind], KEYS)
    expected = {
        "ES256 in DER": "jws-signature-form",
        "PS256 with the longest salt": "jws-signature",
    }
    assert caught.value.check == expected.get(kind, "jws-alg")


@pytest.mark.parametrize("age", ["encoded", "raw"])
def test_detached_signature_holds_over_its_body_alone(age: str) -> None:
    group = VECTORS["detached"]
    verifier = OBIEVerifier(KEYS, "org")
    body = group["body"].encode()
    assert verifier.verify(group[age], body, now_s=NOW).payload == body
    respaced = json.dumps(json.loads(body), ensure_ascii=False).encode()
    for other in (respaced, body + b"\n", body.replace(b"10.00", b"10.0")):
        with pytest.raises(SecurityError):
            verifier.verify(group[age], other, now_s=NOW)


@pytest.mark.parametrize("name", ["rsa", "ec"])
def test_kid_is_the_thumbprint(name: str) -> None:
    signer = LocalSigner.from_pem(VECTORS["keys"][f"{name}_pem"].encode())
    assert KEYS.has_kid(signer.kid)


def test_http_signature_is_reproduced() -> None:
    group = VECTORS["http_signature"]
    signer = LocalSigner.from_pem(VECTORS["keys"]["rsa_pem"].encode(), alg="RS256")
    lines = [line.split(": ", 1) for line in group["signing_string"].split("\n")]
    ready = prepare_message(
        BERLIN_GROUP,
        method="POST",
        target="/",
        headers=[(name, value) for name, value in lines if name != "digest"],
        body=group["body"].encode(),
        alg=signer.alg,
        key_id="k",
    )
    assert ready.octets.decode() == group["signing_string"]
    assert base64.b64encode(signer.sign(ready.octets)).decode() == group["signature"]
