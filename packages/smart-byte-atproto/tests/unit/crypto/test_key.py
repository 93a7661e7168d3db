from __future__ import annotations

import copy
import pickle

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from smart_byte_atproto.crypto import Algorithm, KeyType, PrivateKey, PublicKey
from smart_byte_atproto.crypto.compact import K256_ORDER, P256_ORDER
from smart_byte_atproto.crypto.k256 import OPENSSL
from smart_byte_atproto.crypto.libsecp import ENGINE as LIBSECP
from smart_byte_atproto.errors import ATProtoError, BadSignature, InvalidKey

SECRET = bytes(range(1, 33))
ORDER = {KeyType.K256: K256_ORDER, KeyType.P256: P256_ORDER}
ECDSA = sorted(ORDER)
DID_KEYS = {
    KeyType.K256: "did:key:zQ3shWLyu8mc4GLnyzrxvWj9kJPijwGbjdrr3pZ8hacUYxawh",
    KeyType.P256: "did:key:zDnaeVuZeVRqvscGkiEoR9PFFra2xZUMp97ZPuGFK1VLU7iYN",
    KeyType.ED25519: "did:key:z6MkneMkZqwqRiU5mJzSG3kDwzt9P8C59N4NGTfBLfSGE7c7",
}
UNSIGNED_COMMIT = bytes.fromhex(
    "a56364696478206469643a706c633a65777669376e787a796f756e367a687872687336346f697a637265766d33"
    "6a7a6663696a706a327a32616464617461d82a582500017112209dfefe61dd76ea3dcae5023880b08379d57adf"
    "20482d6fdbe2759289f647677b6470726576f66776657273696f6e03"
)
K256_SIGNATURE = bytes.fromhex(
    "d776e85ad405dff14d1f34cf597904ed016c37b725ca950d59bf937566baa168"
    "091445501750aba15d41f5bc4a5b2422dbda9d7290093b3040fcd136f8ec7074"
)
ED25519_SIGNATURE = bytes.fromhex(
    "e8a310961e219de24b95166a1d33e839596b8cbe5236b9e135beafb1bb1edcd7"
    "1d1990b75067c5ab1e89c0cc1488b0a42bd68f7185d50df1d979690be7a9950c"
)
ED25519_OVER_DIGEST = bytes.fromhex(
    "9ac0cb7a9ba33b90468cd60f6f6b961426f0cbd30cdcd6d307cbba2817dc0b8f"
    "84826cf98104a63be16fbe24ca2e6def749b9012d6c8e13cbb2937d933dad702"
)


@pytest.mark.parametrize("key_type", sorted(KeyType))
def test_public_key_of_a_known_secret_has_the_known_did_key(key_type: KeyType) -> None:
    key = PrivateKey(key_type, SECRET)
    assert key.public_key.did_key == DID_KEYS[key_type]
    assert PublicKey.from_did_key(DID_KEYS[key_type]) == key.public_key


@pytest.mark.parametrize("engine", [OPENSSL, LIBSECP], ids=lambda engine: engine.name)
def test_both_k256_engines_sign_the_known_commit_alike(engine: Algorithm) -> None:
    key = PrivateKey(KeyType.K256, SECRET, engine=engine)
    assert key.sign(UNSIGNED_COMMIT) == K256_SIGNATURE
    key.public_key.verify(UNSIGNED_COMMIT, K256_SIGNATURE)


def test_ed25519_signs_the_bytes_and_not_their_digest() -> None:
    key = PrivateKey(KeyType.ED25519, SECRET)
    assert key.sign(UNSIGNED_COMMIT) == ED25519_SIGNATURE
    with pytest.raises(BadSignature) as caught:
        key.public_key.verify(UNSIGNED_COMMIT, ED25519_OVER_DIGEST)
    assert caught.value.code == "mismatch"
    with pytest.raises(BadSignature) as caught:
        key.public_key.verify(UNSIGNED_COMMIT, ED25519_SIGNATURE + b"\0")
    assert caught.value.code == "length"
    assert not key.public_key.is_network_valid


def test_both_k256_engines_verify_what_the_other_signed() -> None:
    for number in range(40):
        secret = (number + 1).to_bytes(32)
        message = number.to_bytes(number)
        slow = PrivateKey(KeyType.K256, secret, engine=OPENSSL)
        fast = PrivateKey(KeyType.K256, secret, engine=LIBSECP)
        assert slow.public_key == fast.public_key
        assert slow.sign(message) == fast.sign(message)
        fast.public_key.verify(message, slow.sign(message))
        slow.public_key.verify(message, fast.sign(message))


def _keys(key_type: KeyType) -> list[PublicKey]:
    engines: list[Algorithm | None] = [OPENSSL, LIBSECP] if key_type is KeyType.K256 else [None]
    return [PrivateKey(key_type, SECRET, engine=engine).public_key for engine in engines]


