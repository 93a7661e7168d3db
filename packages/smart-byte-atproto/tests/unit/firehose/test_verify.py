from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey, PublicKey
from smart_byte_atproto.crypto.compact import K256_ORDER
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidDocument
from smart_byte_atproto.firehose.encode import commit_body, encode_frame
from smart_byte_atproto.firehose.slice import read_slice, write_slice
from smart_byte_atproto.firehose.verdict import StreamVerifier, Verdict
from smart_byte_atproto.repo import Committed, Repo, UnsignedCommit
from smart_byte_atproto.stores.memory import MemoryStore

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
KEY = PrivateKey(KeyType.K256, bytes(range(1, 33)))
TIME = "2026-01-01T00:00:00.000Z"
POST = "app.bsky.feed.post"
REVS = [f"3jzfcijpj2z{letter}2" for letter in "abcdefg"]
Body = dict[str, Any]


def made() -> tuple[Committed, Committed]:
    """Two commits: 60 posts, then one created, one updated, one deleted."""
    repo = Repo.create(DID, MemoryStore())
    for n in range(60):
        repo = repo.create_record(f"{POST}/3ke6kg3wk2{n:03}", {"$type": POST, "text": str(n)})
    first = repo.commit(KEY, rev=REVS[0])
    repo = first.repo.create_record(f"{POST}/3ke6kg3wk2zzz", {"$type": POST, "text": "another"})
    repo = repo.update_record(f"{POST}/3ke6kg3wk2017", {"$type": POST, "text": "edited"})
    repo = repo.delete_record(f"{POST}/3ke6kg3wk2033")
    return first, repo.commit(KEY, rev=REVS[1])


FIRST, SECOND = made()


def body_of(commit: Committed, seq: int = 2) -> Body:
    return copy.deepcopy(commit_body(commit, seq=seq, time=TIME))


def verifier(
    key: PublicKey | None = KEY.public_key, *, lenient: bool = False, latest_rev: str | None = None
) -> StreamVerifier:
    return StreamVerifier(lambda did: key, lenient=lenient, latest_rev=latest_rev)


def judge(body: Body, **options: Any) -> Verdict:
    return verifier(**options).verify(encode_frame("#commit", body))


def blocks_of(body: Body) -> dict[CID, bytes]:
    return {CID(link): block for link, block in read_slice(body["blocks"]).blocks.items()}


def reblock(body: Body, blocks: dict[CID, bytes]) -> None:
    body["blocks"] = write_slice(body["commit"], blocks)


def resign(body: Body, **changes: Any) -> None:
    """Replace the commit object by another, signed as the caller says."""
    blocks = blocks_of(body)
    fields = dag_cbor.decode(blocks.pop(body["commit"]))
    assert isinstance(fields, dict)
    del fields["sig"]
    sign = changes.pop("sign", KEY.sign)
    fields.update(changes)
    fields["sig"] = sign(dag_cbor.encode(fields))
    block = dag_cbor.encode(fields)
    body["commit"] = CID.of(block)
    reblock(body, {body["commit"]: block, **blocks})


def test_accepts_genuine_commits_in_order() -> None:
    stream = verifier()
    one = stream.verify(encode_frame("#commit", commit_body(FIRST, seq=1, time=TIME)))
    two = stream.verify(encode_frame("#commit", commit_body(SECOND, seq=2, time=TIME)))
    assert one == Verdict(True, "#commit", 1, DID, REVS[0], operations=60)
    assert two == Verdict(True, "#commit", 2, DID, REVS[1], operations=3)


def test_a_first_commit_without_prev_data_is_undone_to_the_empty_tree() -> None:
    assert FIRST.prev_data is None
    assert judge(body_of(FIRST)).good
    body = body_of(FIRST)
    body["ops"].pop()
    assert judge(body).code == "prev-data"


