from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from blake3 import blake3

from smart_byte_atproto import car
from smart_byte_atproto.bridge.aid import SignedEvent, incept, interact, replay, rotate
from smart_byte_atproto.bridge.binding import (
    COLLECTION,
    Binding,
    bind,
    naming_record,
    read_naming,
    verify_binding,
)
from smart_byte_atproto.bridge.cesr import signature_primitive
from smart_byte_atproto.bridge.repository import verify_in_repository
from smart_byte_atproto.bridge.said import Serialization, compute_said, load_fields, serialize
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import (
    BadSignature,
    BindingRefused,
    InvalidRepo,
    NotEncodable,
)
from smart_byte_atproto.repo import Repo
from smart_byte_atproto.repo.export import export_blocks
from smart_byte_atproto.stores.memory import MemoryStore

KEY = PrivateKey(KeyType.ED25519, bytes(range(1, 33)))
NEXT = PrivateKey(KeyType.ED25519, bytes(range(0x21, 0x41)))
ACCOUNT = PrivateKey(KeyType.K256, bytes(range(1, 33)))
STRANGER = PrivateKey(KeyType.P256, bytes(range(1, 33)))
DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
POST = f"at://{DID}/app.bsky.feed.post/3jzfcijpj2z2a"
PINNED = "bafyreib2rxk3rybk3aobmv5cjuql3bm2twh4jo5uxgf5kpqcsgz7soitae"
DATE = "2026-01-01T00:00:00.000Z"
LOG = [incept([KEY], next_keys=[NEXT.public_key])]
BINDING = bind(POST, replay(LOG), [KEY], date=DATE)


def rebound(binding: Binding = BINDING, key: PrivateKey = KEY, **changes: object) -> Binding:
    """A binding with other fields, with its size, SAID and signature right."""
    fields = {**load_fields(binding.text.encode()), **changes}
    fields["d"] = "#" * 44
    fields["v"] = "ATAID10JSON000000_"
    fields["v"] = f"ATAID10JSON{len(serialize(fields, Serialization.JSON)):06x}_"
    fields["d"] = compute_said(fields)
    text = serialize(fields, Serialization.JSON)
    return Binding(text.decode(), {0: signature_primitive(key.public_key, key.sign(text)).qb64})


def repository(records: dict[str, dict[str, Value]]) -> car.CAR:
    """The export of a repository with some records."""
    blocks = MemoryStore()
    repo = Repo.create(DID, blocks)
    for path, record in records.items():
        repo = repo.create_record(path, record)
    made = repo.commit(ACCOUNT, rev="3jzfcijpj2z2a")
    return car.CAR((made.commit.cid,), list(export_blocks(made.repo)))


def test_the_vectors_of_the_format_page_hold() -> None:
    page = (Path(__file__).parents[5] / "docs" / "bridge-format.md").read_text()
    texts = re.findall(r"```json\n(.+)\n```", page)
    signatures = re.findall(r"^signed `(.+)`\.$", page, re.MULTILINE)
    assert len(texts) == len(signatures) == 3
    log = [SignedEvent(texts[0], {0: signatures[0]})]
    assert log == LOG
    state = replay(log)
    for text, signature, cid in zip(texts[1:], signatures[1:], [None, PINNED], strict=True):
        binding = Binding(text, {0: signature})
        assert verify_binding(binding, log).cid == cid
        assert bind(POST, state, [KEY], date=DATE, cid=cid) == binding
        # The hash without our code for SAIDs.
        said = json.loads(text)["d"]
        hashed = blake3(text.replace(said, "#" * 44).encode()).digest()
        assert said == "E" + urlsafe_b64encode(b"\0" + hashed).decode()[1:]


def test_a_binding_says_what_it_binds() -> None:
    bound = verify_binding(BINDING, LOG)
    assert (bound.uri, bound.aid, bound.cid, bound.anchored) == (
        POST,
        replay(LOG).aid,
        None,
        False,
    )
    pinned = verify_binding(bind(POST, replay(LOG), [KEY], date=DATE, cid=PINNED), LOG)
    assert pinned.cid == PINNED
    assert pinned.said != bound.said


def test_a_key_that_was_rotated_away_vouches_only_for_what_was_anchored() -> None:
    rotated = [*LOG, rotate(replay(LOG), [NEXT])]
    with pytest.raises(BindingRefused) as caught:
        verify_binding(BINDING, rotated)
    assert caught.value.code == "key"
    said = verify_binding(BINDING, LOG).said
    anchored = [*LOG, interact(replay(LOG), [KEY], anchors=[said])]
    anchored.append(rotate(replay(anchored), [NEXT]))
    assert verify_binding(BINDING, anchored).anchored


def test_a_binding_made_after_an_interaction_names_the_keys_that_sign() -> None:
    log = [*LOG, interact(replay(LOG), [KEY])]
    binding = bind(POST, replay(log), [KEY], date=DATE)
    assert load_fields(binding.text.encode())["s"] == "0"
    assert verify_binding(binding, log).uri == POST


