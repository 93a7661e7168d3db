from __future__ import annotations

from itertools import count, islice, takewhile

import pytest

from smart_byte_atproto import car
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import BadSignature, InvalidRepo, InvalidTree, MissingBlock
from smart_byte_atproto.mst.node import depth_of
from smart_byte_atproto.mst.tree import Tree
from smart_byte_atproto.repo import Committed, Repo, UnsignedCommit
from smart_byte_atproto.repo.export import export_blocks
from smart_byte_atproto.repo.importing import apply_slice, import_repo
from smart_byte_atproto.stores.memory import MemoryStore

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
KEY = PrivateKey(KeyType.K256, bytes(range(1, 33)))
POST = "app.bsky.feed.post"
REVS = [f"3jzfcijpj2z2{letter}" for letter in "abcdefg"]


def made() -> tuple[Committed, Committed]:
    repo = Repo.create(DID, MemoryStore())
    for n in range(50):
        repo = repo.create_record(f"{POST}/{n:02}", {"$type": POST, "text": str(n)})
    first = repo.commit(KEY, rev=REVS[0])
    repo = first.repo.update_record(f"{POST}/07", {"$type": POST, "text": "edited"})
    repo = repo.delete_record(f"{POST}/08").create_record(f"{POST}/zz", {"$type": POST})
    return first, repo.commit(KEY, rev=REVS[1])


FIRST, SECOND = made()
WHOLE = car.CAR(
    (FIRST.commit.cid,), list(export_blocks(Repo.load(FIRST.repo.blocks, root=FIRST.commit.cid)))
)
SLICE = car.CAR((SECOND.commit.cid,), list(SECOND.blocks.items()))


def test_an_imported_repository_moves_with_a_slice_to_the_commit_after() -> None:
    store = MemoryStore()
    repo = import_repo(WHOLE, store, key=KEY.public_key, did=DID)
    assert store.root() == FIRST.commit.cid
    after = apply_slice(repo, SLICE, key=KEY.public_key)
    assert after.head == SECOND.commit
    assert store.root() == SECOND.commit.cid
    assert after.get(f"{POST}/07") == {"$type": POST, "text": "edited"}
    assert list(after.paths()) == list(SECOND.repo.paths())


def test_nothing_is_stored_of_what_does_not_verify() -> None:
    store = MemoryStore()
    stranger = PrivateKey.generate().public_key
    with pytest.raises(BadSignature):
        import_repo(WHOLE, store, key=stranger)
    with pytest.raises(MissingBlock):
        import_repo(car.CAR(WHOLE.roots, WHOLE.blocks[:-1]), store, key=KEY.public_key)
    with pytest.raises(InvalidRepo):
        import_repo(car.CAR((), WHOLE.blocks), store, key=KEY.public_key)
    assert len(store) == 0
    repo = import_repo(WHOLE, store, key=KEY.public_key)
    held = len(store)
    with pytest.raises(BadSignature):
        apply_slice(repo, SLICE, key=stranger)
    for cid in [op.cid for op in SECOND.operations if op.cid] + [SECOND.commit.data]:
        lacking = [(c, block) for c, block in SLICE.blocks if c != cid]
        with pytest.raises(MissingBlock):
            apply_slice(repo, car.CAR(SLICE.roots, lacking), key=KEY.public_key)
    with pytest.raises(MissingBlock):
        apply_slice(repo, car.CAR(SLICE.roots, SLICE.blocks[1:]), key=KEY.public_key)
    assert (store.root(), len(store)) == (FIRST.commit.cid, held)


def test_refuses_slices_of_another_account_or_time() -> None:
    store = MemoryStore()
    repo = import_repo(WHOLE, store, key=KEY.public_key)
    after = apply_slice(repo, SLICE, key=KEY.public_key)

    def code(target: Repo, slice_: car.CAR) -> str:
        with pytest.raises(InvalidRepo) as caught:
            apply_slice(target, slice_, key=KEY.public_key)
        return caught.value.code

    assert code(after, SLICE) == "rev"
    assert code(after, car.CAR((), SLICE.blocks)) == "root"
    other = Repo.create("did:web:example.com", MemoryStore())
    assert code(other, SLICE) == "did"


def signed_slice(root: CID, blocks: list[tuple[CID, bytes]], **changes: int) -> car.CAR:
    unsigned = UnsignedCommit(DID, root, REVS[2], None, **changes)
    commit = unsigned.sign(KEY)
    return car.CAR((commit.cid,), [(commit.cid, commit.encode()), *blocks])


def node(entries: list[tuple[bytes, CID, CID | None]], left: CID | None) -> tuple[CID, bytes]:
    listed: list[Value] = []
    before = b""
    for key, value, tree in entries:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(before, key, strict=False))
        shared = len(list(same))
        listed.append({"k": key[shared:], "p": shared, "t": tree, "v": value})
        before = key
    data = dag_cbor.encode({"e": listed, "l": left})
    return CID.of(data), data


def test_a_slice_whose_tree_breaks_its_rules_is_refused_and_not_stored() -> None:
    record = dag_cbor.encode({"$type": POST})
    cid = CID.of(record)
    keys = sorted(f"{c}bc.def.ghi/{n}".encode() for n, c in enumerate("abcdefgh"))
    assert len({depth_of(key) for key in keys}) > 1
    tree = node([(key, cid, None) for key in keys], None)
    store = MemoryStore()
    repo = import_repo(WHOLE, store, key=KEY.public_key)
    held = len(store)
    with pytest.raises(InvalidTree) as refused:
        apply_slice(repo, signed_slice(tree[0], [tree, (cid, record)]), key=KEY.public_key)
    assert refused.value.code in {"key-layer", "child-layer"}
    assert len(store) == held


def test_a_slice_that_links_to_one_node_over_and_over_is_refused_at_once() -> None:
    record = dag_cbor.encode({"$type": POST})
    value = CID.of(record)
    blocks = [(value, record)]
    below: CID | None = None
    for layer in range(6):
        found = (f"abc.def.ghi/{layer}x{n}".encode() for n in count())
        keys = sorted(islice((key for key in found if depth_of(key) == layer), 4))
        made = node([(key, value, below) for key in keys], below)
        blocks.append(made)
        below = made[0]
    assert below is not None
    repo = import_repo(WHOLE, MemoryStore(), key=KEY.public_key)
    with pytest.raises(InvalidTree):
        apply_slice(repo, signed_slice(below, blocks), key=KEY.public_key)
    tree = Tree.load(below, MemoryStore(blocks))
    for walk in (tree.items, tree.nodes):
        with pytest.raises(InvalidTree):
            list(walk())


def test_a_slice_of_an_old_version_is_not_built_upon() -> None:
    repo = import_repo(WHOLE, MemoryStore(), key=KEY.public_key)
    blocks = [(cid, data) for cid, data in SLICE.blocks if cid != SECOND.commit.cid]
    with pytest.raises(InvalidRepo) as refused:
        apply_slice(repo, signed_slice(SECOND.commit.data, blocks, version=2), key=KEY.public_key)
    assert refused.value.code == "version"
