from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from smart_byte_atproto.bridge.aid import (
    SignedEvent,
    dump_log,
    incept,
    interact,
    load_log,
    next_digest,
    replay,
    rotate,
)
from smart_byte_atproto.bridge.cesr import key_primitive, signature_primitive
from smart_byte_atproto.bridge.said import compute_said
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.errors import InvalidEvent, NotEncodable

KEY = PrivateKey(KeyType.ED25519, bytes(range(1, 33)))
NEXT = PrivateKey(KeyType.ED25519, bytes(range(0x21, 0x41)))
THIRD = PrivateKey(KeyType.K256, bytes(range(1, 33)))
FOURTH = PrivateKey(KeyType.P256, bytes(range(1, 33)))
INCEPTION = (
    '{"v":"KERI10JSON00012b_","t":"icp","d":"EAdiswB-RdGlljJgh7mT6IXTSWaBfpCGGa4a7fj1YzD9",'
    '"i":"EAdiswB-RdGlljJgh7mT6IXTSWaBfpCGGa4a7fj1YzD9","s":"0","kt":"1",'
    '"k":["DHm1Vi6P5lT5QHixEuipi6eQH4U65pW-1-DjkQutBJZk"],"nt":"1",'
    '"n":["EL3kTny-pP4EVz--inPa4CAm5jJEzr5T1LfMofJJobOz"],"bt":"0","b":[],"c":[],"a":[]}'
)
SIGNATURE = (
    "0BCnmBeKTDYyEDpWjRNH1SeFiHq5gnUHDsBNIKh6SxHyxUNYKfGmlZK8-S9a6BcWMtuu77DuTZKwtBAVoJRYwJ0D"
)


def history() -> list[SignedEvent]:
    """An inception, an interaction, and two rotations to other types of keys."""
    events = [incept([KEY], next_keys=[NEXT.public_key])]
    events.append(interact(replay(events), [KEY], anchors=["Eanchored"]))
    events.append(rotate(replay(events), [NEXT], next_keys=[THIRD.public_key, FOURTH.public_key]))
    events.append(rotate(replay(events), [THIRD, FOURTH]))
    return events


def resealed(event: SignedEvent, key: PrivateKey, **changes: object) -> SignedEvent:
    """An event with other fields, with its size, SAID and signature right."""
    fields = {**event.fields, **changes, "v": "KERI10JSON000000_"}
    fields["d"] = "#" * 44
    size = len(json.dumps(fields, separators=(",", ":")).encode())
    fields["v"] = f"KERI10JSON{size:06x}_"
    fields["d"] = compute_said(fields)
    text = json.dumps(fields, separators=(",", ":"))
    signature = signature_primitive(key.public_key, key.sign(text.encode()))
    return SignedEvent(text, {0: signature.qb64})


def test_the_inception_of_the_reference() -> None:
    event = incept([KEY], next_keys=[NEXT.public_key])
    assert event.text == INCEPTION
    assert event.signatures == {0: SIGNATURE}
    assert key_primitive(NEXT.public_key).qb64 == "DOfxYqEL7FWa_qGV5NzoS2lWjV0ssJY-tEbAaF4rF_Lw"
    assert next_digest(NEXT.public_key) == "EL3kTny-pP4EVz--inPa4CAm5jJEzr5T1LfMofJJobOz"
    state = replay([SignedEvent(INCEPTION, {0: SIGNATURE})])
    assert state.aid == "EAdiswB-RdGlljJgh7mT6IXTSWaBfpCGGa4a7fj1YzD9"


def test_the_basic_inception_of_the_reference() -> None:
    event = incept([KEY], next_keys=[NEXT.public_key], basic=True)
    state = replay([event])
    assert state.aid == "DHm1Vi6P5lT5QHixEuipi6eQH4U65pW-1-DjkQutBJZk"
    assert state.said == "EINFkIfWuaUJuEMX7wTwY4DCeWOo_AC4ryqqatZ9_JhM"


