from __future__ import annotations

import pytest

from smart_byte_atproto import car
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.errors import BadSignature, InvalidRepo, MissingBlock
from smart_byte_atproto.repo import Committed, Repo
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
