from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import jwt as pyjwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jws as joserfc_jws
from joserfc.jwk import ECKey, RSAKey
from jwcrypto.jwk import JWK as JWCryptoKey  # type: ignore[import-untyped] # noqa: N811
from jwcrypto.jws import JWS as JWCryptoJWS  # type: ignore[import-untyped] # noqa: N811

from op_openbanking.jose.detached import sign_detached, verify_detached
from op_openbanking.jose.jwk import JWK
from op_openbanking.jose.jws import sign_compact, verify_compact
from op_openbanking.signing.local import LocalSigner

pytestmark = pytest.mark.conformance
ALGORITHMS = ["PS256", "ES256"]
PAYLOAD = json.dumps({"iss": "tpp", "amount": "10.00", "name": "Zoë"}).encode()


@lru_cache
def signer(alg: str) -> LocalSigner:
    if alg == "ES256":
        return LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()))
    return LocalSigner.from_key(rsa.generate_private_key(65537, 2048))


def pem(alg: str) -> bytes:
    return signer(alg).key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def joserfc_key(alg: str, octets: bytes) -> RSAKey | ECKey:
    return ECKey.import_key(octets) if alg == "ES256" else RSAKey.import_key(octets)


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_pyjwt_agrees(alg: str) -> None:
    ours = sign_compact(PAYLOAD, signer(alg))
    assert pyjwt.PyJWS().decode(ours, signer(alg).jwk.public_key, [alg]) == PAYLOAD
    theirs = pyjwt.PyJWS().encode(PAYLOAD, signer(alg).key, alg, {"kid": signer(alg).kid})
    assert verify_compact(theirs, signer(alg).jwk).payload == PAYLOAD


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_joserfc_agrees(alg: str) -> None:
    ours = sign_compact(PAYLOAD, signer(alg))
    read = joserfc_jws.deserialize_compact(ours, joserfc_key(alg, signer(alg).jwk.to_pem()), [alg])
    assert read.payload == PAYLOAD
    theirs = joserfc_jws.serialize_compact({"alg": alg}, PAYLOAD, joserfc_key(alg, pem(alg)), [alg])
    assert verify_compact(theirs, signer(alg).jwk).payload == PAYLOAD


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_jwcrypto_agrees(alg: str) -> None:
    read = JWCryptoJWS()
    read.allowed_algs = [alg]
    read.deserialize(
        sign_compact(PAYLOAD, signer(alg)), JWCryptoKey.from_pem(signer(alg).jwk.to_pem())
    )
    assert read.payload == PAYLOAD
    made = JWCryptoJWS(PAYLOAD)
    made.add_signature(JWCryptoKey.from_pem(pem(alg)), protected={"alg": alg})
    theirs = made.serialize(compact=True)
    assert verify_compact(theirs, signer(alg).jwk).payload == PAYLOAD


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_thumbprints_agree(alg: str) -> None:
    jwk = signer(alg).jwk
    assert JWCryptoKey.from_pem(jwk.to_pem()).thumbprint() == jwk.thumbprint()
    assert joserfc_key(alg, jwk.to_pem()).thumbprint() == jwk.thumbprint()


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_published_keys_agree(alg: str) -> None:
    members: dict[str, Any] = json.loads(JWCryptoKey.from_pem(pem(alg)).export_public())
    members.pop("kid", None)
    jwk = JWK.from_members(members)
    assert jwk.required_members() == signer(alg).jwk.required_members()
    assert JWCryptoKey(**signer(alg).jwk.required_members()).thumbprint() == jwk.thumbprint()


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_jwcrypto_agrees_on_unencoded_detached_payloads(alg: str) -> None:
    body = b'{"Amount":"10.00"}'
    made = JWCryptoJWS(body)
    header = {"alg": alg, "b64": False, "crit": ["b64"]}
    made.add_signature(JWCryptoKey.from_pem(pem(alg)), protected=json.dumps(header))
    made.detach_payload()
    theirs = made.serialize(compact=True)
    assert verify_detached(theirs, body, signer(alg).jwk).payload == body
    read = JWCryptoJWS()
    read.allowed_algs = [alg]
    read.deserialize(sign_detached(body, signer(alg), b64=False))
    read.verify(JWCryptoKey.from_pem(signer(alg).jwk.to_pem()), detached_payload=body)
    assert read.is_valid
