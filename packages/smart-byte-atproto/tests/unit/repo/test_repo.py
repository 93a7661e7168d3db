from __future__ import annotations

import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import (
    InvalidRepo,
    InvalidTreeKey,
    MissingBlock,
    WriteRefused,
)
from smart_byte_atproto.mst import Action, Tree, invert
from smart_byte_atproto.mst.source import SliceNodes
from smart_byte_atproto.repo import Repo, verify_repo
from smart_byte_atproto.repo.export import export_blocks
from smart_byte_atproto.repo.path import check_path, collection_of
from smart_byte_atproto.stores.memory import MemoryStore

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
KEY = PrivateKey(KeyType.K256, bytes(range(1, 33)))
POST = "app.bsky.feed.post"
REVS = [f"3jzfcijpj2z2{letter}" for letter in "abcdefg"]


def post(n: int) -> dict[str, object]:
    return {"$type": POST, "text": f"post {n}"}


def filled(count: int, store: MemoryStore) -> Repo:
    repo = Repo.create(DID, store)
    for n in range(count):
        repo = repo.create_record(f"{POST}/3ke6kg3wk2{n:03}", {"$type": POST, "text": f"{n}"})
    return repo


def test_writes_change_nothing_but_the_repo_that_they_return() -> None:
    empty = Repo.create(DID, MemoryStore())
    one = empty.create_record(f"{POST}/a", {"$type": POST, "text": "one"})
    two = one.update_record(f"{POST}/a", {"$type": POST, "text": "two"})
    none = two.delete_record(f"{POST}/a")
    assert empty.get(f"{POST}/a") is None
    assert one.get(f"{POST}/a") == {"$type": POST, "text": "one"}
    assert two.get(f"{POST}/a") == {"$type": POST, "text": "two"}
    assert none.tree == empty.tree
    assert list(two.paths()) == [f"{POST}/a"]


def test_refuses_writes_that_cannot_be() -> None:
    repo = Repo.create(DID, MemoryStore()).create_record(f"{POST}/a", {"$type": POST})

    def code(call: object, *arguments: object) -> str:
        with pytest.raises(WriteRefused) as caught:
            call(*arguments)  # type: ignore[operator]
        return caught.value.code

    assert code(repo.create_record, f"{POST}/a", {}) == "exists"
    assert code(repo.update_record, f"{POST}/b", {}) == "absent"
    assert code(repo.delete_record, f"{POST}/b") == "absent"
    assert code(repo.create_record, "no-slash", {}) == "path"
    assert code(repo.create_record, f"{POST}/\ud800", {}) == "path"
    assert code(repo.create_record, f"{POST}/b", {"x": 1.5}) == "record"
    assert code(repo.create_record, f"{POST}/b", {"x": "y" * 1_000_001}) == "record"


def test_a_commit_holds_what_changed_whatever_the_order_of_writes() -> None:
    first = filled(50, MemoryStore()).commit(KEY, rev=REVS[0])
    assert [op.action for op in first.operations] == [Action.CREATE] * 50
    assert (first.since, first.prev_data) == (None, None)
    repo = first.repo.create_record(f"{POST}/temporary", {"$type": POST})
    repo = repo.delete_record(f"{POST}/3ke6kg3wk2010").delete_record(f"{POST}/temporary")
    repo = repo.update_record(f"{POST}/3ke6kg3wk2020", {"$type": POST, "text": "edited"})
    second = repo.create_record(f"{POST}/z", {"$type": POST}).commit(KEY, rev=REVS[1])
    assert [(op.action, op.key.decode()) for op in second.operations] == [
        (Action.DELETE, f"{POST}/3ke6kg3wk2010"),
        (Action.UPDATE, f"{POST}/3ke6kg3wk2020"),
        (Action.CREATE, f"{POST}/z"),
    ]
    assert (second.since, second.prev_data) == (REVS[0], first.commit.data)
    assert next(iter(second.blocks)) == second.commit.cid
    source = SliceNodes({cid.raw: block for cid, block in second.blocks.items()})
    undone = invert(Tree.open(second.commit.data.raw, source), second.operations)
    assert undone.root == first.commit.data
    assert not any(b"temporary" in block for block in second.blocks.values())
    assert second.repo.operations() == ()