Change = Callable[[], Binding]
REFUSED: dict[str, tuple[str, Change]] = {
    "not JSON": ("form", lambda: Binding("{", {})),
    "a list": ("form", lambda: Binding("[]", {})),
    "deep": ("form", lambda: Binding("[" * 10_000, {})),
    "too long": ("form", lambda: Binding(" " * 20_000, {})),
    "half a pair": ("form", lambda: Binding('{"v":"\\ud800"}', {})),
    "spaces": ("form", lambda: Binding(BINDING.text.replace(",", ", "), BINDING.signatures)),
    "a field more": ("form", lambda: rebound(note="x")),
    "a field twice": (
        "form",
        lambda: Binding(BINDING.text.replace('"s":"0"', '"s":"0","s":"0"'), BINDING.signatures),
    ),
    "another size": (
        "version",
        lambda: Binding(BINDING.text.replace("JSON00", "JSON01"), BINDING.signatures),
    ),
    "another date": (
        "said",
        lambda: Binding(BINDING.text.replace("2026", "2027"), BINDING.signatures),
    ),
    "a handle": ("uri", lambda: rebound(uri="at://alice.test/app.bsky.feed.post/3jzfcijpj2z2a")),
    "no record": ("uri", lambda: rebound(uri=f"at://{DID}/app.bsky.feed.post")),
    "a fragment": ("uri", lambda: rebound(uri=f"{POST}#/text")),
    "a slash at the end": ("uri", lambda: rebound(uri=f"{POST}/")),
    "no URI": ("uri", lambda: rebound(uri=7)),
    "no AID": ("aid", lambda: rebound(aid="E")),
    "another AID": ("aid", lambda: rebound(aid="E" + "A" * 43)),
    "a date without milliseconds": ("date", lambda: rebound(dt="2026-01-01T00:00:00Z")),
    "no such day": ("date", lambda: rebound(dt="2026-02-30T00:00:00.000Z")),
    "no number": ("form", lambda: rebound(s="x")),
    "a number of no event": ("key", lambda: rebound(s="7")),
    "signed by another": ("signature", lambda: rebound(key=NEXT)),
    "signed by another kind of key": ("signature", lambda: rebound(key=ACCOUNT)),
    "not signed": ("signature", lambda: replace(BINDING, signatures={})),
    "a signature of no key": (
        "signature",
        lambda: replace(BINDING, signatures={1: BINDING.signatures[0]}),
    ),
    "a signature that is none": ("signature", lambda: replace(BINDING, signatures={0: "0B"})),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_refused_by_its_rule(name: str) -> None:
    rule, change = REFUSED[name]
    with pytest.raises(BindingRefused) as caught:
        verify_binding(change(), LOG)
    assert caught.value.code == rule


def test_a_cid_that_is_none_is_refused() -> None:
    pinned = bind(POST, replay(LOG), [KEY], date=DATE, cid=PINNED)
    with pytest.raises(BindingRefused) as caught:
        verify_binding(rebound(pinned, cid="bafy"), LOG)
    assert caught.value.code == "cid"


def test_a_log_that_breaks_a_rule_is_refused() -> None:
    with pytest.raises(BindingRefused) as caught:
        verify_binding(BINDING, [SignedEvent(LOG[0].text, {})])
    assert caught.value.code == "log"


def test_what_would_be_refused_is_not_signed() -> None:
    state = replay(LOG)
    with pytest.raises(NotEncodable):
        bind("at://alice.test/app.bsky.feed.post/1", state, [KEY], date=DATE)
    with pytest.raises(NotEncodable):
        bind(POST, state, [KEY], date="2026-01-01")
    with pytest.raises(NotEncodable):
        bind(POST, state, [NEXT], date=DATE)
    with pytest.raises(NotEncodable):
        bind(POST, state, [KEY], date=DATE, cid="bafy")


def test_both_directions_hold_from_the_repository_alone() -> None:
    record = naming_record(BINDING, LOG)
    said = verify_binding(BINDING, LOG).said
    whole = repository(
        {POST.removeprefix(f"at://{DID}/"): {"text": "hi"}, f"{COLLECTION}/{said}": record}
    )
    bound = verify_in_repository(whole, key=ACCOUNT.public_key, did=DID, said=said)
    assert bound.uri == POST
    with pytest.raises(BadSignature):
        verify_in_repository(whole, key=STRANGER.public_key, did=DID, said=said)
    with pytest.raises(InvalidRepo):
        verify_in_repository(whole, key=ACCOUNT.public_key, did="did:plc:" + "a" * 24, said=said)


@pytest.mark.parametrize("case", ["unnamed", "another key", "gone", "edited", "another account"])
def test_a_repository_that_does_not_name_what_it_should_is_refused(case: str) -> None:
    post: dict[str, Value] = {"text": "hi"}
    path = POST.removeprefix(f"at://{DID}/")
    cid = str(CID.of(dag_cbor.encode(post)))
    uri = POST if case != "another account" else POST.replace(DID, "did:plc:" + "a" * 24)
    binding = bind(uri, replay(LOG), [KEY], date=DATE, cid=cid)
    said = verify_binding(binding, LOG).said
    records: dict[str, dict[str, Value]] = {path: post}
    if case != "unnamed":
        records[f"{COLLECTION}/{said}"] = naming_record(binding, LOG)
    if case == "another key":
        records[f"{COLLECTION}/other"] = records.pop(f"{COLLECTION}/{said}")
        said = "other"
    if case == "gone":
        del records[path]
    if case == "edited":
        records[path] = {"text": "ho"}
    with pytest.raises(BindingRefused) as caught:
        verify_in_repository(repository(records), key=ACCOUNT.public_key, did=DID, said=said)
    wanted = {"edited": "cid", "another account": "account"}.get(case, "record")
    assert caught.value.code == wanted


@pytest.mark.parametrize(
    "changes",
    [
        {"$type": "com.example.other"},
        {"document": 7},
        {"log": None},
        {"log": [7]},
        {"log": [{"event": "x"}]},
        {"signatures": {"x": "y"}},
        {"signatures": {"00": "y"}},
        {"signatures": []},
    ],
)
def test_a_record_that_names_no_binding_is_refused(changes: dict[str, Value]) -> None:
    with pytest.raises(BindingRefused) as caught:
        read_naming({**naming_record(BINDING, LOG), **changes})
    assert caught.value.code == "form"
