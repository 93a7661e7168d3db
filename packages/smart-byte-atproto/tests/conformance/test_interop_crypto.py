from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from smart_byte_atproto.crypto import Algorithm, KeyType, PrivateKey, PublicKey
from smart_byte_atproto.crypto.did_key import decode_did_key
from smart_byte_atproto.crypto.k256 import OPENSSL
from smart_byte_atproto.crypto.libsecp import ENGINE as LIBSECP
from smart_byte_atproto.errors import BadSignature

pytestmark = pytest.mark.conformance

FOLDER = "atproto-interop-tests/crypto"
ENGINES = [OPENSSL, LIBSECP]


def _base64(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_signature_fixtures_json(vectors: Path, engine: Algorithm) -> None:
    codes = {"high-s": "high-s", "der-encoded": "der"}
    cases = json.loads((vectors / FOLDER / "signature-fixtures.json").read_text("utf-8"))
    assert len(cases) == 6
    for case in cases:
        key_type, public = decode_did_key(case["publicKeyDid"])
        key = PublicKey(key_type, public, engine=engine if key_type is KeyType.K256 else None)
        assert key == PublicKey.from_verification_method(
            case["didDocSuite"], case["publicKeyMultibase"]
        )
        message, signature = _base64(case["messageBase64"]), _base64(case["signatureBase64"])
        if case["validSignature"]:
            key.verify(message, signature)
            continue
        with pytest.raises(BadSignature) as caught:
            key.verify(message, signature)
        assert caught.value.code == codes[case["tags"][0]]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_w3c_didkey_k256_json(vectors: Path, engine: Algorithm) -> None:
    cases = json.loads((vectors / FOLDER / "w3c_didkey_K256.json").read_text("utf-8"))
    assert len(cases) == 5
    for case in cases:
        secret = bytes.fromhex(case["privateKeyBytesHex"])
        key = PrivateKey(KeyType.K256, secret, engine=engine)
        assert key.public_key.did_key == case["publicDidKey"]
