from __future__ import annotations

import base64

import base58
import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey, PublicKey
from smart_byte_atproto.crypto.did_key import PUBLIC_CODEC
from smart_byte_atproto.errors import InvalidKey

SECRET = bytes(range(1, 33))
# The point of SECRET, x and y of its JWK.
P256_UNCOMPRESSED = (
    b"\x04"
    + base64.urlsafe_b64decode("UVw9brnjlrkE0_7Kf1T9zQzB6Ze_N13KUVrQpsO0A18=")
    + base64.urlsafe_b64decode("RTa-OlDzGPv5pUdZAqIhUCvvDVfgjFOyzApW8X2fk1Q=")
)


@pytest.mark.parametrize("key_type", sorted(KeyType))
def test_a_multikey_round_trips(key_type: KeyType) -> None:
    key = PrivateKey(key_type, SECRET).public_key
    assert PublicKey.from_multikey(key.multikey) == key
    assert key.did_key == "did:key:" + key.multikey
    assert PublicKey.from_verification_method("Multikey", key.multikey) == key


def test_legacy_multibase_is_read_compressed_uncompressed_and_with_codec() -> None:
    suite = "EcdsaSecp256r1VerificationKey2019"
    key = PrivateKey(KeyType.P256, SECRET).public_key
    for data in (key.public, P256_UNCOMPRESSED, PUBLIC_CODEC[KeyType.P256] + key.public):
        text = "z" + base58.b58encode(data).decode()
        assert PublicKey.from_verification_method(suite, text) == key


@pytest.mark.parametrize("suite", ["Ed25519VerificationKey2018", "Ed25519VerificationKey2020"])
def test_ed25519_verification_methods_are_read(suite: str) -> None:
    key = PrivateKey(KeyType.ED25519, SECRET).public_key
    bare = "z" + base58.b58encode(key.public).decode()
    assert PublicKey.from_verification_method(suite, bare) == key
    assert PublicKey.from_verification_method(suite, key.multikey) == key


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        ("JsonWebKey2020", "unknown verificationMethod type"),
        ("EcdsaSecp256k1VerificationKey2019", "not a point on K-256"),
    ],
)
def test_the_type_of_a_verification_method_decides_the_curve(suite: str, reason: str) -> None:
    text = "z" + base58.b58encode(P256_UNCOMPRESSED).decode()
    with pytest.raises(InvalidKey, match=reason):
        PublicKey.from_verification_method(suite, text)


def _multikey(data: bytes) -> str:
    return "z" + base58.b58encode(data).decode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not start with 'did:key:'"),
        ("did:web:example.com", "does not start with 'did:key:'"),
        ("did:key:", "does not start with 'z'"),
        ("did:key:z", "codec other than"),
        ("did:key:uAAAA", "does not start with 'z'"),
        ("did:key:zQ3shWLyu8mc4GLnyzrxvWj9kJPijwGbjdrr3pZ8hacUYxawh ", "character 49 is outside"),
        ("did:key:zQ3shWLyu8mc4GLnyzrxvWj9kJPijwGbjdrr3pZ8hacUYxawh\n", "character 49 is outside"),
        ("did:key:z0OIl", "character 1 is outside"),
        ("did:key:zé", "character 1 is outside"),
        ("did:key:z" + "2" * 256, "over 256 characters"),
        ("did:key:" + _multikey(b"\xe7\x01" + bytes(32)), "holds 32 bytes, not 33"),
        ("did:key:" + _multikey(b"\xed\x01" + bytes(33)), "holds 33 bytes, not 32"),
        ("did:key:" + _multikey(b"\xec\x01" + bytes(32)), "codec other than"),
        ("did:key:" + _multikey(b"\x80\x24\x02" + b"\xff" * 32), "not a point on P-256"),
    ],
)
def test_refuses_malformed_did_keys(text: str, reason: str) -> None:
    with pytest.raises(InvalidKey, match=reason):
        PublicKey.from_did_key(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PrivateKey(KeyType.K256, SECRET).public_key.multikey, "no codec of a"),
        (_multikey(b"\x81\x26" + bytes(31)), "has 32 bytes, not 31"),
        (_multikey(b"\x81\x26" + bytes(32)), "zero or not below"),
    ],
)
def test_refuses_malformed_private_multikeys(text: str, reason: str) -> None:
    with pytest.raises(InvalidKey, match=reason):
        PrivateKey.from_multikey(text)
