from __future__ import annotations

import asyncio
import base64
import hmac
import json
from functools import lru_cache

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from op_openbanking.errors import ConfigError, KeyNotFound, SignatureInvalid, SignerMisbehaved
from op_openbanking.jose import jws
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.threaded import ThreadedSigner


@lru_cache
def signer_for(alg: str) -> LocalSigner:
    if alg == "ES256":
        return LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()), kid="key-es")
    return LocalSigner.from_key(rsa.generate_private_key(65537, 2048), alg=alg, kid="key-rsa")


def keys() -> JWKSet:
    return JWKSet.of([signer_for("PS256").jwk, signer_for("ES256").jwk])


def b64(value: object) -> str:
    octets = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def forged(header: object, payload: bytes = b"{}", alg: str = "PS256") -> str:
    """A token with a header of our making and a signature that holds over it."""
    signing_input = f"{b64(header)}.{b64(payload)}"
    return f"{signing_input}.{b64(signer_for(alg).sign(signing_input.encode()))}"


def refused(token: str | bytes, check: str) -> SignatureInvalid:
    with pytest.raises(SignatureInvalid) as caught:
        jws.verify_compact(token, keys())
    assert caught.value.check == check
    assert caught.value.section in str(caught.value)
    return caught.value


@pytest.mark.parametrize("alg", ["PS256", "ES256"])
def test_verifies_what_it_signed(alg: str) -> None:
    token = jws.sign_compact(b"payload", signer_for(alg), header={"typ": "JWT"})
    verified = jws.verify_compact(token, keys())
    assert verified.payload == b"payload"
    assert dict(verified.header) == {"alg": alg, "kid": signer_for(alg).kid, "typ": "JWT"}
    assert verified.key.kid == signer_for(alg).kid


@pytest.mark.parametrize("alg", ["PS256", "ES256"])
def test_awaited_signer_makes_the_same_kind_of_token(alg: str) -> None:
    token = asyncio.run(jws.asign_compact(b"payload", ThreadedSigner(signer_for(alg))))
    assert jws.verify_compact(token.encode(), keys()).payload == b"payload"


@pytest.mark.parametrize(
    "alg", ["none", "HS256", "RS256", "PS384", "ES384", "EdDSA", "ps256", 256, None, ["PS256"]]
)
def test_refuses_every_other_algorithm_and_names_the_section(alg: object) -> None:
    error = refused(forged({"alg": alg, "kid": "key-rsa"}), "jws-alg")
    assert "FAPI1-ADV 8.6" in error.section


def test_refuses_an_unsigned_token() -> None:
    refused(f"{b64({'alg': 'none'})}.{b64(b'{}')}.", "jws-alg")


def test_refuses_hs256_made_with_the_public_key_as_secret() -> None:
    signing_input = f"{b64({'alg': 'HS256', 'kid': 'key-rsa'})}.{b64(b'{}')}"
    secret = signer_for("PS256").jwk.to_pem()
    mac = hmac.digest(secret, signing_input.encode(), "sha256")
    refused(f"{signing_input}.{b64(mac)}", "jws-alg")


def test_rs256_outside_fapi_is_the_callers_explicit_choice() -> None:
    rs256 = LocalSigner.from_key(signer_for("PS256").key, alg="RS256", kid="key-rsa")
    token = jws.sign_compact(b"{}", rs256)
    refused(token, "jws-alg")
    assert jws.verify_compact(token, rs256.jwk, algorithms=["RS256"]).payload == b"{}"


@pytest.mark.parametrize(
    "algorithms", [[], ["none"], ["HS256"], ["RS512"], "PS256", ["PS256", "x"]]
)
def test_allow_list_cannot_name_what_is_never_accepted(algorithms: list[str]) -> None:
    with pytest.raises(ConfigError):
        jws.verify_compact(forged({"alg": "PS256"}), keys(), algorithms=algorithms)


def test_allow_list_narrows() -> None:
    token = jws.sign_compact(b"{}", signer_for("ES256"))
    with pytest.raises(SignatureInvalid) as caught:
        jws.verify_compact(token, keys(), algorithms=["PS256"])
    assert caught.value.check == "jws-alg"