def test_a_key_that_never_rotates_is_its_own_aid() -> None:
    state = replay([incept([KEY], basic=True)])
    assert state.aid == "BHm1Vi6P5lT5QHixEuipi6eQH4U65pW-1-DjkQutBJZk"
    assert state.is_frozen


def test_a_log_comes_to_its_last_keys_and_all_anchors() -> None:
    state = replay(history())
    assert (state.sequence, state.established, state.threshold) == (3, 3, 2)
    assert state.keys[0].startswith("1AAB")
    assert state.keys[1].startswith("1AAJ")
    assert state.anchors == ("Eanchored",)
    assert state.is_frozen


def test_a_log_comes_back_from_its_lines() -> None:
    events = history()
    assert load_log(dump_log(events)) == events


def test_some_of_many_keys_are_enough() -> None:
    keys = [PrivateKey.generate(KeyType.ED25519) for _ in range(3)]
    event = incept(keys, threshold=2)
    for missing in range(3):
        some = {place: text for place, text in event.signatures.items() if place != missing}
        assert replay([SignedEvent(event.text, some)]).threshold == 2
    with pytest.raises(InvalidEvent) as caught:
        replay([SignedEvent(event.text, {1: event.signatures[1]})])
    assert caught.value.code == "threshold"


def test_only_keys_that_were_committed_to_can_be_rotated_to() -> None:
    events = [incept([KEY], next_keys=[NEXT.public_key])]
    with pytest.raises(NotEncodable):
        rotate(replay(events), [THIRD])
    good = rotate(replay(events), [NEXT], next_keys=[THIRD.public_key])
    stolen = rotate(
        replay([incept([KEY], next_keys=[THIRD.public_key])]), [THIRD], next_keys=[NEXT.public_key]
    )
    forged = resealed(
        good, THIRD, k=stolen.fields["k"], i=events[0].fields["i"], p=good.fields["p"]
    )
    with pytest.raises(InvalidEvent) as caught:
        replay([*events, forged])
    assert caught.value.code == "commitment"


def test_nothing_but_interactions_follows_a_frozen_log() -> None:
    events = history()
    more = resealed(
        events[2],
        THIRD,
        s="4",
        p=replay(events).said,
        k=events[3].fields["k"],
        kt="1",
        n=[],
        nt="0",
    )
    with pytest.raises(InvalidEvent) as caught:
        replay([*events, more])
    assert caught.value.code == "frozen"
    assert replay([*events, interact(replay(events), [THIRD, FOURTH])]).sequence == 4


