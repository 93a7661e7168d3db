from __future__ import annotations

import asyncio
import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from op_openbanking.errors import ConfigError, SignatureInvalid
from op_openbanking.jose.detached import asign_detached, sign_detached, verify_detached
from op_openbanking.jose.jws import sign_compact
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.threaded import ThreadedSigner

SIGNER = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()), kid="k")
BODY = b'{"Amount":"10.00"}'


def forged(header: dict[str, object], covered: bytes) -> str:
    head = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=")
    signature = base64.urlsafe_b64encode(SIGNER.sign(head + b"." + covered)).rstrip(b"=")
    return f"{head.decode()}..{signature.decode()}"


def refused(signature: str, check: str, **options: object) -> None:
    with pytest.raises(SignatureInvalid) as caught:
        verify_detached(signature, BODY, SIGNER.jwk, **options)  # type: ignore[arg-type]
    assert caught.value.check == check


@pytest.mark.parametrize("b64", [True, False])
def test_verifies_what_it_signed_in_either_age(b64: bool) -> None:
    signature = sign_detached(BODY, SIGNER, header={"iat": 1}, critical=("iat",), b64=b64)
    assert ".." in signature
    verified = verify_detached(signature, BODY, SIGNER.jwk, understood=["iat"])
    assert verified.payload == BODY
    assert verified.header.get("b64", True) is b64
    for other in (BODY + b" ", b"", BODY.replace(b"10.00", b"1000")):
        with pytest.raises(SignatureInvalid):
            verify_detached(signature, other, SIGNER.jwk, understood=["iat"])


def test_awaited_signer_does_the_same() -> None:
    signature = asyncio.run(asign_detached(BODY, ThreadedSigner(SIGNER), b64=False))
    assert verify_detached(signature, BODY, SIGNER.jwk).key.kid == "k"


def test_raw_payload_may_hold_dots_and_any_octets() -> None:
    body = bytes(range(256)) + b"..."
    signature = sign_detached(body, SIGNER, b64=False)
    assert verify_detached(signature, body, SIGNER.jwk).payload == body


def test_refuses_b64_false_that_crit_does_not_list() -> None:
    header: dict[str, object] = {"alg": "ES256", "kid": "k", "b64": False}
    refused(forged(header, BODY), "jws-b64")
    refused(forged({**header, "iat": 1, "crit": ["iat"]}, BODY), "jws-b64", understood=["iat"])


@pytest.mark.parametrize("b64", [0, "false", None, []])
def test_refuses_b64_that_is_no_boolean(b64: object) -> None:
    header = {"alg": "ES256", "kid": "k", "b64": b64, "crit": ["b64"]}
    refused(forged(header, BODY), "jws-b64")


def test_refuses_critical_names_that_nobody_checks() -> None:
    signature = sign_detached(BODY, SIGNER, header={"iat": 1}, critical=("iat",))
    refused(signature, "jws-crit")


def test_refuses_a_critical_name_that_is_absent() -> None:
    header: dict[str, object] = {"alg": "ES256", "kid": "k", "crit": ["iat"]}
    refused(forged(header, BODY), "jws-crit", understood=["iat"])


def test_refuses_a_payload_inside() -> None:
    refused(sign_compact(BODY, SIGNER), "jws-form")


def test_refuses_the_signature_of_the_other_age() -> None:
    encoded = base64.urlsafe_b64encode(BODY).rstrip(b"=")
    header: dict[str, object] = {"alg": "ES256", "kid": "k"}
    refused(forged(header, BODY), "jws-signature")
    refused(forged({**header, "b64": False, "crit": ["b64"]}, encoded), "jws-signature")


def test_b64_and_crit_are_not_handed_in_as_members() -> None:
    for header in ({"b64": False}, {"crit": ["b64"]}):
        with pytest.raises(ConfigError):
            sign_detached(BODY, SIGNER, header=header)
    with pytest.raises(ConfigError, match="critical"):
        sign_detached(BODY, SIGNER, critical=("iat",))
