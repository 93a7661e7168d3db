from __future__ import annotations

from collections.abc import Callable

import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import (
    ATProtoError,
    BadSignature,
    HashMismatch,
    InvalidRepo,
    InvalidTree,
    MissingBlock,
)
from smart_byte_atproto.mst import Tree
from smart_byte_atproto.repo import UnsignedCommit, verify_repo

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
REV = "3jzfcijpj2z2a"
KEY = PrivateKey(KeyType.K256, bytes(range(1, 33)))
POST = "app.bsky.feed.post"
Blocks = dict[CID, bytes]


def repository(
    records: dict[str, bytes], *, key: PrivateKey = KEY, codec: Codec = Codec.DAG_CBOR
) -> tuple[CID, Blocks]:
    """A repository with any bytes as records, so that bad ones can be made."""
    blocks = {CID.of(block, codec=codec): block for block in records.values()}
    tree = Tree.build(
        {path.encode(): CID.of(block, codec=codec) for path, block in records.items()}
    )
    blocks |= {CID(node.link): node.data for node in tree.nodes()}
    commit = UnsignedCommit(DID, tree.root, REV).sign(key, network=False)
    return commit.cid, blocks | {commit.cid: commit.encode()}


def record(text: str, kind: str = POST) -> bytes:
    return dag_cbor.encode({"$type": kind, "text": text})


GOOD = {f"{POST}/3ke6kg3wk2{n:03}": record(str(n)) for n in range(40)}


def test_a_good_repository_passes() -> None:
    root, blocks = repository(GOOD)
    seen: list[None] = []
    report = verify_repo(
        root, blocks, key=KEY.public_key, did=DID, on_record=lambda: seen.append(None)
    )
    assert (report.did, report.rev, report.version) == (DID, REV, 3)
    assert (report.records, report.warning_count, len(seen)) == (40, 0, 40)


def test_a_type_other_than_the_collection_is_a_warning() -> None:
    odd = {f"{POST}/like{n:03}": record(str(n), "app.bsky.feed.like") for n in range(120)}
    root, blocks = repository(GOOD | odd | {f"{POST}/none": dag_cbor.encode({})})
    report = verify_repo(root, blocks, key=KEY.public_key)
    assert report.warning_count == 121
    assert len(report.warnings) == 100
    assert "app.bsky.feed.like" in report.warnings[0]


def _without_a_record(blocks: Blocks) -> None:
    del blocks[CID.of(GOOD[f"{POST}/3ke6kg3wk2011"])]


def _other_record(blocks: Blocks) -> None:
    blocks[CID.of(GOOD[f"{POST}/3ke6kg3wk2011"])] = record("forged")


def _without_a_node(blocks: Blocks) -> None:
    del blocks[next(cid for cid, block in blocks.items() if block.startswith(b"\xa2\x61e"))]


def _other_node(blocks: Blocks) -> None:
    node = next(cid for cid, block in blocks.items() if block.startswith(b"\xa2\x61e"))
    blocks[node] = Tree().root_node.data


@pytest.mark.parametrize(
    ("error", "spoil"),
    [
        (MissingBlock, _without_a_record),
        (HashMismatch, _other_record),
        (MissingBlock, _without_a_node),
        (InvalidTree, _other_node),
        (MissingBlock, dict.clear),
    ],
)
def test_refuses_missing_and_forged_blocks(
    error: type[ATProtoError], spoil: Callable[[Blocks], object]
) -> None:
    root, blocks = repository(GOOD)
    spoil(blocks)
    with pytest.raises(error):
        verify_repo(root, blocks, key=KEY.public_key)


def refusal(records: dict[str, bytes], **options: object) -> str:
    root, blocks = repository(records)
    with pytest.raises(InvalidRepo) as caught:
        verify_repo(root, blocks, key=KEY.public_key, **options)  # type: ignore[arg-type]
    return caught.value.code


def test_refuses_bad_records_and_paths() -> None:
    assert refusal({f"{POST}/a": b"\xff"}) == "record"
    assert refusal({f"{POST}/a": b"\x80"}) == "record"
    assert refusal({f"{POST}/a": record("x") + b"\0"}) == "record"
    assert refusal({f"{POST}/a": record("x" * 100)}, max_record_bytes=100) == "record-size"
    assert refusal({"not-a-path": record("x")}) == "path"
    assert refusal({f"{POST}/a": record("x")}, did="did:web:example.com") == "did"
    assert refusal({f"{POST}/a": record("x")}, latest_rev="3jzfcijpj2z22") == "rev"
    root, blocks = repository({f"{POST}/a": record("x")}, codec=Codec.RAW)
    with pytest.raises(InvalidRepo) as caught:
        verify_repo(root, blocks, key=KEY.public_key)
    assert caught.value.code == "record"


def test_refuses_a_root_that_is_no_commit() -> None:
    root, blocks = repository(GOOD)
    node = Tree().root_node.data
    blocks[CID.of(node)] = node
    with pytest.raises(InvalidRepo) as caught:
        verify_repo(CID.of(node), blocks, key=KEY.public_key)
    assert caught.value.code == "commit"
    raw = CID.of(blocks[root], codec=Codec.RAW)
    with pytest.raises(InvalidRepo) as caught:
        verify_repo(raw, {raw: blocks[root]}, key=KEY.public_key)
    assert caught.value.code == "root"
    with pytest.raises(HashMismatch):
        verify_repo(root, blocks | {root: node}, key=KEY.public_key)


def test_refuses_another_key_and_key_types_of_closed_systems() -> None:
    root, blocks = repository(GOOD)
    with pytest.raises(BadSignature):
        verify_repo(root, blocks, key=PrivateKey.generate().public_key)
    ed25519 = PrivateKey.generate(KeyType.ED25519)
    root, blocks = repository(GOOD, key=ed25519)
    with pytest.raises(InvalidRepo) as caught:
        verify_repo(root, blocks, key=ed25519.public_key)
    assert caught.value.code == "key-type"
    assert verify_repo(root, blocks, key=ed25519.public_key, network=False).records == 40
