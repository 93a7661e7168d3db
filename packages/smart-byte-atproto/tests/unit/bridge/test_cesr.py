from __future__ import annotations

import pytest

from smart_byte_atproto.bridge.cesr import (
    DIGEST_CODES,
    RAW_BYTES,
    Primitive,
    digest,
    key_primitive,
    signature_primitive,
)
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.errors import InvalidPrimitive

SECRET = bytes(range(1, 33))


@pytest.mark.parametrize(
    ("data", "code", "text"),
    [
        (b"", "E", "EK8TSbn1-aGmoEBN6jbcyUmbyyXJrcESt8yak8rkHzJi"),
        (b"hello world", "E", "ENdJge-nCgyIC42MGYXQddvL9nm5ml-ZFOWq-WuDGp4k"),
        (b"hello world", "I", "ILlNJ7mTTT4IpS5S19p9q_rEhO_jelOA7pCI96zi783p"),
    ],
)
def test_digests_of_the_reference(data: bytes, code: str, text: str) -> None:
    assert digest(data, code=code).qb64 == text


@pytest.mark.parametrize(
    ("kind", "transferable", "text"),
    [
        (KeyType.ED25519, False, "BHm1Vi6P5lT5QHixEuipi6eQH4U65pW-1-DjkQutBJZk"),
        (KeyType.ED25519, True, "DHm1Vi6P5lT5QHixEuipi6eQH4U65pW-1-DjkQutBJZk"),
        (KeyType.K256, True, "1AABAoS_dWImK71pQAhXSPO-avpSrjFxVRgezjG2Y1HM_6Sw"),
        (KeyType.P256, True, "1AAJAlFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANf"),
    ],
)
def test_keys_of_the_reference(kind: KeyType, transferable: bool, text: str) -> None:
    key = PrivateKey(kind, SECRET).public_key
    made = key_primitive(key, transferable=transferable)
    assert made.qb64 == text
    assert Primitive.parse(text).public_key() == key
    assert made.is_transferable is transferable


def test_the_seed_and_the_signature_of_the_reference() -> None:
    assert Primitive("A", SECRET).qb64 == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"
    key = PrivateKey(KeyType.ED25519, SECRET)
    signature = signature_primitive(key.public_key, key.sign(b"hello world"))
    assert signature.qb64 == (
        "0BAQ8q4-w11foy7UFaXJancTpGFcAOZcw7YT2aIKyaHv-Ss5RRkguKNpkVDCdlyESP_Yx-mVh5jgFSf0GaK2OsMO"
    )
    assert signature.verifies(key.public_key)
    assert not signature.verifies(PrivateKey(KeyType.K256, SECRET).public_key)


def test_the_signature_of_a_commit_of_the_reference() -> None:
    key = PrivateKey(KeyType.K256, SECRET)
    raw = bytes.fromhex(
        "d776e85ad405dff14d1f34cf597904ed016c37b725ca950d59bf937566baa168"
        "091445501750aba15d41f5bc4a5b2422dbda9d7290093b3040fcd136f8ec7074"
    )
    text = (
        "0CDXduha1AXf8U0fNM9ZeQTtAWw3tyXKlQ1Zv5N1ZrqhaAkURVAXUKuhXUH1vEpbJCLb2p1ykAk7MED80Tb47HB0"
    )
    assert signature_primitive(key.public_key, raw).qb64 == text
    assert Primitive.parse(text).raw == raw


@pytest.mark.parametrize("code", RAW_BYTES)
def test_every_code_comes_back_from_text_and_bytes(code: str) -> None:
    made = Primitive(code, b"\xff" * RAW_BYTES[code])
    assert Primitive.parse(made.qb64) == made == Primitive.decode(made.qb2)
    assert len(made.qb64) % 4 == 0


@pytest.mark.parametrize("code", DIGEST_CODES)
def test_every_digest_has_the_length_of_its_code(code: str) -> None:
    assert len(digest(b"x", code=code).raw) == RAW_BYTES[code]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "code"),
        ("Z" * 44, "code"),
        ("0Z" + "A" * 86, "code"),
        ("E" + "A" * 42, "size"),
        ("E" + "A" * 44, "size"),
        ("0B", "size"),
        ("E" + "A" * 42 + "=", "alphabet"),
        ("E" + "A" * 42 + "+", "alphabet"),
        ("E" + "A" * 42 + "é", "alphabet"),
        ("E" + "A" * 42 + "\n", "alphabet"),
        ("E_" + "A" * 42, "pad"),
        ("0B_" + "A" * 85, "pad"),
    ],
)
def test_what_is_no_primitive_is_refused_by_its_rule(text: str, rule: str) -> None:
    with pytest.raises(InvalidPrimitive) as caught:
        Primitive.parse(text)
    assert caught.value.code == rule


def test_bytes_that_are_no_primitive_are_refused() -> None:
    with pytest.raises(InvalidPrimitive) as caught:
        Primitive.decode(b"1234")
    assert caught.value.code == "size"


def test_a_digest_is_no_key_and_bytes_off_the_curve_are_none() -> None:
    with pytest.raises(InvalidPrimitive) as caught:
        digest(b"").public_key()
    assert caught.value.code == "key"
    with pytest.raises(InvalidPrimitive) as caught:
        Primitive("1AAB", b"\x02" + b"\xff" * 32).public_key()
    assert caught.value.code == "key"


def test_values_of_another_length_and_digests_of_no_code_are_refused() -> None:
    with pytest.raises(InvalidPrimitive):
        Primitive("E", b"short")
    with pytest.raises(InvalidPrimitive):
        digest(b"", code="D")
