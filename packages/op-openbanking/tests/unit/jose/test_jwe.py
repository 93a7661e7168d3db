from __future__ import annotations

import base64
import json
from functools import lru_cache

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jwe as joserfc_jwe
from joserfc.jwk import RSAKey

from op_openbanking.errors import ConfigError, KeyNotFound, TokenInvalid
from op_openbanking.jose.jwe import (
    ENCRYPTIONS,
    KEY_ALGORITHMS,
    DecryptionKey,
    decrypt_compact,
    encrypt_compact,
    is_encrypted,
)
from op_openbanking.jose.jwk import JWK


@lru_cache
def own(alg: str) -> DecryptionKey:
    if alg.startswith("RSA"):
        return DecryptionKey(rsa.generate_private_key(65537, 2048), "dec")
    return DecryptionKey(ec.generate_private_key(ec.SECP256R1()), "dec")


def recipient(alg: str) -> JWK:
    return JWK(own(alg).key.public_key(), kid="dec", use="enc")


def decrypt(token: str, alg: str = "RSA-OAEP-256", enc: str = "A256GCM") -> bytes:
    key = own("RSA" if alg.startswith("RSA") else "EC")
    return decrypt_compact(token, key, algorithms=[alg], encryptions=[enc]).plaintext


@pytest.mark.parametrize("alg", sorted(KEY_ALGORITHMS))
@pytest.mark.parametrize("enc", sorted(ENCRYPTIONS))
def test_decrypts_what_it_encrypted(alg: str, enc: str) -> None:
    kind = "RSA" if alg.startswith("RSA") else "EC"
    token = encrypt_compact(b"inner", recipient(kind), alg=alg, enc=enc, cty="JWT")
    assert is_encrypted(token)
    opened = decrypt_compact(token, own(kind), algorithms=[alg], encryptions=[enc])
    assert opened.plaintext == b"inner"
    assert opened.header["kid"] == "dec"
    assert opened.header["cty"] == "JWT"
    assert "inner" not in repr(opened)


def test_refuses_algorithms_that_were_not_chosen() -> None:
    token = encrypt_compact(b"x", recipient("RSA"), alg="RSA-OAEP", enc="A256GCM")
    with pytest.raises(TokenInvalid) as caught:
        decrypt(token)
    assert caught.value.check == "jwe-alg"
    with pytest.raises(TokenInvalid) as caught:
        decrypt(token, alg="RSA-OAEP", enc="A128GCM")
    assert caught.value.check == "jwe-enc"


@pytest.mark.parametrize("alg", ["RSA1_5", "dir", "A256KW", "PBES2-HS256+A128KW"])
def test_what_fapi_forbids_cannot_be_chosen(alg: str) -> None:
    with pytest.raises(ConfigError):
        decrypt_compact("a.b.c.d.e", own("RSA"), algorithms=[alg], encryptions=["A256GCM"])
    with pytest.raises(ConfigError):
        encrypt_compact(b"x", recipient("RSA"), alg=alg, enc="A256GCM")


def test_refuses_compression() -> None:
    key = RSAKey.import_key(recipient("RSA").to_pem())
    header = {"alg": "RSA-OAEP-256", "enc": "A256GCM", "zip": "DEF", "kid": "dec"}
    registry = joserfc_jwe.JWERegistry(algorithms=["RSA-OAEP-256", "A256GCM", "DEF"])
    token = joserfc_jwe.encrypt_compact(header, b"x" * 1000, key, registry=registry)
    with pytest.raises(TokenInvalid) as caught:
        decrypt(token)
    assert caught.value.check == "jwe-zip"


def test_refuses_a_change_in_any_part() -> None:
    token = encrypt_compact(b"inner", recipient("RSA"), alg="RSA-OAEP-256", enc="A256GCM")
    parts = token.split(".")
    for place in range(1, 5):
        changed = list(parts)
        changed[place] = ("B" if changed[place][0] != "B" else "C") + changed[place][1:]
        with pytest.raises(TokenInvalid) as caught:
            decrypt(".".join(changed))
        assert caught.value.check == "jwe-decrypt"


@pytest.mark.parametrize(
    "token", ["", "a.b.c", "a.b.c.d.e", "é.b.c.d.e", ".".join("AAAA=" * 5), "a" * 70_000]
)
def test_refuses_what_is_no_jwe(token: str) -> None:
    with pytest.raises(TokenInvalid) as caught:
        decrypt(token)
    assert caught.value.check == "jwe-form"


def test_a_named_kid_must_be_ours() -> None:
    token = encrypt_compact(b"x", recipient("RSA"), alg="RSA-OAEP-256", enc="A256GCM")
    other = DecryptionKey(own("RSA").key, "other")
    for keys in (other, [other, other], []):
        with pytest.raises(KeyNotFound):
            decrypt_compact(token, keys, algorithms=["RSA-OAEP-256"], encryptions=["A256GCM"])


def test_a_token_with_broken_key_material_is_refused_like_any_other() -> None:
    epk = {"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"}
    for value in (epk, {}, 7, None, "x"):
        header = {"alg": "ECDH-ES", "enc": "A256GCM", "epk": value}
        head = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
        with pytest.raises(TokenInvalid) as caught:
            decrypt(f"{head}..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA", alg="ECDH-ES")
        assert caught.value.check == "jwe-decrypt"


@pytest.mark.parametrize("value", [None, ["RSA-OAEP-256"], {}, 1, "none"])
def test_refuses_an_algorithm_that_is_no_chosen_name(value: object) -> None:
    head = base64.urlsafe_b64encode(json.dumps({"alg": value, "enc": "A256GCM"}).encode())
    with pytest.raises(TokenInvalid) as caught:
        decrypt(f"{head.rstrip(b'=').decode()}.AAAA.AAAA.AAAA.AAAA")
    assert caught.value.check == "jwe-alg"


def test_a_key_for_signatures_is_not_encrypted_to() -> None:
    jwk = JWK(own("RSA").key.public_key(), use="sig")
    with pytest.raises(ConfigError):
        encrypt_compact(b"x", jwk, alg="RSA-OAEP-256", enc="A256GCM")


def test_keys_are_read_from_pem_and_jwk_and_never_shown() -> None:
    pem = own("EC").key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    key = DecryptionKey.from_pem(pem)
    assert key.kid == recipient("EC").thumbprint()
    assert repr(key) == f"DecryptionKey(kid='{key.kid}')"
