from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest

from smart_byte_atproto.errors import ATProtoError, InvalidSyntax
from smart_byte_atproto.syntax import (
    ATURI,
    DID,
    FORMATS,
    NSID,
    TID,
    CIDString,
    Datetime,
    Handle,
    Language,
    RecordKey,
    TIDGenerator,
    parse_at_identifier,
)


def test_did_knows_its_method() -> None:
    assert DID("did:web:example.com").method == "web"
    assert DID("did:plc:gito43bv6lbityhgk36c23h2").is_plc
    assert not DID("did:plc:short").is_plc


def test_did_of_2049_characters_is_refused() -> None:
    prefix = "did:a:"
    assert DID(prefix + "x" * (2048 - len(prefix)))
    with pytest.raises(InvalidSyntax, match="2048"):
        DID(prefix + "x" * (2049 - len(prefix)))


def test_handles_compare_in_lower_case() -> None:
    assert Handle("Alice.Test").normalize() == Handle("alice.test")
    assert Handle("laptop.LOCAL").tld == "local"
    assert not Handle("laptop.LOCAL").is_registrable
    assert Handle("alice.test").is_registrable


def test_nsid_turns_its_authority_around() -> None:
    name = NSID("COM.Example.fooBar")
    assert (name.authority, name.name) == ("example.com", "fooBar")
    assert name.normalize() == "com.example.fooBar"


def test_at_uri_gives_its_parts() -> None:
    uri = ATURI("at://Alice.test/COM.example.fooBar/Key:1")
    assert uri.authority == Handle("Alice.test")
    assert uri.collection == NSID("COM.example.fooBar")
    assert uri.rkey == RecordKey("Key:1")
    assert uri.normalize() == "at://alice.test/com.example.fooBar/Key:1"
    short = ATURI("at://did:plc:abc")
    assert (short.authority, short.collection, short.rkey) == (DID("did:plc:abc"), None, None)
    assert short.normalize() == short


def test_at_uri_is_built_from_parts() -> None:
    built = ATURI.of(DID("did:plc:abc"), NSID("com.example.foo"), RecordKey("self"))
    assert built == "at://did:plc:abc/com.example.foo/self"
    with pytest.raises(InvalidSyntax, match="without a collection"):
        ATURI.of(DID("did:plc:abc"), None, RecordKey("self"))


def test_at_uri_names_the_part_that_is_wrong() -> None:
    with pytest.raises(InvalidSyntax, match="nsid must be") as caught:
        ATURI("at://alice.test/post")
    assert caught.value.kind == "at-uri"
    assert caught.value.text == "at://alice.test/post"


def test_identifier_is_a_did_or_a_handle() -> None:
    assert type(parse_at_identifier("did:plc:abc")) is DID
    assert type(parse_at_identifier("alice.test")) is Handle


@pytest.mark.parametrize(
    ("micros", "clock", "text"),
    [
        (0, 0, "2222222222222"),
        (1, 0, "2222222222322"),
        (1_700_000_000_000_000, 0, "3ke6kg3wk2222"),
        (1_700_000_000_000_000, 1023, "3ke6kg3wk22zz"),
        ((1 << 53) - 1, 1023, "bzzzzzzzzzzzz"),
    ],
)
def test_tids_of_the_reference(micros: int, clock: int, text: str) -> None:
    tid = TID.at(micros, clock)
    assert tid == text
    assert (tid.micros, tid.clock_id) == (micros, clock)


def test_tid_reaches_to_the_end_of_unsigned_64_bits() -> None:
    assert int(TID("jzzzzzzzzzzzz")) == (1 << 64) - 1
    assert TID.of((1 << 64) - 1) == "jzzzzzzzzzzzz"
    for number in (-1, 1 << 64):
        with pytest.raises(ValueError, match="out of range"):
            TID.of(number)
    with pytest.raises(ValueError, match="time out of range"):
        TID.at(1 << 53)
    with pytest.raises(ValueError, match="clock out of range"):
        TID.at(0, 1024)


def test_generator_increases_though_the_clock_stands_or_goes_back() -> None:
    times = iter([100, 100, 50, 200, 10])
    generator = TIDGenerator(lambda: next(times), rng=Random(1))
    made = [generator.next() for _ in range(5)]
    assert [tid.micros for tid in made] == [100, 101, 102, 200, 201]
    assert len({tid.clock_id for tid in made}) == 1
    assert made == sorted(made)


def test_generator_starts_after_the_tid_it_is_given() -> None:
    generator = TIDGenerator(lambda: 5, rng=Random(1), last=TID.at(1000))
    assert generator.next().micros == 1001


def test_datetime_gives_the_instant_in_utc() -> None:
    assert Datetime("2024-01-01T01:30:00.1239999+01:30").instant() == datetime(
        2024, 1, 1, 0, 0, 0, 123999, UTC
    )
    assert Datetime("2023-12-31T23:00:00-01:00").instant() == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"])
def test_datetime_beyond_python_is_valid_but_has_no_instant(text: str) -> None:
    with pytest.raises(InvalidSyntax, match="years 1 to 9999"):
        Datetime(text).instant()


def test_cid_string_leads_to_a_cid() -> None:
    text = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
    assert str(CIDString(text).parse()) == text
    with pytest.raises(InvalidSyntax):
        CIDString("zdj7WWeQ43G6JJvLWQWZpyHuAMq6uYWRjkBXFad11vE2LHhQ7").parse()


def test_language_knows_its_first_subtag() -> None:
    assert Language("zh-Hant").primary == "zh"


@pytest.mark.parametrize("kind", sorted(FORMATS))
@pytest.mark.parametrize(
    "text", ["", "\n", "a\n", "a.b\n", "\ud800", "x" * 10_000, "\x00", "\uff41.test"]
)
def test_no_format_takes_rubbish(kind: str, text: str) -> None:
    with pytest.raises(ATProtoError):
        FORMATS[kind](text)


def test_a_valid_value_with_a_newline_behind_is_refused() -> None:
    samples = {
        "at-identifier": "alice.test",
        "at-uri": "at://alice.test",
        "cid": "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua",
        "datetime": "2024-01-01T00:00:00Z",
        "did": "did:plc:abc",
        "handle": "alice.test",
        "language": "en",
        "nsid": "com.example.foo",
        "record-key": "self",
        "tid": "2222222222222",
        "uri": "https://example.test",
    }
    assert samples.keys() == FORMATS.keys()
    for kind, text in samples.items():
        assert FORMATS[kind](text) == text
        with pytest.raises(InvalidSyntax):
            FORMATS[kind](text + "\n")