def test_a_lenient_consumer_takes_commits_that_cannot_be_undone() -> None:
    stream = verifier(lenient=True)
    assert stream.verify(encode_frame("#commit", body_of(FIRST, 1))).good
    body = body_of(SECOND)
    for op in body["ops"]:
        op.pop("prev", None)
    two = stream.verify(encode_frame("#commit", body))
    assert (two.good, two.operations, two.desynchronized) == (True, 0, False)


def test_an_empty_commit_has_the_data_of_the_one_before() -> None:
    third = SECOND.repo.commit(KEY, rev=REVS[2])
    verdict = judge(body_of(third))
    assert (verdict.good, verdict.operations) == (True, 0)


def test_a_gap_in_the_commits_of_an_account_is_told() -> None:
    repo = SECOND.repo.delete_record(f"{POST}/3ke6kg3wk2001")
    third = repo.commit(KEY, rev=REVS[2])
    fourth = third.repo.delete_record(f"{POST}/3ke6kg3wk2002").commit(KEY, rev=REVS[3])
    stream = verifier()
    assert not stream.verify(encode_frame("#commit", body_of(SECOND, 1))).desynchronized
    after_gap = stream.verify(encode_frame("#commit", body_of(fourth, 2)))
    assert (after_gap.good, after_gap.desynchronized) == (True, True)


def corrupt_block(body: Body) -> None:
    at = body["blocks"].rindex(b"another")
    body["blocks"] = body["blocks"][:at] + b"bnother" + body["blocks"][at + 7 :]


def other_root(body: Body) -> None:
    blocks = blocks_of(body)
    body["blocks"] = write_slice(next(cid for cid in blocks if cid != body["commit"]), blocks)


def no_commit_block(body: Body) -> None:
    blocks = blocks_of(body)
    del blocks[body["commit"]]
    reblock(body, blocks)


def not_a_commit(body: Body) -> None:
    blocks = blocks_of(body)
    block = dag_cbor.encode({"hello": "world"})
    body["commit"] = CID.of(block)
    reblock(body, {body["commit"]: block, **blocks})


def drop_record(body: Body) -> None:
    blocks = blocks_of(body)
    reblock(body, {c: b for c, b in blocks.items() if b"another" not in b})


def drop_nodes(body: Body) -> None:
    blocks = blocks_of(body)
    keep = {body["commit"], SECOND.commit.data} | {op["cid"] for op in body["ops"]}
    reblock(body, {cid: block for cid, block in blocks.items() if cid in keep})


def drop_root_node(body: Body) -> None:
    blocks = blocks_of(body)
    del blocks[SECOND.commit.data]
    reblock(body, blocks)


def malformed_node(body: Body) -> None:
    blocks = blocks_of(body)
    node = dag_cbor.encode({"e": [], "l": None, "x": 1})
    blocks[CID.of(node)] = node
    reblock(body, blocks)
    resign(body, data=CID.of(node))


def big_record(body: Body) -> None:
    blocks = blocks_of(body)
    record = b"\x5a" + (1_000_001).to_bytes(4) + bytes(1_000_001)
    blocks[CID.of(record)] = record
    reblock(body, blocks)
    next(op for op in body["ops"] if op["action"] == "create")["cid"] = CID.of(record)


def operation(which: str, /, **changes: Any) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        next(op for op in body["ops"] if op["action"] == which).update(changes)

    return change


def setting(**changes: Any) -> Callable[[Body], None]:
    return lambda body: body.update(changes)


def signed(**changes: Any) -> Callable[[Body], None]:
    return lambda body: resign(body, **changes)


def high_s(message: bytes) -> bytes:
    good = KEY.sign(message)
    return good[:32] + (K256_ORDER - int.from_bytes(good[32:])).to_bytes(32)


def create_a_present_key(body: Body) -> None:
    cid = SECOND.repo.get_cid(f"{POST}/3ke6kg3wk2033")
    assert cid is None
    op = next(op for op in body["ops"] if op["action"] == "delete")
    op["path"] = f"{POST}/3ke6kg3wk2zzz"
    body["ops"] = [op]


