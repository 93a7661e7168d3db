from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from op_openbanking.errors import ConfigError, KeyNotFound, SecurityError, TokenInvalid
from op_openbanking.jose.detached import sign_detached
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.obie_signature import (
    CRITICAL,
    IAT,
    ISS,
    TAN,
    OBIESignatures,
    OBIEVerifier,
    is_encoded,
)
from op_openbanking.signing.threaded import ThreadedSigner

NOW = 1_735_689_600
BODY = b'{"Data":{}}'
GOOD: dict[str, object] = {IAT: NOW, ISS: "org", TAN: "openbanking.org.uk"}


@lru_cache
def signer() -> LocalSigner:
    return LocalSigner.from_key(rsa.generate_private_key(65537, 2048), kid="k")


def verifier() -> OBIEVerifier:
    return OBIEVerifier(signer().jwk, "org")


def refused(header: dict[str, object], critical: tuple[str, ...] = CRITICAL) -> str:
    signature = sign_detached(BODY, signer(), header=header, critical=critical)
    with pytest.raises(SecurityError) as caught:
        verifier().verify(signature, BODY, now_s=NOW)
    return caught.value.check


@pytest.mark.parametrize("b64", [True, False])
def test_verifies_what_it_signed_in_either_age(b64: bool) -> None:
    signatures = OBIESignatures("org", b64=b64)
    for value in (
        signatures.sign(BODY, signer(), now_s=NOW),
        asyncio.run(signatures.asign(BODY, ThreadedSigner(signer()), now_s=NOW)),
    ):
        verified = verifier().verify(value, BODY, now_s=NOW + 5)
        assert ("b64" in verified.header) is not b64
        with pytest.raises(SecurityError):
            verifier().verify(value, BODY + b"\n", now_s=NOW)


@pytest.mark.parametrize(
    ("version", "encoded"),
    [("3.1.3", False), ("3.1", False), ("v3.1.2", False), ("3.1.4", True), ("v3.1.10", True)],
)
def test_age_follows_the_version(version: str, encoded: bool) -> None:
    assert is_encoded(version) is encoded


def test_a_version_must_be_one() -> None:
    with pytest.raises(ConfigError):
        is_encoded("latest")


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({IAT: NOW + 11}, "obie-iat"),
        ({IAT: "now"}, "obie-iat"),
        ({IAT: True}, "obie-iat"),
        ({ISS: "other"}, "obie-iss"),
        ({ISS: None}, "obie-iss"),
        ({TAN: "evil.example"}, "obie-tan"),
        ({TAN: ["openbanking.org.uk"]}, "obie-tan"),
        ({"typ": "JWT"}, "obie-header"),
        ({"cty": "text/xml"}, "obie-header"),
        ({"x5u": "https://evil.example"}, "obie-header"),
    ],
)
def test_refuses_a_member_outside_the_rules(changes: dict[str, Any], check: str) -> None:
    assert refused({**GOOD, **changes}) == check


@pytest.mark.parametrize("left_out", CRITICAL)
def test_refuses_crit_that_does_not_list_all_three(left_out: str) -> None:
    assert refused(GOOD, tuple(n for n in CRITICAL if n != left_out)) == "obie-header"


def test_refuses_es256_and_foreign_kids() -> None:
    es256 = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()), kid="k")
    signature = sign_detached(BODY, es256, header=GOOD, critical=CRITICAL)
    with pytest.raises(SecurityError) as caught:
        verifier().verify(signature, BODY, now_s=NOW)
    assert caught.value.check == "jws-alg"
    with pytest.raises(ConfigError, match="PS256"):
        OBIESignatures("org").sign(BODY, es256, now_s=NOW)
    foreign = LocalSigner.from_key(signer().key, kid="other")
    with pytest.raises(KeyNotFound):
        verifier().verify(OBIESignatures("org").sign(BODY, foreign, now_s=NOW), BODY, now_s=NOW)


def test_leeway_has_bounds() -> None:
    with pytest.raises(ConfigError):
        OBIEVerifier(signer().jwk, "org", leeway_s=301)


@pytest.mark.parametrize("iat_s", [-1, 10**12, 1_000])
def test_iat_must_be_a_time_and_recent_where_that_is_asked(iat_s: int) -> None:
    signer = LocalSigner.from_key(rsa.generate_private_key(65537, 2048), kid="bank")
    made = OBIESignatures("bank").sign(b"{}", signer, now_s=iat_s)
    verifier = OBIEVerifier(signer.jwk, "bank", max_age_s=600)
    with pytest.raises(TokenInvalid) as caught:
        verifier.verify(made, b"{}", now_s=1e13 if iat_s > 1_000 else 5_000)
    assert caught.value.check == "obie-iat"
