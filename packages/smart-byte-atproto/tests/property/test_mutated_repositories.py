from __future__ import annotations

import random

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import ATProtoError
from smart_byte_atproto.firehose.encode import commit_body, encode_frame
from smart_byte_atproto.firehose.slice import read_slice, write_slice
from smart_byte_atproto.firehose.verdict import StreamVerifier
from smart_byte_atproto.mst import Tree, validate
from smart_byte_atproto.mst.codec import decode_node
from smart_byte_atproto.mst.sketch import SketchMST, decode_sketch_node
from smart_byte_atproto.repo import Repo, verify_repo
from smart_byte_atproto.stores.memory import MemoryStore

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
KEY = PrivateKey(KeyType.K256, bytes(range(1, 33)))
POST = "app.bsky.feed.post"


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Flip, cut, repeat, swap or overwrite a few stretches of bytes."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(out) + 1)
        size = rng.randint(1, 12)
        match rng.randrange(5):
            case 0 if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                del out[at : at + size]
            case 2:
                out[at:at] = out[at : at + size]
            case 3:
                out[at : at + size] = rng.randbytes(size)
            case _:
                out[at : at + 1] = bytes([rng.choice([0, 0x18, 0x40, 0x58, 0x80, 0xA0, 0xFF])])
    return bytes(out)


def repository() -> tuple[Repo, bytes, bytes]:
    repo = Repo.create(DID, MemoryStore())
    for n in range(40):
        repo = repo.create_record(f"{POST}/3ke6kg3wk2{n:03}", {"$type": POST, "text": str(n)})
    made = repo.commit(KEY, rev="3jzfcijpj2z2a")
    frame = encode_frame("#commit", commit_body(made, seq=1, time="2026-01-01T00:00:00Z"))
    return made.repo, write_slice(made.commit.cid, made.blocks), frame


def test_mutated_repository_files_end_in_our_errors_or_in_the_same_verdict() -> None:
    repo, car, _ = repository()
    rng = random.Random(20260101)
    refused = 0
    for _ in range(400):
        try:
            slice_ = read_slice(mutate(car, rng))
            blocks = {CID(link): block for link, block in slice_.blocks.items()}
            report = verify_repo(CID(slice_.root), blocks, key=KEY.public_key)
        except ATProtoError:
            refused += 1
        else:
            assert report.data == repo.tree.root
    assert refused > 300


def test_repositories_with_mutated_but_rehashed_nodes_end_in_our_errors() -> None:
    repo, _, _ = repository()
    rng = random.Random(20260102)
    nodes = {CID(node.link): node.data for node in repo.tree.nodes()}
    refused = 0
    for _ in range(1500):
        victim = rng.choice(list(nodes))
        root, blocks = forge(nodes, repo.tree.root, victim, mutate(nodes[victim], rng))
        try:
            validate(root, blocks)
            tree = Tree.load(root, blocks)
            assert list(tree) == sorted(tree)
            tree.put(b"k/1", CID.of(b"")).remove(b"k/1")
        except ATProtoError:
            refused += 1
    # About half of the bytes of a node are CIDs of records, which may be any.
    assert refused > 500


def forge(
    nodes: dict[CID, bytes], root: CID, victim: CID, data: bytes
) -> tuple[CID, dict[CID, bytes]]:
    """Put other bytes in the place of a node and hash its parents anew."""
    blocks = nodes | {CID.of(data): data}
    while victim != root:
        parent = next(cid for cid, block in nodes.items() if victim.raw in block)
        data = nodes[parent].replace(victim.raw, CID.of(data).raw)
        blocks[CID.of(data)] = data
        victim = parent
    return CID.of(data), blocks


def test_edits_and_walks_of_unvalidated_trees_end_in_our_errors() -> None:
    repo, _, _ = repository()
    rng = random.Random(20260103)
    node = repo.tree.root_node.data
    keys = list(repo.tree)
    for _ in range(1500):
        try:
            forged = decode_node(mutate(node, rng))
            blocks = {CID(n.link): n.data for n in repo.tree.nodes()} | {
                CID(forged.link): forged.data
            }
            tree = Tree.load(CID(forged.link), blocks)
            key = rng.choice(keys)
            removed = tree.remove(key)
            if removed is not None:
                assert removed[0].put(key, removed[1]).root is not None
            list(tree.items())
        except ATProtoError:
            continue


def test_mutated_frames_end_in_a_verdict() -> None:
    _, _, frame = repository()
    rng = random.Random(20260104)
    codes = set()
    for _ in range(1500):
        verdict = StreamVerifier(lambda did: KEY.public_key).verify(mutate(frame, rng))
        codes.add(verdict.code)
    assert len(codes) > 8


def test_mutated_sketch_nodes_end_in_our_errors() -> None:
    tree = SketchMST.build({b"key/%d" % n: CID.of(b"") for n in range(30)})
    rng = random.Random(20260105)
    for _ in range(1500):
        data = mutate(tree.root_node.data, rng)
        try:
            keys, values, slots = decode_sketch_node(data)
        except ATProtoError:
            continue
        assert len(slots) == len(keys) + 1 == len(values) + 1