def test_a_stored_repository_is_found_again() -> None:
    store = MemoryStore()
    made = filled(50, store).commit(KEY, rev=REVS[0])
    again = Repo.load(store)
    assert again.head == made.commit
    assert again.get(f"{POST}/3ke6kg3wk2007") == {"$type": POST, "text": "7"}
    assert len(list(again.paths(collection=POST))) == 50
    assert list(again.paths(collection="app.bsky.feed.like")) == []
    report = verify_repo(made.commit.cid, store, key=KEY.public_key, did=DID)
    assert (report.records, report.rev, report.warnings) == (50, REVS[0], ())


def test_a_store_without_the_commit_is_refused() -> None:
    with pytest.raises(InvalidRepo):
        Repo.load(MemoryStore())
    with pytest.raises(MissingBlock):
        Repo.load(MemoryStore(), root=CID.of(b""))


def test_commits_need_a_later_rev_and_a_key_of_the_network() -> None:
    repo = filled(1, MemoryStore()).commit(KEY, rev=REVS[1]).repo
    for rev in (REVS[0], REVS[1]):
        with pytest.raises(WriteRefused) as caught:
            repo.commit(KEY, rev=rev)
        assert caught.value.code == "rev"
    ed25519 = PrivateKey.generate(KeyType.ED25519)
    with pytest.raises(WriteRefused) as caught:
        repo.commit(ed25519, rev=REVS[2])
    assert caught.value.code == "key-type"
    closed = repo.commit(ed25519, rev=REVS[2], network=False)
    closed.commit.verify(ed25519.public_key, network=False)


def test_an_export_goes_depth_first_and_holds_each_block_once() -> None:
    store = MemoryStore()
    repo = filled(60, store)
    same = {"$type": POST, "text": "0"}
    made = repo.create_record(f"{POST}/same", dict(same)).commit(KEY, rev=REVS[0])
    blocks = list(export_blocks(made.repo))
    order = [cid for cid, _ in blocks]
    assert len(set(order)) == len(order) == 1 + len(list(made.repo.tree.nodes())) + 60
    assert order[0] == made.commit.cid
    assert order[1] == made.commit.data
    # Every block is linked to by one that stands before it.
    linked = {made.commit.cid, made.commit.data}
    for cid, _ in blocks:
        assert cid in linked
        for node in made.repo.tree.nodes():
            if node.link == cid.raw:
                linked |= {CID(value) for value in node.values}
                linked |= {CID(t) for t in node.trees if isinstance(t, bytes)}
    records = [value for _, value in made.repo.tree.items()]
    first_seen = list(dict.fromkeys(records))
    assert [cid for cid in order if cid in set(records)] == first_seen


def test_only_commits_are_exported() -> None:
    repo = filled(1, MemoryStore())
    with pytest.raises(WriteRefused):
        list(export_blocks(repo))
    made = repo.commit(KEY, rev=REVS[0])
    changed = made.repo.delete_record(f"{POST}/3ke6kg3wk2000")
    with pytest.raises(WriteRefused):
        list(export_blocks(changed))
    assert len(list(export_blocks(made.repo))) == 3


@pytest.mark.parametrize(
    "path",
    [
        f"{POST}/3ke6kg3wk2222",
        "com.example.fooBar/self",
        "a.b.c/x",
        "x-1.y-2.com.Name9/a:b~c.d_e-f",
        f"{POST}/...",
        f"{POST}/" + "k" * 512,
    ],
)
def test_accepts_paths_of_a_collection_and_a_record_key(path: str) -> None:
    assert check_path(path.encode()) == path.encode()
    assert collection_of(path.encode()) == path.partition("/")[0]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        f"{POST}",
        f"{POST}/",
        "/a",
        f"{POST}/a/b",
        f"{POST}/.",
        f"{POST}/..",
        f"{POST}/a b",
        f"{POST}/a\n",
        f"{POST}/é",
        f"{POST}/" + "k" * 513,
        "App.bsky.feed.post/a",
        "a.b/c",
        "1a.b.c/x",
        "a.b.3/x",
        "a..b.c/x",
        "a.-b.c/x",
        "a.b-.c/x",
        "a.b.c-d/x",
        "a." + "b" * 64 + ".c/x",
        "a.b." + "c" * 64 + "/x",
        "a." + "bcdefghij." * 26 + "c/x",
    ],
)
def test_refuses_other_paths(path: str) -> None:
    with pytest.raises(InvalidTreeKey):
        check_path(path.encode())