OTHER = CID.of(b"other")
UPDATED = SECOND.operations[0].cid
TAMPERED: list[tuple[str, Callable[[Body], object]]] = [
    ("schema", lambda body: body.pop("seq")),
    ("schema", lambda body: body.pop("repo")),
    ("schema", lambda body: body.pop("time")),
    ("schema", lambda body: body.pop("rev")),
    ("schema", lambda body: body.pop("since")),
    ("schema", lambda body: body.pop("commit")),
    ("schema", lambda body: body.pop("blocks")),
    ("schema", lambda body: body.pop("ops")),
    ("schema", lambda body: body.pop("blobs")),
    ("schema", lambda body: body.pop("rebase")),
    ("schema", lambda body: body.pop("tooBig")),
    ("schema", setting(seq=True)),
    ("schema", setting(prevData="text")),
    ("schema", setting(ops=["text"])),
    ("schema", operation("create", action="rename")),
    ("schema", operation("create", path=None)),
    ("schema", lambda body: body["ops"][0].pop("cid")),
    ("seq", setting(seq=0)),
    ("seq", setting(seq=1 << 53)),
    ("did", setting(repo="did:plc:")),
    ("did", setting(repo="alice.test")),
    ("rev", setting(rev="3jzfcijpj2z2")),
    ("rev", setting(since="")),
    ("time", setting(time="2026-01-01")),
    ("limits", lambda body: body.update(ops=body["ops"] * 67)),
    ("limits", setting(blocks=bytes(2_000_001))),
    ("limits", big_record),
    ("too-big", setting(tooBig=True)),
    ("car", lambda body: body.update(blocks=body["blocks"][:-1])),
    ("car", setting(blocks=b"")),
    ("car", setting(blocks=b"\x01\xa0")),
    ("car", setting(blocks=b"\x80")),
    ("hash", corrupt_block),
    ("root", other_root),
    ("root", no_commit_block),
    ("root", setting(commit=OTHER)),
    ("commit", not_a_commit),
    ("commit", signed(rev=None)),
    ("commit", signed(did="alice.test")),
    ("version", signed(version=2)),
    ("version", signed(version=4)),
    ("commit-did", signed(did="did:web:example.com")),
    ("commit-did", setting(repo="did:web:example.com")),
    ("commit-rev", signed(rev=REVS[4])),
    ("commit-rev", setting(rev=REVS[4])),
    ("signature-mismatch", signed(sign=PrivateKey.generate().sign)),
    ("signature-mismatch", signed(sign=PrivateKey.generate(KeyType.P256).sign)),
    ("signature-high-s", signed(sign=high_s)),
    ("signature-length", signed(sign=lambda message: KEY.sign(message)[:-1])),
    ("signature-zero", signed(sign=lambda message: bytes(64))),
    ("signature-range", signed(sign=lambda message: b"\xff" * 64)),
    ("signature-der", signed(sign=lambda message: b"\x30\x44" + bytes(68))),
    ("prev-data-missing", lambda body: body.pop("prevData")),
    ("prev-data-missing", operation("update", prev=None)),
    ("prev-data", setting(prevData=OTHER)),
    ("prev-data", operation("delete", prev=OTHER)),
    ("prev-data", operation("update", prev=OTHER)),
    ("prev-data", lambda body: body["ops"].pop()),
    ("op-path", operation("create", path="no-slash")),
    ("op-path", operation("delete", path=f"{POST}/..")),
    ("op-shape", operation("create", prev=OTHER)),
    ("op-shape", operation("delete", cid=OTHER)),
    ("op-duplicate", lambda body: body["ops"].append(body["ops"][0])),
    ("op-absent", operation("create", path=f"{POST}/3ke6kg3wk2zzy")),
    ("op-absent", operation("update", path=f"{POST}/3ke6kg3wk2033x")),
    ("op-present", create_a_present_key),
    ("op-value", operation("create", cid=UPDATED)),
    ("op-incomplete", drop_nodes),
    ("op-incomplete", drop_root_node),
    ("record-missing", drop_record),
    ("record-missing", operation("create", cid=OTHER)),
    ("record-missing", operation("create", cid=None)),
    ("tree-fields", malformed_node),
]


