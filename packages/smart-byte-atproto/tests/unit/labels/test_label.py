from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import BadSignature, InvalidFrame, InvalidLabel
from smart_byte_atproto.firehose.encode import encode_frame
from smart_byte_atproto.labels import Label, effective, parse_labels, sign_label, verify_label

KEY = PrivateKey(KeyType.K256, bytes(range(1, 33)))
SOURCE = "did:plc:gito43bv6lbityhgk36c23h2"
FIELDS: dict[str, Value] = {
    "ver": 1,
    "src": SOURCE,
    "uri": f"at://{SOURCE}/app.bsky.feed.post/3ke6kg3wk2222",
    "val": "spam",
    "cts": "2024-01-01T00:00:00.000Z",
}
SIGNATURE = bytes.fromhex(
    "d6fc47883ad28db1438c81f8aca535ec2e3275240bfc79a1a862504faacd5ba6"
    "3b77279a0213f2f2bb4813b90a7f0b3ca55a63307e38bd748ae87ab7c1aa53d8"
)
BYTES = bytes.fromhex(
    "a5636374737818323032342d30312d30315430303a30303a30302e3030305a6373726378206469643a706c633a"
    "6769746f34336276366c6269747968676b3336633233683263757269784661743a2f2f6469643a706c633a6769"
    "746f34336276366c6269747968676b333663323368322f6170702e62736b792e666565642e706f73742f336b65"
    "366b6733776b323232326376616c647370616d6376657201"
)
LABEL = Label.from_fields(FIELDS)


def said(**changes: Value) -> Label:
    return Label.from_fields({**FIELDS, **changes})


def frame(body: dict[str, Value], kind: str = "#labels") -> bytes:
    return encode_frame(kind, body)


def test_the_label_of_the_reference() -> None:
    assert LABEL.unsigned() == BYTES
    assert sign_label(LABEL, KEY).sig == SIGNATURE
    verify_label(replace(LABEL, sig=SIGNATURE), KEY.public_key)


def test_a_label_comes_back_from_its_fields() -> None:
    label = sign_label(
        said(
            cid="bafyreib2rxk3rybk3aobmv5cjuql3bm2twh4jo5uxgf5kpqcsgz7soitae",
            neg=True,
            exp="2025-01-01T00:00:00.000Z",
        ),
        KEY,
    )
    assert Label.from_fields(label.to_fields()) == label
    verify_label(label, KEY.public_key)
    assert "neg" not in LABEL.to_fields()


@pytest.mark.parametrize(
    "changes",
    [
        {"val": "ham"},
        {"neg": True},
        {"exp": "2025-01-01T00:00:00.000Z"},
        {"cts": "2024-01-01T00:00:00.001Z"},
        {"uri": SOURCE},
    ],
)
def test_a_label_that_was_altered_has_a_bad_signature(changes: dict[str, Value]) -> None:
    with pytest.raises(BadSignature):
        verify_label(said(**changes, sig=SIGNATURE), KEY.public_key)


def test_a_label_without_a_signature_is_refused() -> None:
    with pytest.raises(InvalidLabel):
        verify_label(LABEL, KEY.public_key)


@pytest.mark.parametrize(
    "changes",
    [
        {"ver": 2},
        {"ver": True},
        {"src": "alice.test"},
        {"src": None},
        {"uri": "https://example.com/"},
        {"uri": "at://"},
        {"val": ""},
        {"val": "x" * 129},
        {"val": "é" * 65},
        {"cts": "yesterday"},
        {"cid": "bafy"},
        {"cid": 7},
        {"neg": 1},
        {"exp": "tomorrow"},
        {"exp": 7},
        {"sig": "text"},
    ],
)
def test_what_is_no_label_is_refused(changes: dict[str, Value]) -> None:
    with pytest.raises(InvalidLabel):
        said(**changes)


def test_what_holds_is_the_last_word_of_each_source_on_each_value() -> None:
    when = datetime(2024, 6, 1, tzinfo=UTC)
    taken_back = said(neg=True, cts="2024-02-01T00:00:00.000Z")
    again = said(cts="2024-03-01T00:00:00.000Z")
    other = said(val="rude")
    ended = said(val="old", exp="2024-05-01T00:00:00.000Z")
    pinned = said(cid="bafyreib2rxk3rybk3aobmv5cjuql3bm2twh4jo5uxgf5kpqcsgz7soitae")
    assert effective([LABEL], when=when) == [LABEL]
    assert effective([taken_back, LABEL], when=when) == []
    assert effective([again, LABEL, taken_back], when=when) == [again]
    assert effective([LABEL, other, ended, pinned], when=when) == [LABEL, other, pinned]
    assert effective([ended], when=datetime(2024, 4, 1, tzinfo=UTC)) == [ended]


def test_a_label_that_has_ended_does_not_bring_back_the_one_before_it() -> None:
    longer = said(cts="2023-01-01T00:00:00.000Z")
    shorter = said(exp="2024-02-01T00:00:00.000Z")
    assert effective([longer, shorter], when=datetime(2024, 6, 1, tzinfo=UTC)) == []


def test_a_stream_gives_labels_and_says_what_could_not_be_read() -> None:
    event = parse_labels(frame({"seq": 7, "labels": [FIELDS, {"ver": 1}, 9]}))
    assert event is not None
    assert (event.seq, event.labels) == (7, (LABEL,))
    assert len(event.problems) == 2
    assert parse_labels(frame({"name": "OutdatedCursor"}, "#info")) is None


@pytest.mark.parametrize(
    "body", [{"labels": []}, {"seq": True, "labels": []}, {"seq": 1}, {"seq": 1, "labels": {}}]
)
def test_a_message_without_seq_or_labels_is_refused(body: dict[str, Value]) -> None:
    with pytest.raises(InvalidFrame) as caught:
        parse_labels(frame(body))
    assert caught.value.code == "schema"