def test_refuses_a_changed_letter_anywhere() -> None:
    token = jws.sign_compact(b'{"amount":"10.00"}', signer_for("ES256"))
    for place in range(len(token)):
        letter = "A" if token[place] != "A" else "B"
        changed = token[:place] + letter + token[place + 1 :]
        with pytest.raises((SignatureInvalid, KeyNotFound)):
            jws.verify_compact(changed, keys())


@pytest.mark.parametrize(
    "token",
    ["", ".", "..", "a.b", "a.b.c.d", "....", "é.b.c", b"\xff.\xff.\xff", "a" * 200_000],
)
def test_refuses_what_is_not_three_parts(token: str | bytes) -> None:
    refused(token, "jws-form")


def test_refuses_padding_and_blanks() -> None:
    head, payload, signature = forged({"alg": "PS256", "kid": "key-rsa"}, b"{}x").split(".")
    for token in (
        f"{head}=.{payload}.{signature}",
        f"{head}.{payload}=.{signature}",
        f"{head}.{payload}.{signature}==",
        f"{head}.{payload}.{signature}\n",
        f" {head}.{payload}.{signature}",
        f"{head}.{payload[:-1]}+.{signature}",
    ):
        refused(token, "jws-form")


def test_refuses_a_header_member_twice() -> None:
    head = b64(b'{"alg":"PS256","kid":"key-rsa","alg":"PS256"}')
    signing_input = f"{head}.{b64(b'{}')}"
    signature = b64(signer_for("PS256").sign(signing_input.encode()))
    refused(f"{signing_input}.{signature}", "jws-form")


@pytest.mark.parametrize(
    "header",
    [
        [],
        "x",
        1,
        {"alg": "PS256", "kid": 7},
        {"alg": "PS256", "typ": 7},
        {"alg": "PS256", "x": "y" * 9000},
    ],
)
def test_refuses_a_header_of_another_form(header: object) -> None:
    refused(forged(header), "jws-form")


@pytest.mark.parametrize("crit", [["exp"], ["b64"], [], "b64", [1], None, {"b64": 1}, ["x", "x"]])
def test_refuses_every_critical_name(crit: object) -> None:
    refused(forged({"alg": "PS256", "kid": "key-rsa", "b64": True, "crit": crit}), "jws-crit")


def test_refuses_ecdsa_in_der() -> None:
    signing_input = f"{b64({'alg': 'ES256', 'kid': 'key-es'})}.{b64(b'{}')}"
    key = signer_for("ES256").key
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    der = key.sign(signing_input.encode(), ec.ECDSA(hashes.SHA256()))
    refused(f"{signing_input}.{b64(der)}", "jws-signature-form")


@pytest.mark.parametrize("salt", [0, 20, 31, 33, padding.PSS.MAX_LENGTH])
def test_refuses_pss_with_another_salt_length(salt: int) -> None:
    signing_input = f"{b64({'alg': 'PS256', 'kid': 'key-rsa'})}.{b64(b'{}')}"
    key = signer_for("PS256").key
    assert isinstance(key, rsa.RSAPrivateKey)
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), salt)
    signature = key.sign(signing_input.encode(), pss, hashes.SHA256())
    refused(f"{signing_input}.{b64(signature)}", "jws-signature")


def test_refuses_the_signature_of_zeros() -> None:
    signing_input = f"{b64({'alg': 'ES256', 'kid': 'key-es'})}.{b64(b'{}')}"
    refused(f"{signing_input}.{b64(bytes(64))}", "jws-signature")


def test_never_takes_another_key_for_a_named_kid() -> None:
    token = forged({"alg": "PS256", "kid": "other"})
    with pytest.raises(KeyNotFound) as caught:
        jws.verify_compact(token, keys())
    assert caught.value.check == "jwks-kid"


def test_ignores_keys_that_the_header_brings_along() -> None:
    attacker = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()))
    header = {"alg": "ES256", "jwk": attacker.jwk.to_members(), "jku": "https://evil.example"}
    signing_input = f"{b64(header)}.{b64(b'{}')}"
    token = f"{signing_input}.{b64(attacker.sign(signing_input.encode()))}"
    refused(token, "jws-signature")


