"""Text forms of keys: multikey, did:key, and the multibase of old DID documents.

A multikey is `z` + base58btc(varint codec, key); did:key is `did:key:` + multikey. Old DID
documents hold base58btc of the bare point, compressed or not, and name the curve in the `type`
of the verificationMethod.

Source: did:key method (W3C CCG), Controlled Identifiers 2.2.2 Multikey; reference section 7.
"""

from __future__ import annotations

from smart_byte_atproto.errors import InvalidKey

from . import multibase
from .base import KeyType

DID_KEY = "did:key:"
MULTIKEY = "Multikey"

# Varint of the multicodec: p256-pub 0x1200, secp256k1-pub 0xe7, ed25519-pub 0xed and the -priv
# codes 0x1306, 0x1301, 0x1300.
PUBLIC_CODEC = {
    KeyType.P256: b"\x80\x24",
    KeyType.K256: b"\xe7\x01",
    KeyType.ED25519: b"\xed\x01",
}
PRIVATE_CODEC = {
    KeyType.P256: b"\x86\x26",
    KeyType.K256: b"\x81\x26",
    KeyType.ED25519: b"\x80\x26",
}
PUBLIC_BYTES = {KeyType.P256: 33, KeyType.K256: 33, KeyType.ED25519: 32}
LEGACY_SUITE = {
    "EcdsaSecp256k1VerificationKey2019": KeyType.K256,
    "EcdsaSecp256r1VerificationKey2019": KeyType.P256,
    "Ed25519VerificationKey2018": KeyType.ED25519,
    "Ed25519VerificationKey2020": KeyType.ED25519,
}


def encode_multikey(key_type: KeyType, public: bytes) -> str:
    """Write a public key as a multikey (`zQ3s...`, `zDn...`, `z6Mk...`)."""
    return multibase.encode(PUBLIC_CODEC[key_type] + public)


def decode_multikey(text: str) -> tuple[KeyType, bytes]:
    """Read a multikey.

    Returns:
        The type and 33 bytes of compressed point, or 32 bytes for Ed25519.

    Raises:
        InvalidKey: Not base58btc, an unknown codec, or another length.
    """
    data = multibase.decode(text)
    for key_type, codec in PUBLIC_CODEC.items():
        if data.startswith(codec):
            public = data[len(codec) :]
            if len(public) != PUBLIC_BYTES[key_type]:
                raise InvalidKey(
                    f"{key_type} multikey holds {len(public)} bytes, not {PUBLIC_BYTES[key_type]}"
                )
            return key_type, public
    raise InvalidKey("multikey has a codec other than P-256, K-256 and Ed25519")


def encode_did_key(key_type: KeyType, public: bytes) -> str:
    """Write a public key as did:key."""
    return DID_KEY + encode_multikey(key_type, public)


def decode_did_key(text: str) -> tuple[KeyType, bytes]:
    """Read a did:key.

    Raises:
        InvalidKey: It does not start with `did:key:`, or its multikey is malformed.
    """
    if not text.startswith(DID_KEY):
        raise InvalidKey("does not start with 'did:key:'")
    return decode_multikey(text.removeprefix(DID_KEY))


def decode_verification_method(suite: str, text: str) -> tuple[KeyType, bytes]:
    """Read `publicKeyMultibase` as the `type` of its verificationMethod says.

    Args:
        suite: `Multikey`, or one of the older types in `LEGACY_SUITE`.
        text: The multibase text.

    Returns:
        The type and the point as written: 33 or 65 bytes, Ed25519 32 bytes.

    Raises:
        InvalidKey: Unknown type, or text that does not fit it.
    """
    if suite == MULTIKEY:
        return decode_multikey(text)
    if suite not in LEGACY_SUITE:
        raise InvalidKey(f"unknown verificationMethod type {suite[:80]!r}")
    key_type = LEGACY_SUITE[suite]
    data = multibase.decode(text)
    codec = PUBLIC_CODEC[key_type]
    # The 2020 suite, and some writers of the older ones, put the codec in front.
    if data.startswith(codec) and len(data) == len(codec) + PUBLIC_BYTES[key_type]:
        return key_type, data[len(codec) :]
    return key_type, data


def encode_private(key_type: KeyType, secret: bytes) -> str:
    """Write a secret as a multikey with the codec of private keys."""
    return multibase.encode(PRIVATE_CODEC[key_type] + secret)


def decode_private(text: str) -> tuple[KeyType, bytes]:
    """Read a secret multikey.

    Raises:
        InvalidKey: Not base58btc, an unknown codec, or not 32 bytes. The text is never quoted.
    """
    data = multibase.decode(text)
    for key_type, codec in PRIVATE_CODEC.items():
        if data.startswith(codec):
            return key_type, data[len(codec) :]
    raise InvalidKey("multikey has no codec of a P-256, K-256 or Ed25519 private key")