@pytest.mark.parametrize(
    ("code", "tamper"), TAMPERED, ids=[f"{n}-{code}" for n, (code, _) in enumerate(TAMPERED)]
)
def test_refuses_a_commit_that_is_wrong_in_one_way(
    code: str, tamper: Callable[[Body], object]
) -> None:
    body = body_of(SECOND)
    assert judge(body).good
    tamper(body)
    verdict = judge(body)
    assert (verdict.good, verdict.code) == (False, code)
    assert verdict.reason


def test_refuses_old_and_future_revs_and_repeated_seqs() -> None:
    stream = verifier()
    body = body_of(SECOND)
    assert stream.verify(encode_frame("#commit", body)).good
    assert stream.verify(encode_frame("#commit", body)).code == "seq"
    assert stream.verify(encode_frame("#commit", body | {"seq": 3})).code == "stale"
    assert judge(body, latest_rev=REVS[0]).code == "future"
    assert judge(body, latest_rev=REVS[1]).good


def test_refuses_commits_of_inactive_accounts() -> None:
    stream = verifier()
    account: Body = {"seq": 1, "did": DID, "time": TIME, "active": False, "status": "suspended"}
    assert stream.verify(encode_frame("#account", account)).good
    assert stream.verify(encode_frame("#commit", body_of(SECOND))).code == "inactive"
    assert stream.verify(encode_frame("#account", account | {"seq": 3, "active": True})).good
    assert stream.verify(encode_frame("#commit", body_of(SECOND, 4))).good


def test_refuses_accounts_without_a_usable_key() -> None:
    def broken(did: str) -> PublicKey:
        raise InvalidDocument("key", "malformed")

    frame = encode_frame("#commit", body_of(SECOND))
    assert judge(body_of(SECOND), key=None).code == "key-missing"
    assert StreamVerifier(broken).verify(frame).code == "key-missing"
    ed25519 = PrivateKey.generate(KeyType.ED25519)
    assert judge(body_of(SECOND), key=ed25519.public_key).code == "key-type"


def test_p256_accounts_are_verified_as_well() -> None:
    key = PrivateKey.generate(KeyType.P256)
    body = body_of(SECOND)
    resign(body, sign=key.sign)
    assert judge(body, key=key.public_key).good
    assert judge(body).code == "signature-mismatch"


def test_a_lenient_consumer_still_checks_that_the_operations_stand_in_the_tree() -> None:
    body = body_of(SECOND)
    del body["prevData"]
    assert judge(body, lenient=True).good
    body["ops"][0]["cid"] = body["ops"][2]["cid"]
    assert judge(body, lenient=True).code == "op-value"
    assert judge(body | {"ops": body["ops"] * 2}, lenient=True).code == "op-duplicate"


def sync_of(made: Committed, seq: int) -> bytes:
    commit = made.commit
    blocks = write_slice(commit.cid, {commit.cid: commit.encode()})
    rev = str(commit.rev)
    body: Body = {"seq": seq, "did": DID, "time": TIME, "rev": rev, "blocks": blocks}
    return encode_frame("#sync", body)


def test_a_sync_never_goes_back_behind_what_is_known() -> None:
    stream = verifier()
    assert stream.verify(encode_frame("#commit", body_of(FIRST, 1))).good
    assert stream.verify(encode_frame("#commit", body_of(SECOND, 2))).good
    assert stream.verify(sync_of(FIRST, 3)).code == "stale"
    assert stream.verify(encode_frame("#commit", body_of(SECOND, 4))).code == "stale"
    assert stream.verify(sync_of(SECOND, 5)).good
    other = FIRST.repo.delete_record(f"{POST}/3ke6kg3wk2001").commit(KEY, rev=REVS[1])
    assert stream.verify(sync_of(other, 6)).code == "stale"
    assert verifier(latest_rev=REVS[0]).verify(sync_of(SECOND, 1)).code == "future"