def test_tries_every_fitting_key_where_no_kid_is_named() -> None:
    other = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()), kid="other")
    several = JWKSet.of([other.jwk, signer_for("ES256").jwk])
    verified = jws.verify_compact(forged({"alg": "ES256"}, alg="ES256"), several)
    assert verified.key.kid == "key-es"


def test_one_nameless_key_is_pinned_whatever_the_kid() -> None:
    token = jws.sign_compact(b"{}", signer_for("ES256"))
    pinned = JWK(signer_for("ES256").jwk.public_key)
    assert jws.verify_compact(token, pinned).key is pinned


@pytest.mark.parametrize(
    "header", [{"alg": "none"}, {"kid": "x"}, {"crit": ["a"], "a": 1}, {"b64": False}]
)
def test_signer_owns_its_header_members(header: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        jws.sign_compact(b"{}", signer_for("ES256"), header=header)


def test_a_signer_that_shows_its_key_is_checked_on_every_signature() -> None:
    class Careless:
        alg, kid = "ES256", "key-es"
        public_key = signer_for("ES256").jwk.public_key

        def sign(self, data: bytes) -> bytes:
            return bytes(64)

    with pytest.raises(SignerMisbehaved) as caught:
        jws.sign_compact(b"{}", Careless())
    assert caught.value.check == "signer-signature"


def test_a_der_signature_of_a_users_signer_becomes_r_and_s() -> None:
    class DERSigner:
        alg, kid = "ES256", "key-es"

        def sign(self, data: bytes) -> bytes:
            key = signer_for("ES256").key
            assert isinstance(key, ec.EllipticCurvePrivateKey)
            return key.sign(data, ec.ECDSA(hashes.SHA256()))

    for _ in range(40):
        token = jws.sign_compact(b"{}", DERSigner())
        assert jws.verify_compact(token, keys()).payload == b"{}"


def test_a_signer_with_an_unknown_algorithm_makes_no_token() -> None:
    class Mac:
        alg, kid = "HS256", "x"

        def sign(self, data: bytes) -> bytes:
            return b"x"

    with pytest.raises(ConfigError, match="HS256"):
        jws.sign_compact(b"{}", Mac())


def test_peek_reads_without_verifying() -> None:
    header, payload = jws.peek(f"{b64({'alg': 'none', 'kid': 'k'})}.{b64(b'state')}.")
    assert header["kid"] == "k"
    assert payload == b"state"
    with pytest.raises(SignatureInvalid):
        jws.peek("a.b")


def test_reprs_hide_payload_and_signature() -> None:
    token = jws.sign_compact(b"secret-payload", signer_for("ES256"))
    shown = repr(jws.verify_compact(token, keys()))
    shown += repr(jws.prepare(b"secret-payload", alg="ES256", kid="k"))
    assert "secret" not in shown
    assert "payload=<14 bytes>" in shown


def test_what_is_remembered_of_a_header_holds_for_its_allow_list_alone() -> None:
    trusted = keys()
    token = jws.sign_compact(b"{}", signer_for("ES256"))
    for _ in range(2):
        assert jws.verify_compact(token, trusted).payload == b"{}"
        assert jws.verify_compact(token, trusted, algorithms=["ES256"]).payload == b"{}"
        with pytest.raises(SignatureInvalid) as caught:
            jws.verify_compact(token, trusted, algorithms=["PS256"])
        assert caught.value.check == "jws-alg"


def test_a_known_header_vouches_for_no_other_message() -> None:
    trusted = keys()
    token = jws.sign_compact(b"{}", signer_for("ES256"))
    head, _, signature = token.split(".")
    jws.verify_compact(token, trusted)
    with pytest.raises(SignatureInvalid) as caught:
        jws.verify_compact(f"{head}.{b64(b'other')}.{signature}", trusted)
    assert caught.value.check == "jws-signature"


def test_what_is_remembered_of_headers_is_bounded() -> None:
    trusted = keys()
    for number in range(600):
        token = jws.sign_compact(b"{}", signer_for("ES256"), header={"typ": str(number)})
        jws.verify_compact(token, trusted)
    assert 0 < len(trusted.memo) <= 256


@pytest.mark.parametrize("value", [False, "false", None])
def test_an_unencoded_payload_has_no_place_in_a_compact_jws(value: object) -> None:
    refused(forged({"alg": "PS256", "kid": "key-rsa", "b64": value}), "jws-b64")
