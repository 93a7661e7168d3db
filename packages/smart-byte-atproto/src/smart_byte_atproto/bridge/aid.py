"""AIDs and their key event logs: inception, rotation with pre-rotation, interaction, replay.

An AID is a public key (basic) or the SAID of its inception event (self-addressing). Each event
commits to the one before by its SAID, and an establishment event to the keys of the next by their
digests; so who steals today's keys cannot rotate.

Read and made are JSON events of protocol version 1 with numeric thresholds. Delegation, weighted
thresholds and witness receipts are refused by name: events with witnesses (`bt` above 0) would need
receipts that nobody checks here.

Source: reference sections 20.2 and 20.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from smart_byte_atproto.crypto import PrivateKey, PublicKey
from smart_byte_atproto.errors import (
    BadSignature,
    InvalidEvent,
    InvalidPrimitive,
    NotEncodable,
)

from .cesr import Primitive, count_signatures, digest, key_primitive, signature_primitive
from .said import Serialization, compute_said, serialize

MAX_EVENTS: Final = 10_000
MAX_EVENT_BYTES: Final = 65_536
MAX_KEYS: Final = 32
_VERSION: Final = "KERI10JSON{:06x}_"
_INCEPTION: Final = ("v", "t", "d", "i", "s", "kt", "k", "nt", "n", "bt", "b", "c", "a")
_ROTATION: Final = ("v", "t", "d", "i", "s", "p", "kt", "k", "nt", "n", "bt", "br", "ba", "a")
_INTERACTION: Final = ("v", "t", "d", "i", "s", "p", "a")
_FIELDS: Final = {"icp": _INCEPTION, "rot": _ROTATION, "ixn": _INTERACTION}
_PLACES: Final = {str(place): place for place in range(MAX_KEYS)}
_UNSUPPORTED: Final = frozenset({"dip", "drt", "rct"})


@dataclass(frozen=True, slots=True)
class SignedEvent:
    """An event and the signatures over it.

    Attributes:
        text: The event as it was signed: JSON, compact, in its order.
        signatures: Signatures by the place of their key among the event's keys, qb64.
    """

    text: str
    signatures: Mapping[int, str]

    @property
    def fields(self) -> dict[str, object]:
        """The event as a map; unverified."""
        return cast("dict[str, object]", json.loads(self.text))


@dataclass(frozen=True, slots=True)
class KeyState:
    """What a log comes to.

    Attributes:
        aid: The identifier.
        sequence: Number of the last event.
        said: SAID of the last event.
        keys: Current keys, qb64.
        threshold: How many must sign.
        next_digests: Digests of the next keys; empty where there are none.
        next_threshold: How many of the next must sign.
        established: Number of the event that made the keys current.
        anchors: SAIDs that events have anchored (`d` of seals), in order.
    """

    aid: str
    sequence: int
    said: str
    keys: tuple[str, ...]
    threshold: int
    next_digests: tuple[str, ...]
    next_threshold: int = 0
    established: int = 0
    anchors: tuple[str, ...] = ()

    @property
    def is_frozen(self) -> bool:
        """Whether there are no next keys: nothing can follow but interactions."""
        return not self.next_digests


def next_digest(key: PublicKey) -> str:
    """Return the digest by which a key is committed to: of its text form."""
    return digest(key_primitive(key).qb64.encode()).qb64


def incept(
    keys: Sequence[PrivateKey],
    *,
    next_keys: Sequence[PublicKey] = (),
    threshold: int | None = None,
    next_threshold: int | None = None,
    basic: bool = False,
) -> SignedEvent:
    """Make an AID and sign its inception.

    Args:
        keys: Current keys; all sign.
        next_keys: Committed to for the next rotation; none for an AID that never rotates.
        threshold: How many of the keys must sign; all by default.
        next_threshold: The same of the next.
        basic: Whether the only key itself is the AID, in place of the event's SAID.

    Raises:
        NotEncodable: Counts that make no sense.
    """
    publics = [key.public_key for key in keys]
    if basic and len(keys) != 1:
        raise NotEncodable("a basic AID has one key")
    transferable = bool(next_keys) or not basic
    texts = [key_primitive(key, transferable=transferable).qb64 for key in publics]
    fields: dict[str, object] = {
        "v": "",
        "t": "icp",
        "d": "",
        "i": texts[0] if basic else "",
        "s": "0",
        **_key_fields(texts, threshold),
        **_next_fields(next_keys, next_threshold),
        "bt": "0",
        "b": [],
        "c": [],
        "a": [],
    }
    return _sealed(fields, keys, prefix_is_said=not basic)


def rotate(
    state: KeyState,
    keys: Sequence[PrivateKey],
    *,
    next_keys: Sequence[PublicKey] = (),
    threshold: int | None = None,
    next_threshold: int | None = None,
) -> SignedEvent:
    """Sign a rotation to keys that were committed to.

    Args:
        state: Of the AID.
        keys: The keys that become current; all sign.
        next_keys: Committed to for the rotation after; none freezes the AID.
        threshold: How many of the keys must sign; all by default.
        next_threshold: The same of the next.

    Raises:
        NotEncodable: The keys are not those committed to, or counts make no sense.
    """
    if [next_digest(key.public_key) for key in keys] != list(state.next_digests):
        raise NotEncodable("the keys are not those that were committed to")
    texts = [key_primitive(key.public_key).qb64 for key in keys]
    fields: dict[str, object] = {
        "v": "",
        "t": "rot",
        "d": "",
        "i": state.aid,
        "s": f"{state.sequence + 1:x}",
        "p": state.said,
        **_key_fields(texts, threshold),
        **_next_fields(next_keys, next_threshold),
        "bt": "0",
        "br": [],
        "ba": [],
        "a": [],
    }
    return _sealed(fields, keys)


def interact(
    state: KeyState, keys: Sequence[PrivateKey], *, anchors: Sequence[str] = ()
) -> SignedEvent:
    """Sign an interaction that anchors SAIDs, such as that of a binding."""
    fields: dict[str, object] = {
        "v": "",
        "t": "ixn",
        "d": "",
        "i": state.aid,
        "s": f"{state.sequence + 1:x}",
        "p": state.said,
        "a": [{"d": said} for said in anchors],
    }
    return _sealed(fields, keys)


def replay(events: Iterable[SignedEvent]) -> KeyState:
    """Check every event of a log against the state before it and return the last state.

    Raises:
        InvalidEvent: The first event that breaks a rule, and which.
    """
    state: KeyState | None = None
    for index, event in enumerate(events):
        if index >= MAX_EVENTS:
            raise InvalidEvent("form", f"more than {MAX_EVENTS} events", index=index)
        state = _apply(state, event, index)
    if state is None:
        raise InvalidEvent("form", "an empty log")
    return state


def _apply(state: KeyState | None, event: SignedEvent, index: int) -> KeyState:
    fields = _read(event, index)
    kind = fields["t"]
    if (kind == "icp") != (state is None):
        raise InvalidEvent("sequence", f"{kind} in this place", index=index)
    if fields["s"] != f"{index:x}":
        raise InvalidEvent("sequence", f"s is {str(fields['s'])[:20]!r}", index=index)
    if state is None:
        after = _established(fields, str(fields["i"]), (), index)
        _check_prefix(fields, after, index)
    else:
        if fields["i"] != state.aid:
            raise InvalidEvent("prefix", "an event of another AID", index=index)
        if fields["p"] != state.said:
            raise InvalidEvent("prior", "p is not the SAID of the event before", index=index)
        if kind == "rot":
            after = _established(fields, state.aid, state.anchors, index)
            _check_commitment(state, after, index)
        else:
            after = _interacted(state, fields, index)
    _check_signatures(event, after, state, index)
    return after


def _read(event: SignedEvent, index: int) -> dict[str, object]:
    """Check the form of an event: fields and order, version string, SAID."""
    fields, data = _parse(event.text, index)
    kind = fields.get("t")
    if str(kind) in _UNSUPPORTED:
        raise InvalidEvent("unsupported", f"events of the type {kind}", index=index)
    wanted = _FIELDS.get(str(kind))
    if wanted is None or tuple(fields) != wanted:
        raise InvalidEvent("form", "fields or their order are not those of the type", index=index)
    if fields["v"] != _VERSION.format(len(data)):
        raise InvalidEvent("version", f"version string {str(fields['v'])[:30]!r}", index=index)
    if _said(fields) != fields["d"]:
        raise InvalidEvent("said", "d is not the SAID of the event", index=index)
    return fields


def _parse(text: str, index: int) -> tuple[dict[str, object], bytes]:
    """Read the JSON of an event, which must be in its one form."""
    if len(text) > MAX_EVENT_BYTES:
        raise InvalidEvent("form", "an event too long", index=index)
    try:
        fields = json.loads(text, parse_float=_no_float, parse_constant=_no_float)
        data = text.encode()
    except (ValueError, RecursionError) as bad:
        raise InvalidEvent("form", "not JSON", index=index) from bad
    if not isinstance(fields, dict):
        raise InvalidEvent("form", "not a map", index=index)
    try:
        again = serialize(fields, Serialization.JSON)
    except NotEncodable as bad:
        raise InvalidEvent("form", "text that is no Unicode", index=index) from bad
    if again != data:
        raise InvalidEvent("form", "not in its one form, or a field twice", index=index)
    return fields, data


def _no_float(text: str) -> None:
    raise ValueError(f"{text} is no integer")


def _said(fields: Mapping[str, object]) -> str:
    """Return the SAID of an event; a self-addressing prefix is dummied with it."""
    if fields["t"] == "icp" and fields["i"] == fields["d"]:
        dummy = {**fields, "i": "#" * 44}
        return compute_said(dummy)
    return compute_said(fields)


def _established(
    fields: Mapping[str, object], aid: str, anchors: tuple[str, ...], index: int
) -> KeyState:
    keys, digests = _texts(fields, "k", index), _texts(fields, "n", index)
    if len(set(keys)) != len(keys) or not keys:
        raise InvalidEvent("form", "no keys, or one twice", index=index)
    threshold = _threshold(fields, "kt", len(keys), index)
    next_threshold = _threshold(fields, "nt", len(digests), index) if digests else 0
    if not digests and fields["nt"] != "0":
        raise InvalidEvent("threshold", "a threshold of no next keys", index=index)
    witnesses = [fields.get(name) for name in ("b", "br", "ba")]
    if fields["bt"] != "0" or any(witnesses):
        raise InvalidEvent("unsupported", "witnesses, whose receipts are not read", index=index)
    for text in keys:
        try:
            Primitive.parse(text).public_key()
        except InvalidPrimitive as bad:
            raise InvalidEvent("form", f"k: {bad}", index=index) from bad
    for text in digests:
        try:
            Primitive.parse(text)
        except InvalidPrimitive as bad:
            raise InvalidEvent("form", f"n: {bad}", index=index) from bad
    return KeyState(
        aid,
        index,
        str(fields["d"]),
        keys,
        threshold,
        digests,
        next_threshold,
        index,
        (*anchors, *_anchors(fields, index)),
    )


def _interacted(state: KeyState, fields: Mapping[str, object], index: int) -> KeyState:
    return replace(
        state,
        sequence=index,
        said=str(fields["d"]),
        anchors=(*state.anchors, *_anchors(fields, index)),
    )


def _check_prefix(fields: Mapping[str, object], state: KeyState, index: int) -> None:
    if fields["i"] == fields["d"]:
        return
    if len(state.keys) != 1 or fields["i"] != state.keys[0]:
        raise InvalidEvent("prefix", "i is neither the SAID nor the only key", index=index)
    if not Primitive.parse(state.keys[0]).is_transferable and state.next_digests:
        raise InvalidEvent("prefix", "a key that never rotates with next keys", index=index)


def _check_commitment(before: KeyState, after: KeyState, index: int) -> None:
    if before.is_frozen:
        raise InvalidEvent("frozen", "a rotation where no next keys were committed to", index=index)
    made = tuple(digest(text.encode()).qb64 for text in after.keys)
    if made != before.next_digests:
        raise InvalidEvent("commitment", "keys that were not committed to", index=index)


def _check_signatures(
    event: SignedEvent, after: KeyState, before: KeyState | None, index: int
) -> None:
    try:
        good = count_signatures(event.text.encode(), event.signatures, after.keys)
    except (InvalidPrimitive, BadSignature) as bad:
        raise InvalidEvent("signature", str(bad), index=index) from bad
    needed = after.threshold
    if before is not None and after.keys != before.keys:
        needed = max(needed, before.next_threshold)
    if good < needed:
        raise InvalidEvent("threshold", f"{good} signatures, {needed} needed", index=index)


def _texts(fields: Mapping[str, object], name: str, index: int) -> tuple[str, ...]:
    value = fields[name]
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InvalidEvent("form", f"{name} is no list of texts", index=index)
    if len(value) > MAX_KEYS:
        raise InvalidEvent("form", f"{name} has more than {MAX_KEYS} entries", index=index)
    return tuple(value)


def _threshold(fields: Mapping[str, object], name: str, most: int, index: int) -> int:
    text = fields[name]
    if isinstance(text, list):
        raise InvalidEvent("unsupported", "weighted thresholds", index=index)
    try:
        number = int(str(text), 16)
    except ValueError as bad:
        raise InvalidEvent("threshold", f"{name} is no number", index=index) from bad
    if text != f"{number:x}" or not 1 <= number <= most:
        raise InvalidEvent("threshold", f"{name} is {str(text)[:20]!r} of {most}", index=index)
    return number


def _anchors(fields: Mapping[str, object], index: int) -> tuple[str, ...]:
    seals = fields["a"]
    if not isinstance(seals, list):
        raise InvalidEvent("form", "a is no list", index=index)
    return tuple(
        seal["d"] for seal in seals if isinstance(seal, dict) and isinstance(seal.get("d"), str)
    )


def _key_fields(texts: list[str], threshold: int | None) -> dict[str, object]:
    needed = len(texts) if threshold is None else threshold
    if not 1 <= needed <= len(texts) <= MAX_KEYS or len(set(texts)) != len(texts):
        raise NotEncodable(f"a threshold of {needed} with {len(texts)} keys, or one twice")
    return {"kt": f"{needed:x}", "k": texts}


def _next_fields(keys: Sequence[PublicKey], threshold: int | None) -> dict[str, object]:
    if not keys:
        return {"nt": "0", "n": []}
    needed = len(keys) if threshold is None else threshold
    if not 1 <= needed <= len(keys) <= MAX_KEYS:
        raise NotEncodable(f"a threshold of {needed} with {len(keys)} next keys")
    return {"nt": f"{needed:x}", "n": [next_digest(key) for key in keys]}


def _sealed(
    fields: dict[str, object], keys: Sequence[PrivateKey], *, prefix_is_said: bool = False
) -> SignedEvent:
    """Put version string and SAID into an event, and sign it."""
    dummy = "#" * 44
    filled = {**fields, "v": _VERSION.format(0), "d": dummy}
    if prefix_is_said:
        filled["i"] = dummy
    filled["v"] = _VERSION.format(len(serialize(filled, Serialization.JSON)))
    said = compute_said(filled)
    filled["d"] = said
    if prefix_is_said:
        filled["i"] = said
    data = serialize(filled, Serialization.JSON)
    if len(data) > MAX_EVENT_BYTES:
        raise NotEncodable(f"an event of {len(data)} bytes")
    signatures = {
        place: signature_primitive(key.public_key, key.sign(data)).qb64
        for place, key in enumerate(keys)
    }
    return SignedEvent(data.decode(), signatures)


def dump_log(events: Iterable[SignedEvent]) -> str:
    """Return a log as JSON lines: `event` as text, `signatures` by place."""
    lines = [
        json.dumps(
            {"event": event.text, "signatures": {str(n): s for n, s in event.signatures.items()}},
            ensure_ascii=False,
        )
        for event in events
    ]
    return "".join(line + "\n" for line in lines)


def load_log(text: str) -> list[SignedEvent]:
    """Read a log of JSON lines; nothing is verified yet.

    Raises:
        InvalidEvent: `form`: a line is none.
    """
    events: list[SignedEvent] = []
    for index, line in enumerate(text.splitlines()):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as bad:
            raise InvalidEvent("form", "not a line of a log", index=index) from bad
        events.append(read_entry(entry, index=index))
    return events


def read_entry(entry: object, *, index: int) -> SignedEvent:
    """Read one entry of a log; nothing is verified yet.

    Raises:
        InvalidEvent: `form`: it is none, or there are too many.
    """
    if index >= MAX_EVENTS:
        raise InvalidEvent("form", f"more than {MAX_EVENTS} events", index=index)
    if not isinstance(entry, dict) or set(entry) != {"event", "signatures"}:
        raise InvalidEvent("form", "not an entry of a log", index=index)
    signatures = read_signatures(entry["signatures"])
    if not isinstance(entry["event"], str) or signatures is None:
        raise InvalidEvent("form", "not an entry of a log", index=index)
    return SignedEvent(entry["event"], signatures)


def read_signatures(value: object) -> dict[int, str] | None:
    """Read signatures by the place of their key, in decimal; None where they are none."""
    if not isinstance(value, dict) or len(value) > MAX_KEYS:
        return None
    signatures: dict[int, str] = {}
    for place, text in value.items():
        if not isinstance(text, str) or place not in _PLACES:
            return None
        signatures[_PLACES[place]] = text
    return signatures