def test_sync_events_are_verified_by_their_commit() -> None:
    cid = SECOND.commit.cid
    blocks = write_slice(cid, {cid: SECOND.commit.encode()})
    body: Body = {"seq": 1, "did": DID, "time": TIME, "rev": REVS[1], "blocks": blocks}
    assert verifier().verify(encode_frame("#sync", body)).good
    wrong = body | {"rev": REVS[2]}
    assert verifier().verify(encode_frame("#sync", wrong)).code == "commit-rev"
    wrong = body | {"did": "did:web:example.com"}
    assert verifier().verify(encode_frame("#sync", wrong)).code == "commit-did"
    other = PrivateKey.generate().public_key
    assert verifier(other).verify(encode_frame("#sync", body)).code == "signature-mismatch"


@pytest.mark.parametrize(
    ("code", "frame"),
    [
        ("frame", b""),
        ("frame", b"\xa0"),
        ("frame", b"\xa0\xa0"),
        ("frame", b"\xff\xff"),
        ("frame", b"\x80\x80"),
        ("frame", b"\xa1bop\x01\xa0"),
        ("frame", b"\xa1bop\xf5\xa0"),
        ("frame", b"\xa1bop \xa0\xa0"),
        ("frame", b"\xa2at\x01bop\x01\xa0"),
        ("frame", encode_frame("#commit", body_of(SECOND))[:-1]),
        ("size", bytes(5_000_001)),
        ("schema", b"\xa1bop \xa0"),
        ("schema", encode_frame("#info", {})),
        ("schema", encode_frame("#identity", {"seq": 1, "did": DID, "time": TIME, "handle": 1})),
        ("schema", encode_frame("#account", {"seq": 1, "did": DID, "time": TIME, "active": 1})),
        ("schema", encode_frame("#sync", {"seq": 1, "did": DID, "time": TIME, "rev": REVS[0]})),
    ],
)
def test_refuses_malformed_frames(code: str, frame: bytes) -> None:
    verdict = verifier().verify(frame)
    assert (verdict.good, verdict.code) == (False, code)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (
            (
                "a1626f7020a2656572726f726c467574757265437572736f72676d657373616765754375727"
                "36f7220696e20746865206675747572652e"
            ),
            "FutureCursor",
        ),
        ("a261746523696e666f626f7001a1646e616d656e4f75746461746564437572736f72", "OutdatedCursor"),
        (
            (
                "a2617469236964656e74697479626f7001a46364696478206469643a706c633a6769746f343362763"
                "66c6269747968676b3336633233683263736571076474696d657818323032342d30312d303154303"
                "03a30303a30302e3030305a6668616e646c656a616c6963652e74657374"
            ),
            None,
        ),
        (encode_frame("#handle", {"anything": 1}).hex(), None),
        ("a1626f7002a0", None),
    ],
)
def test_other_events_pass_and_unknown_ones_are_ignored(frame: str, reason: str | None) -> None:
    verdict = verifier().verify(bytes.fromhex(frame))
    assert verdict.good
    assert verdict.reason == reason


def test_no_more_accounts_are_remembered_than_asked() -> None:
    stream = StreamVerifier(lambda did: None, max_accounts=2)
    for n in range(1, 6):
        account: Body = {"seq": n, "did": f"did:web:{n}.test", "time": TIME, "active": True}
        assert stream.verify(encode_frame("#account", account)).good
    assert sorted(stream._states) == ["did:web:4.test", "did:web:5.test"]


def test_an_ed25519_commit_is_never_network_valid() -> None:
    key = PrivateKey.generate(KeyType.ED25519)
    commit = UnsignedCommit(DID, SECOND.commit.data, REVS[2]).sign(key, network=False)
    commit.verify(key.public_key, network=False)
