from __future__ import annotations

import base64
from functools import lru_cache

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from op_openbanking.errors import UnknownPlugin, UnusableKey
from op_openbanking.jose.algorithms import Algorithm
from op_openbanking.jose.jws import sign_compact, verify_compact
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.registry import SIGNERS, signer_class

PASSWORD = b"correct horse"


@lru_cache
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@lru_cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, form: PrivateFormat) -> bytes:
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


def text(number: int, size: int | None = None) -> str:
    octets = number.to_bytes(size or (number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def private_members() -> dict[str, object]:
    numbers = rsa_key().private_numbers()
    own = {"d": numbers.d, "p": numbers.p, "q": numbers.q}
    own |= {"dp": numbers.dmp1, "dq": numbers.dmq1, "qi": numbers.iqmp}
    public = LocalSigner.from_key(rsa_key()).jwk.required_members()
    return {**public, **{name: text(value) for name, value in own.items()}}


def works(signer: LocalSigner) -> bool:
    token = sign_compact(b"{}", signer)
    return verify_compact(token, signer.jwk).payload == b"{}"


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_reads_pem_in_both_forms(form: PrivateFormat) -> None:
    assert works(LocalSigner.from_pem(pem(rsa_key(), form)))
    assert works(LocalSigner.from_pem(pem(ec_key(), form), kid="mine"))


def test_reads_encrypted_pem_and_pkcs12() -> None:
    locked = BestAvailableEncryption(PASSWORD)
    octets = ec_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked)
    assert works(LocalSigner.from_pem(octets, password=PASSWORD))
    store = pkcs12.serialize_key_and_certificates(b"n", rsa_key(), None, None, locked)
    assert works(LocalSigner.from_pkcs12(store, password=PASSWORD))
    for password in (b"wrong", None):
        with pytest.raises(UnusableKey) as caught:
            LocalSigner.from_pem(octets, password=password)
        assert caught.value.__cause__ is None
        with pytest.raises(UnusableKey):
            LocalSigner.from_pkcs12(store, password=password)
    with pytest.raises(UnusableKey):
        LocalSigner.from_pkcs12(b"junk", password=None)


def test_reads_a_private_jwk() -> None:
    signer = LocalSigner.from_jwk({**private_members(), "kid": "k", "alg": "PS256"})
    assert (signer.kid, signer.alg) == ("k", Algorithm.PS256)
    assert works(signer)
    numbers = ec_key().private_numbers()
    public = LocalSigner.from_key(ec_key()).jwk.required_members()
    signer = LocalSigner.from_jwk({**public, "d": text(numbers.private_value, 32)})
    assert signer.kid == signer.jwk.thumbprint()
    assert works(signer)


@pytest.mark.parametrize("name", ["d", "p", "q", "dp", "dq", "qi", "n", "e", "kty"])
def test_refuses_a_private_jwk_with_a_wrong_part_without_quoting_it(name: str) -> None:
    for value in ("AAAAAAAAAAAA", None, 5, "se cret"):
        members = {**private_members(), name: value}
        with pytest.raises(UnusableKey) as caught:
            LocalSigner.from_jwk(members)
        assert str(private_members()["d"]) not in str(caught.value)
        assert "se cret" not in str(caught.value) or name == "kty"


def test_refuses_a_private_number_that_is_not_the_public_points() -> None:
    public = LocalSigner.from_key(ec_key()).jwk.required_members()
    with pytest.raises(UnusableKey):
        LocalSigner.from_jwk({**public, "d": text(5, 32)})


def test_refuses_keys_that_fapi_forbids() -> None:
    for key in (
        rsa.generate_private_key(65537, 1024),
        ec.generate_private_key(ec.SECP384R1()),
        ed25519.Ed25519PrivateKey.generate(),
        rsa_key().public_key(),
        "key",
    ):
        with pytest.raises(UnusableKey):
            LocalSigner.from_key(key)


def test_refuses_an_algorithm_of_another_key_type() -> None:
    for alg in ("ES256", "HS256", "none"):
        with pytest.raises(UnusableKey):
            LocalSigner.from_key(rsa_key(), alg=alg)
    with pytest.raises(UnusableKey):
        LocalSigner(rsa_key(), Algorithm.ES256, "k")


def test_refuses_junk_as_pem_and_as_jwk() -> None:
    for octets in (b"", b"junk", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"):
        with pytest.raises(UnusableKey):
            LocalSigner.from_pem(octets)
    for octets in (b"", b"[]", b"{", b'{"kty":"RSA"}'):
        with pytest.raises(UnusableKey):
            LocalSigner.from_jwk(octets)


def test_shows_no_key() -> None:
    signer = LocalSigner.from_key(ec_key(), kid="k")
    assert repr(signer) == "LocalSigner(alg='ES256', kid='k')"
    assert "d" not in signer.jwk.to_members()


def test_signers_are_found_by_name() -> None:
    assert signer_class("local") is LocalSigner
    for name in SIGNERS:
        assert hasattr(signer_class(name), "sign")
    with pytest.raises(UnknownPlugin, match="aws-kms"):
        signer_class("other")