Change = Callable[[list[SignedEvent]], list[SignedEvent]]
CHANGES: dict[str, tuple[str, Change]] = {
    "no events": ("form", lambda events: events[:0]),
    "the first missing": ("sequence", lambda events: events[1:]),
    "one missing": ("sequence", lambda events: [events[0], *events[2:]]),
    "one twice": ("sequence", lambda events: [events[0], *events]),
    "no signature": ("threshold", lambda events: [SignedEvent(events[0].text, {})]),
    "a signature of another": (
        "signature",
        lambda events: [SignedEvent(events[0].text, events[1].signatures)],
    ),
    "a signature of no key": (
        "signature",
        lambda events: [SignedEvent(events[0].text, {7: events[0].signatures[0]})],
    ),
    "a signature that is none": (
        "signature",
        lambda events: [SignedEvent(events[0].text, {0: "0Bxx"})],
    ),
    "a digest as signature": (
        "signature",
        lambda events: [SignedEvent(events[0].text, {0: events[0].fields["d"]})],  # type: ignore[dict-item]
    ),
    "another size": (
        "version",
        lambda events: [SignedEvent(events[0].text.replace("00012b", "00012c"), {})],
    ),
    "spaces": ("form", lambda events: [SignedEvent(events[0].text.replace(",", ", "), {})]),
    "another order": (
        "form",
        lambda events: [
            SignedEvent(events[0].text.replace('"bt":"0","b":[]', '"b":[],"bt":"0"'), {})
        ],
    ),
    "a field twice": (
        "form",
        lambda events: [SignedEvent(events[0].text.replace('"a":[]', '"a":[],"a":[]'), {})],
    ),
    "not JSON": ("form", lambda _events: [SignedEvent("{", {})]),
    "a float": ("form", lambda _events: [SignedEvent('{"t":1.5}', {})]),
    "a list": ("form", lambda _events: [SignedEvent("[]", {})]),
    "a type that is a list": ("form", lambda _events: [SignedEvent('{"t":[]}', {})]),
    "half a pair": ("form", lambda _events: [SignedEvent('{"t":"\\ud800"}', {})]),
    "too long": ("form", lambda _events: [SignedEvent(" " * 70_000, {})]),
    "deep": ("form", lambda _events: [SignedEvent("[" * 60_000, {})]),
    "delegated": ("unsupported", lambda _events: [SignedEvent('{"t":"dip"}', {})]),
    "another SAID": (
        "said",
        lambda events: [SignedEvent(events[1].text.replace('"d":"E', '"d":"F', 1), {})],
    ),
    "weights": ("unsupported", lambda events: [resealed(events[0], KEY, kt=["1/2"])]),
    "no threshold": ("threshold", lambda events: [resealed(events[0], KEY, kt="0")]),
    "a threshold above": ("threshold", lambda events: [resealed(events[0], KEY, kt="2")]),
    "a threshold that is a map": ("threshold", lambda events: [resealed(events[0], KEY, kt={})]),
    "a next threshold above": ("threshold", lambda events: [resealed(events[0], KEY, nt="2")]),
    "no keys": ("form", lambda events: [resealed(events[0], KEY, k=[])]),
    "keys that are none": ("form", lambda events: [resealed(events[0], KEY, k=["D"])]),
    "next keys that are none": ("form", lambda events: [resealed(events[0], KEY, n=["E"])]),
    "keys of numbers": ("form", lambda events: [resealed(events[0], KEY, k=[1])]),
    "too many keys": ("form", lambda events: [resealed(events[0], KEY, k=["D"] * 99)]),
    "witnesses": ("unsupported", lambda events: [resealed(events[0], KEY, bt="1", b=["B"])]),
    "anchors that are no list": ("form", lambda events: [resealed(events[0], KEY, a={})]),
    "another prefix": ("prefix", lambda events: [resealed(events[0], KEY, i="E" + "A" * 43)]),
    "an event of another AID": (
        "prefix",
        lambda events: [events[0], resealed(events[1], KEY, i="E" + "A" * 43)],
    ),
    "another prior": (
        "prior",
        lambda events: [events[0], resealed(events[1], KEY, p="E" + "A" * 43)],
    ),
    "signed by the next key": ("signature", lambda events: [events[0], resealed(events[1], NEXT)]),
    "a rotation signed by the old key": (
        "signature",
        lambda events: [*events[:2], resealed(events[2], KEY)],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_log_that_was_altered_is_refused_by_its_rule(name: str) -> None:
    rule, change = CHANGES[name]
    with pytest.raises(InvalidEvent) as caught:
        replay(change(history()))
    assert caught.value.code == rule


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        '{"event":1,"signatures":{}}',
        '{"event":"x","signatures":[]}',
        '{"event":"x","signatures":{"01":"y"}}',
        '{"event":"x","signatures":{"0":1}}',
        '{"event":"x","signatures":{},"more":1}',
        "[" * 100_000,
    ],
)
def test_lines_that_are_no_log_are_refused(line: str) -> None:
    with pytest.raises(InvalidEvent) as caught:
        load_log(line)
    assert caught.value.code == "form"


def test_counts_that_make_no_sense_are_not_signed() -> None:
    with pytest.raises(NotEncodable):
        incept([])
    with pytest.raises(NotEncodable):
        incept([KEY, KEY])
    with pytest.raises(NotEncodable):
        incept([KEY], threshold=2)
    with pytest.raises(NotEncodable):
        incept([KEY], next_keys=[NEXT.public_key], next_threshold=0)
    with pytest.raises(NotEncodable):
        incept([KEY, NEXT], basic=True)
