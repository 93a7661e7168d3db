from __future__ import annotations

import contextlib
from functools import lru_cache

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from hypothesis import given, strategies as st

from op_openbanking.errors import SignerMisbehaved, UnusableKey
from op_openbanking.jose.algorithms import Algorithm
from op_openbanking.signing.checks import (
    checked,
    choose_algorithm,
    public_key_from_der,
    public_key_from_pem,
    raw_from_der,
)

DATA = b"data"
SHA256 = hashes.SHA256()


@lru_cache
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@lru_cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def pss(salt: int) -> bytes:
    return rsa_key().sign(DATA, padding.PSS(padding.MGF1(SHA256), salt), SHA256)


def refused(signature: object, alg: Algorithm, *, known: bool = True) -> SignerMisbehaved:
    key = ec_key() if alg is Algorithm.ES256 else rsa_key()
    with pytest.raises(SignerMisbehaved) as caught:
        checked(signature, alg, DATA, key.public_key() if known else None)
    return caught.value


def test_accepts_pss_with_the_right_salt() -> None:
    assert checked(pss(32), Algorithm.PS256, DATA, rsa_key().public_key())


@pytest.mark.parametrize("salt", [0, 20, 64, padding.PSS.MAX_LENGTH])
def test_refuses_another_salt_length_and_hints_at_it(salt: int) -> None:
    error = refused(pss(salt), Algorithm.PS256)
    assert error.check == "signer-signature"
    assert "salt" in str(error)


def test_refuses_another_algorithm_and_names_it() -> None:
    pkcs1 = rsa_key().sign(DATA, padding.PKCS1v15(), SHA256)
    assert "it is RS256" in str(refused(pkcs1, Algorithm.PS256))
    assert "it is PS256" in str(refused(pss(32), Algorithm.RS256))


def test_refuses_the_signature_of_another_key_or_of_other_data() -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    signature = raw_from_der(other.sign(DATA, ec.ECDSA(SHA256)))
    assert refused(signature, Algorithm.ES256).check == "signer-signature"
    signature = raw_from_der(ec_key().sign(b"other", ec.ECDSA(SHA256)))
    assert refused(signature, Algorithm.ES256).check == "signer-signature"


@pytest.mark.parametrize("value", [None, "text", bytearray(64), b"", bytes(63), b"\x30" * 70])
@pytest.mark.parametrize("alg", [Algorithm.ES256, Algorithm.PS256])
@pytest.mark.parametrize("known", [True, False])
def test_refuses_what_has_not_the_form_of_a_signature(
    value: object, alg: Algorithm, known: bool
) -> None:
    assert refused(value, alg, known=known).check == "signer-form"


def test_refuses_a_key_of_another_size_than_the_published_one() -> None:
    error = refused(bytes(384), Algorithm.PS256)
    assert "3072 bits from a key of 2048" in str(error)


NUMBERS = st.integers(0, 2**256 - 1) | st.integers(0, 2**130) | st.sampled_from([0, 1, 2**255])


@given(NUMBERS, NUMBERS)
def test_der_becomes_r_and_s_of_fixed_width(r: int, s: int) -> None:
    assert raw_from_der(encode_dss_signature(r, s)) == r.to_bytes(32, "big") + s.to_bytes(32, "big")


@given(NUMBERS, NUMBERS, st.data())
def test_damaged_der_never_becomes_other_numbers(r: int, s: int, data: st.DataObject) -> None:
    der = bytearray(encode_dss_signature(r, s))
    place = data.draw(st.integers(0, len(der) - 1))
    der[place] ^= data.draw(st.integers(1, 255))
    try:
        raw = raw_from_der(bytes(der))
    except SignerMisbehaved:
        return
    assert encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:])) == bytes(der)


@given(st.binary(max_size=80))
def test_random_octets_never_leak_another_error(octets: bytes) -> None:
    with contextlib.suppress(SignerMisbehaved):
        assert len(raw_from_der(octets)) == 64


def test_numbers_beyond_the_curve_are_refused() -> None:
    with pytest.raises(SignerMisbehaved):
        raw_from_der(encode_dss_signature(2**256, 1))


def test_algorithm_follows_the_key_unless_chosen() -> None:
    assert choose_algorithm(rsa_key().public_key(), None) is Algorithm.PS256
    assert choose_algorithm(ec_key().public_key(), None) is Algorithm.ES256
    assert choose_algorithm(rsa_key().public_key(), "RS512") is Algorithm.RS512
    for key, alg in ((rsa_key(), "ES256"), (ec_key(), "PS256"), (ec_key(), "none")):
        with pytest.raises(UnusableKey):
            choose_algorithm(key.public_key(), alg)


def test_unreadable_public_keys_are_refused() -> None:
    for read in (public_key_from_der, public_key_from_pem):
        with pytest.raises(UnusableKey):
            read(b"junk")
