from __future__ import annotations

from typing import Any

import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import BadSignature, InvalidRepo, WriteRefused
from smart_byte_atproto.mst import Tree
from smart_byte_atproto.repo import SignedCommit, UnsignedCommit

SECRET = bytes(range(1, 33))
DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
REV = "3jzfcijpj2z2a"
KEY = PrivateKey(KeyType.K256, SECRET)
UNSIGNED = UnsignedCommit(DID, Tree().root, REV)
SIGNED = UNSIGNED.sign(KEY)


def test_the_known_commit_over_the_empty_tree_has_the_known_cid() -> None:
    assert UNSIGNED.encode().hex() == (
        "a56364696478206469643a706c633a65777669376e787a796f756e367a687872687336346f697a637265766d"
        "336a7a6663696a706a327a32616464617461d82a582500017112209dfefe61dd76ea3dcae5023880b08379d5"
        "7adf20482d6fdbe2759289f647677b6470726576f66776657273696f6e03"
    )
    assert str(SIGNED.cid) == "bafyreif77fesijo3pbzjhbsfunvrlk6zclq7iml7nv2fbptopmgod6noqy"
    assert len(SIGNED.encode()) == 188
    assert SignedCommit.decode(SIGNED.encode()) == SIGNED
    SIGNED.verify(KEY.public_key)


def test_the_known_ed25519_commit_is_for_closed_systems_only() -> None:
    key = PrivateKey(KeyType.ED25519, SECRET)
    with pytest.raises(WriteRefused) as refused:
        UNSIGNED.sign(key)
    assert refused.value.code == "key-type"
    commit = UNSIGNED.sign(key, network=False)
    assert str(commit.cid) == "bafyreighctrulj77c4gxewfr2thhrhrfaqclfq2wsc5dcjlzr2wxgrf6nq"
    commit.verify(key.public_key, network=False)
    with pytest.raises(InvalidRepo) as invalid:
        commit.verify(key.public_key)
    assert invalid.value.code == "key-type"


def test_fields_that_we_do_not_know_stay_under_the_signature() -> None:
    fields: dict[str, dag_cbor.Value] = {
        "did": DID, "data": Tree().root, "rev": REV, "prev": None, "version": 3, "x": [1, "y"],
    }  # fmt: skip
    fields["sig"] = KEY.sign(dag_cbor.encode(fields))
    commit = SignedCommit.decode(dag_cbor.encode(fields))
    assert commit.extra == (("x", [1, "y"]),)
    assert commit.encode() == dag_cbor.encode(fields)
    commit.verify(KEY.public_key)


@pytest.mark.parametrize("names", [{"prev"}, {"rev"}, {"prev", "rev"}, set()])
def test_version_2_may_leave_out_prev_and_rev(names: set[str]) -> None:
    fields: dict[str, dag_cbor.Value] = {
        "did": DID, "data": Tree().root, "rev": REV, "prev": Tree().root, "version": 2,
    }  # fmt: skip
    fields = {name: value for name, value in fields.items() if name not in names}
    fields["sig"] = KEY.sign(dag_cbor.encode(fields))
    commit = SignedCommit.decode(dag_cbor.encode(fields))
    assert commit.encode() == dag_cbor.encode(fields)
    assert commit.extra == ()
    commit.verify(KEY.public_key)


def change(**changes: Any) -> bytes:
    fields = dag_cbor.decode(SIGNED.encode())
    assert isinstance(fields, dict)
    fields.update(changes)
    return dag_cbor.encode({name: v for name, v in fields.items() if v != "absent"})


@pytest.mark.parametrize(
    ("code", "block"),
    [
        ("commit", b""),
        ("commit", SIGNED.encode()[:-1]),
        ("commit", b"\x80"),
        ("commit", change(did=None)),
        ("commit", change(did="absent")),
        ("commit", change(data="text")),
        ("commit", change(data=CID.of(b"", codec=Codec.RAW))),
        ("commit", change(rev=1)),
        ("commit", change(rev=None)),
        ("commit", change(rev=None, version=2)),
        ("commit", change(rev="absent")),
        ("commit", change(prev="text")),
        ("commit", change(prev="absent")),
        ("commit", change(sig="text")),
        ("version", change(version=1)),
        ("version", change(version=True)),
        ("version", change(version="absent")),
        ("did", change(did="did:PLC:x")),
        ("did", change(did="did:web:" + "x" * 2048)),
        ("rev", change(rev="3jzfcijpj2z2")),
    ],
)
def test_refuses_malformed_commits(code: str, block: bytes) -> None:
    with pytest.raises(InvalidRepo) as caught:
        SignedCommit.decode(block)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("did", "rev"), [("alice.test", REV), (DID, "yesterday"), (DID + "\n", REV)]
)
def test_makes_no_commit_with_malformed_names(did: str, rev: str) -> None:
    with pytest.raises(InvalidRepo):
        UnsignedCommit(did, Tree().root, rev)


def test_refuses_a_commit_of_another_key_or_content() -> None:
    with pytest.raises(BadSignature):
        SIGNED.verify(PrivateKey.generate().public_key)
    with pytest.raises(BadSignature):
        SignedCommit.decode(change(rev="3jzfcijpj2z2b")).verify(KEY.public_key)
