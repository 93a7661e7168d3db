from __future__ import annotations

import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.errors import BadSignature, NotEncodable
from smart_byte_atproto.identity.plc_operation import PLCOperation
from smart_byte_atproto.identity.plc_signing import change, genesis, sign, tombstone

SK = PrivateKey.from_hex(KeyType.K256, "".join(f"{n:02x}" for n in range(1, 33)))
OTHER = PrivateKey.from_hex(KeyType.P256, "11" * 32)


def first() -> PLCOperation:
    key = SK.public_key.did_key
    _, operation = genesis(
        rotation_keys=[key],
        signing_key=key,
        handle="alice.test",
        pds="https://pds.example.test",
        key=SK,
    )
    return PLCOperation.parse(operation)


def test_the_worked_example_of_the_reference_comes_out() -> None:
    assert first().did() == "did:plc:gito43bv6lbityhgk36c23h2"
    end = PLCOperation.parse(tombstone(first(), SK))
    assert str(end.cid) == "bafyreibdxfatugqc3xnmpvjnqdvmq5uuxthejwwjxyvwdappmp72hnw4my"


def test_a_change_keeps_what_is_not_named_and_is_signed_by_a_key_of_before() -> None:
    keys = [SK.public_key.did_key, OTHER.public_key.did_key]
    second = PLCOperation.parse(change(first(), SK, rotation_keys=keys))
    assert second.also_known_as == first().also_known_as
    assert second.prev == str(first().cid)
    assert second.signer(first().rotation_keys) == keys[0]
    third = PLCOperation.parse(change(second, OTHER, also_known_as=["at://bob.test"]))
    assert third.signer(second.rotation_keys) == keys[1]
    with pytest.raises(BadSignature):
        third.signer(first().rotation_keys)


def test_what_the_directory_would_refuse_is_not_made() -> None:
    with pytest.raises(NotEncodable, match="none of the rotation keys"):
        change(first(), OTHER)
    with pytest.raises(NotEncodable, match="rotation keys"):
        change(first(), SK, rotation_keys=[])
    with pytest.raises(NotEncodable, match="one twice"):
        change(first(), SK, also_known_as=["at://a.test"] * 2)
    with pytest.raises(NotEncodable, match="bytes"):
        change(first(), SK, also_known_as=["at://" + "a" * 5000])
    with pytest.raises(NotEncodable, match="K-256 or P-256"):
        sign({}, PrivateKey.generate(KeyType.ED25519))
    end = PLCOperation.parse(tombstone(first(), SK))
    with pytest.raises(NotEncodable):
        change(end, SK)
    with pytest.raises(NotEncodable):
        tombstone(end, SK)