@pytest.mark.parametrize("key_type", ECDSA)
def test_refuses_each_malformed_ecdsa_signature_with_its_own_code(key_type: KeyType) -> None:
    order = ORDER[key_type]
    good = PrivateKey(key_type, SECRET).sign(b"message")
    r, s = int.from_bytes(good[:32]), int.from_bytes(good[32:])
    wrong = {
        "der": encode_dss_signature(r, s),
        "high-s": good[:32] + (order - s).to_bytes(32),
        "length": good[:-1],
        "mismatch": good[:32] + (s ^ 1).to_bytes(32),
        "range": order.to_bytes(32) + good[32:],
        "zero": bytes(32) + good[32:],
    }
    for key in _keys(key_type):
        key.verify(b"message", good)
        for code, signature in wrong.items():
            with pytest.raises(BadSignature) as caught:
                key.verify(b"message", signature)
            assert caught.value.code == code
    more = {
        "length": [b"", good + b"\0", b"\x30" * 65],
        "range": [good[:32] + order.to_bytes(32), b"\xff" * 64],
        "zero": [good[:32] + bytes(32), bytes(64)],
    }
    for key in _keys(key_type):
        for code, signatures in more.items():
            for signature in signatures:
                with pytest.raises(BadSignature) as caught:
                    key.verify(b"message", signature)
                assert caught.value.code == code


@pytest.mark.parametrize("key_type", sorted(KeyType))
def test_refuses_a_signature_of_another_message_or_key(key_type: KeyType) -> None:
    key = PrivateKey.generate(key_type)
    other = PrivateKey.generate(key_type)
    signature = key.sign(b"message")
    key.public_key.verify(b"message", signature)
    with pytest.raises(BadSignature):
        key.public_key.verify(b"massage", signature)
    with pytest.raises(BadSignature):
        other.public_key.verify(b"message", signature)


@pytest.mark.parametrize("key_type", ECDSA)
def test_every_signature_that_is_made_has_low_s(key_type: KeyType) -> None:
    key = PrivateKey(key_type, SECRET)
    for number in range(40):
        assert int.from_bytes(key.sign(bytes([number]))[32:]) <= ORDER[key_type] // 2


@pytest.mark.parametrize("key_type", sorted(KeyType))
def test_a_secret_survives_export_and_import(key_type: KeyType) -> None:
    key = PrivateKey(key_type, SECRET)
    assert PrivateKey.from_hex(key_type, key.export_hex()) == key
    assert PrivateKey.from_multikey(key.export_multikey()) == key
    assert hash(PrivateKey.from_multikey(key.export_multikey())) == hash(key)
    assert key != PrivateKey.generate(key_type)


@pytest.mark.parametrize("key_type", sorted(KeyType))
def test_text_of_a_private_key_hides_the_secret(key_type: KeyType) -> None:
    key = PrivateKey(key_type, SECRET)
    for text in (repr(key), str(key), f"{key}"):
        assert SECRET.hex() not in text
        assert key.export_multikey() not in text
        assert "secret hidden" in text


@pytest.mark.parametrize(
    "secret", [b"", bytes(31), bytes(33), bytes(32), K256_ORDER.to_bytes(32), b"\xff" * 32]
)
def test_refuses_secrets_out_of_range(secret: bytes) -> None:
    with pytest.raises(InvalidKey):
        PrivateKey(KeyType.K256, secret)


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "é" * 64, "0x" + "11" * 31, " " + "1" * 63])
def test_refuses_secrets_that_are_not_64_digits(text: str) -> None:
    with pytest.raises(InvalidKey):
        PrivateKey.from_hex(KeyType.P256, text)


def test_keys_are_immutable_and_public_keys_can_be_copied() -> None:
    key = PrivateKey(KeyType.P256, SECRET)
    with pytest.raises(AttributeError):
        key.public_key.public = b""
    with pytest.raises(AttributeError):
        key.key_type = KeyType.K256
    assert copy.deepcopy(key.public_key) == key.public_key
    assert pickle.loads(pickle.dumps(key.public_key)) == key.public_key
    assert len({key.public_key, PublicKey.from_multikey(key.public_key.multikey)}) == 1


@pytest.mark.parametrize("key_type", sorted(KeyType))
def test_refuses_public_keys_of_wrong_length_or_off_the_curve(key_type: KeyType) -> None:
    size = 32 if key_type is KeyType.ED25519 else 33
    for public in (b"", b"\x02" * (size - 1), b"\x02" * (size + 1), bytes(64)):
        with pytest.raises(InvalidKey):
            PublicKey(key_type, public)


@pytest.mark.parametrize("engine", [OPENSSL, LIBSECP], ids=lambda engine: engine.name)
def test_refuses_points_that_are_not_on_the_curve(engine: Algorithm) -> None:
    good = PrivateKey(KeyType.K256, SECRET, engine=engine).public_key
    for public in (
        b"\x02" + (5).to_bytes(32),
        b"\x05" + good.public[1:],
        b"\x02" + b"\xff" * 32,
        b"\x04" + bytes(64),
        b"\x06" + bytes(64),
        bytes(33),
    ):
        with pytest.raises(InvalidKey):
            PublicKey(KeyType.K256, public, engine=engine)
    with pytest.raises(InvalidKey):
        PublicKey(KeyType.P256, b"\x02" + (0).to_bytes(31) + b"\x01")


def test_every_error_of_a_key_is_an_error_of_this_package() -> None:
    assert issubclass(InvalidKey, ATProtoError)
    assert issubclass(InvalidKey, ValueError)
    assert issubclass(BadSignature, ATProtoError)
