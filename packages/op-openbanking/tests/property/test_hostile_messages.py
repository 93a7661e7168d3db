from __future__ import annotations

import base64
import contextlib
import json

from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, strategies as st

from op_openbanking.errors import OpenBankingError
from op_openbanking.jose.detached import verify_detached
from op_openbanking.jose.jwe import DecryptionKey, decrypt_compact
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.jose.jws import sign_compact, verify_compact
from op_openbanking.jose.jwt import ClaimRules, verify_jwt
from op_openbanking.signing.digest import verify_digest
from op_openbanking.signing.http_signature import SignatureParameters
from op_openbanking.signing.key_id import read_certificate_header
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.obie_signature import OBIEVerifier

SIGNER = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()), kid="k")
DECRYPTION = DecryptionKey(ec.generate_private_key(ec.SECP256R1()), "k")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
HEADER_NAMES = st.sampled_from(
    ["alg", "kid", "typ", "cty", "crit", "b64", "enc", "zip", "epk", "apu", "iss", "aud", "exp"]
)
HEADER_VALUES = JSON | st.sampled_from(["PS256", "ES256", "none", "ECDH-ES", "A256GCM", "k", "b64"])
HEADERS = st.dictionaries(HEADER_NAMES, HEADER_VALUES, max_size=6)


def part(value: object) -> str:
    octets = json.dumps(value).encode()
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


@given(HEADERS, st.text(alphabet="AQgw-_.", max_size=12))
def test_no_header_leaks_another_error(header: dict[str, object], rest: str) -> None:
    head = part(header)
    for token in (f"{head}.{rest}", f"{head}..{'A' * 86}", f"{head}.e30.{'A' * 86}"):
        with contextlib.suppress(OpenBankingError):
            verify_compact(token, SIGNER.jwk)
        with contextlib.suppress(OpenBankingError):
            verify_detached(token, b"{}", SIGNER.jwk, understood=["iss"])
        with contextlib.suppress(OpenBankingError):
            OBIEVerifier(SIGNER.jwk, "org").verify(token, b"{}", now_s=0)


@given(HEADERS, st.lists(st.text(alphabet="AQgw-_", max_size=24), min_size=4, max_size=4))
def test_no_encrypted_token_leaks_another_error(
    header: dict[str, object], parts: list[str]
) -> None:
    token = ".".join([part(header), *parts])
    with contextlib.suppress(OpenBankingError):
        decrypt_compact(token, DECRYPTION, algorithms=["ECDH-ES"], encryptions=["A256GCM"])


@given(st.dictionaries(HEADER_NAMES, JSON, max_size=6))
def test_no_claims_leak_another_error(claims: dict[str, object]) -> None:
    token = sign_compact(json.dumps(claims).encode(), SIGNER)
    rules = ClaimRules(issuer="a", audience="b", max_age_s=1, max_lifetime_s=1)
    with contextlib.suppress(OpenBankingError):
        verify_jwt(token, SIGNER.jwk, rules=rules, now_s=0)


MEMBERS = st.sampled_from(
    ["kty", "n", "e", "crv", "x", "y", "kid", "use", "alg", "key_ops", "x5c", "d"]
)
KEY_VALUES = JSON | st.sampled_from(["RSA", "EC", "P-256", "AQAB", "sig", "A" * 43, "A" * 342])


@given(st.lists(st.dictionaries(MEMBERS, KEY_VALUES, max_size=8), max_size=3), st.binary())
def test_no_key_set_leaks_another_error(listed: list[dict[str, object]], octets: bytes) -> None:
    with contextlib.suppress(OpenBankingError):
        JWKSet.parse(json.dumps({"keys": listed}).encode())
    with contextlib.suppress(OpenBankingError):
        JWKSet.parse(octets)
    for members in listed:
        with contextlib.suppress(OpenBankingError):
            JWK.from_members(members)


@given(st.text(max_size=60) | st.text(alphabet='keyIdsignature="\\,=0 ', max_size=60))
def test_no_header_line_leaks_another_error(value: str) -> None:
    with contextlib.suppress(OpenBankingError):
        SignatureParameters.parse(value)
    with contextlib.suppress(OpenBankingError):
        verify_digest(value, b"")
    with contextlib.suppress(OpenBankingError):
        read_certificate_header(value)
