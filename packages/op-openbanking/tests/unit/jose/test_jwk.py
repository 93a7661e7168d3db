from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from op_openbanking.errors import KeyNotFound, ProtocolViolation, UnusableKey
from op_openbanking.http.tls import ClientCertificate
from op_openbanking.jose.jwk import JWK, MAX_SET_KEYS, JWKSet
from op_openbanking.testing.pki import ThrowAwayCA


@lru_cache
def rsa_jwk() -> JWK:
    return JWK.from_private_key(rsa.generate_private_key(65537, 2048), kid="r")


@lru_cache
def ec_jwk() -> JWK:
    return JWK.from_private_key(ec.generate_private_key(ec.SECP256R1()), kid="e")


def rsa_members(**changes: Any) -> dict[str, Any]:
    return {**rsa_jwk().to_members(), **changes}


def ec_members(**changes: Any) -> dict[str, Any]:
    return {**ec_jwk().to_members(), **changes}


@pytest.mark.parametrize("make", [rsa_members, ec_members])
def test_reads_what_it_published(make: Any) -> None:
    jwk = JWK.from_members(make())
    assert jwk.to_members() == make()
    assert jwk.thumbprint() == JWK.from_pem(jwk.to_pem()).kid


@pytest.mark.parametrize(
    "changes",
    [
        {"kty": "oct", "k": "AAAA"},
        {"kty": "OKP"},
        {"kty": None},
        {"d": "AAAA"},
        {"n": None},
        {"n": 5},
        {"n": ""},
        {"n": "AAAA"},
        {"n": "é"},
        {"n": "AQAB="},
        {"e": "AA"},
        {"e": "Ag"},
        {"e": "AAEAAQ"},
        {"e": "____________"},
        {"kid": 7},
        {"use": []},
        {"alg": 1},
        {"key_ops": "verify"},
        {"key_ops": [1]},
        {"x5c": ["!"]},
        {"x5c": ["AAAA"]},
        {"x5c": "AAAA"},
    ],
)
def test_refuses_an_rsa_key_with_a_wrong_member(changes: dict[str, Any]) -> None:
    with pytest.raises(UnusableKey):
        JWK.from_members(rsa_members(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"crv": "P-384"},
        {"crv": "secp256k1"},
        {"x": "AAAA"},
        {"x": ec_members()["y"]},
        {"y": "A" * 43},
        {"y": "A" * 44},
    ],
)
def test_refuses_an_ec_key_with_a_wrong_member(changes: dict[str, Any]) -> None:
    with pytest.raises(UnusableKey):
        JWK.from_members(ec_members(**changes))


def test_refuses_short_keys_other_curves_and_other_types() -> None:
    weak = rsa.generate_private_key(65537, 1024).public_key()
    for key in (weak, ec.generate_private_key(ec.SECP384R1()).public_key()):
        with pytest.raises(UnusableKey):
            JWK(key)
    pem = (
        ed25519.Ed25519PrivateKey.generate()
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    for octets in (pem, b"no pem", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"):
        with pytest.raises(UnusableKey):
            JWK.from_pem(octets)


def test_a_certificate_must_hold_the_key_of_its_jwk() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    issued = ThrowAwayCA.create(now=now).issue("x", now=now)
    members = JWK.from_pem(issued.pem).to_members()
    assert JWK.from_members(members).x5c == (issued.der,)
    with pytest.raises(UnusableKey, match="another key"):
        JWK.from_members(ec_members(x5c=members["x5c"]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("06072a8648ce3d0201", "06072a8648ce3d0701"),
        ("06082a8648ce3d030107", "06082a8648ce3d030177"),
        ("a003020102", "a003020163"),
    ],
    ids=["kind of key", "curve", "version"],
)
def test_an_odd_certificate_costs_its_own_key_alone(before: str, after: str) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    issued = ThrowAwayCA.create(now=now).issue("x", now=now)
    odd = issued.der.replace(bytes.fromhex(before), bytes.fromhex(after), 1)
    assert odd != issued.der
    listed = [ec_members(kid="odd", x5c=[base64.b64encode(odd).decode()]), ec_members()]
    keys = JWKSet.parse(json.dumps({"keys": listed}).encode())
    assert [key.kid for key in keys] == ["e"]
    assert [each.kid for each in keys.skipped] == ["odd"]
    pem = b"-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----\n" % base64.encodebytes(odd)
    with pytest.raises(UnusableKey):
        JWK.from_pem(pem)
    with pytest.raises(UnusableKey):
        ClientCertificate.from_pem(pem, issued.key_pem)


def test_set_drops_what_it_cannot_use_and_says_why() -> None:
    weak = rsa.generate_private_key(65537, 1024).public_key().public_numbers()
    short = {"kty": "RSA", "kid": "weak", "e": "AQAB", "n": _b64(weak.n)}
    listed = [short, "x", {"kty": "oct", "kid": "mac", "k": "AAAA"}, ec_members()]
    keys = JWKSet.parse(json.dumps({"keys": listed}).encode())
    assert [key.kid for key in keys] == ["e"]
    assert [each.kid for each in keys.skipped] == ["weak", None, "mac"]
    with pytest.raises(KeyNotFound, match="1024 bits") as caught:
        keys.fitting("PS256", "weak")
    assert caught.value.check == "jwks-key-refused"


def _b64(number: int) -> str:
    octets = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"{}",
        b'{"keys":{}}',
        b'{"keys":[],"keys":[]}',
        json.dumps({"keys": [{}] * (MAX_SET_KEYS + 1)}).encode(),
        b'{"keys":[]}' + b" " * 600_000,
    ],
)
def test_refuses_a_document_that_is_no_set(document: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        JWKSet.parse(document)


def test_two_keys_may_share_a_kid() -> None:
    keys = JWKSet.parse(json.dumps({"keys": [rsa_members(kid="k"), ec_members(kid="k")]}).encode())
    assert keys.fitting("PS256", "k")[0].kty == "RSA"
    assert keys.fitting("ES256", "k")[0].kty == "EC"


@pytest.mark.parametrize(
    "changes", [{"use": "enc"}, {"alg": "RS256"}, {"key_ops": ["sign"]}, {"use": "other"}]
)
def test_a_key_for_something_else_does_not_fit(changes: dict[str, Any]) -> None:
    keys = JWKSet.of([JWK.from_members(rsa_members(**changes))])
    with pytest.raises(KeyNotFound) as caught:
        keys.fitting("PS256", "r")
    assert caught.value.check == "jwks-key-refused"
    with pytest.raises(KeyNotFound) as caught:
        keys.fitting("PS256", None)
    assert caught.value.check == "jwks-no-key"


def test_encryption_keys_are_found_for_encryption_only() -> None:
    keys = JWKSet.of([JWK.from_members(rsa_members(use="enc"))])
    assert keys.fitting("RSA-OAEP-256", None, "enc")[0].kid == "r"


def test_repr_shows_no_key_material() -> None:
    assert "public_key" not in repr(rsa_jwk())
    assert str(rsa_jwk().required_members()["n"]) not in repr(rsa_jwk())


def test_keys_are_values_that_fit_into_sets() -> None:
    again = JWK.from_members(ec_members())
    assert again == JWK.from_members(ec_members())
    assert len({again, JWK.from_members(ec_members()), JWK.from_members(rsa_members())}) == 2
    assert hash(JWKSet.of([again])) == hash(JWKSet.of([again]))
