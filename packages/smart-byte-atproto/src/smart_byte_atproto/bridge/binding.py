"""A binding: an AT URI and a self-certifying AID that vouch for each other.

The document is one JSON map with its fields in this order, compact, and committed to by its SAID:

| field | value |
|---|---|
| `v`   | `ATAID10JSON` and the length of the whole in six hex digits, then `_` |
| `d`   | SAID of the document, BLAKE3-256, code E |
| `uri` | AT URI of a record: authority a DID, normal form, no fragment |
| `cid` | only where one version of the record is meant: its CID |
| `aid` | the AID |
| `s`   | number of the establishment event whose keys sign, hex |
| `dt`  | when it was made, `YYYY-MM-DDTHH:MM:SS.sssZ` |

One direction: the keys of that event sign the document, as many as its threshold asks. It must be
the last establishment event of the log, unless the log anchors the SAID: a key that was rotated
away vouches only for what the AID has anchored.

The other direction: the account's repository has a record of the collection
`org.smartbyte.binding` under the SAID as its key, which carries document, signatures and log. So
the repository alone, with the key of the account, proves both directions offline.

Source: this package; `docs/bridge-format.md` has the format and vectors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from smart_byte_atproto.crypto import PrivateKey
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import (
    BadSignature,
    BindingRefused,
    InvalidEvent,
    InvalidPrimitive,
    InvalidSyntax,
    NotEncodable,
)
from smart_byte_atproto.syntax import ATURI, NSID, CIDString, Datetime

from .aid import KeyState, SignedEvent, read_entry, read_signatures, replay
from .cesr import (
    BLAKE3_256,
    Primitive,
    count_signatures,
    key_primitive,
    signature_primitive,
)
from .said import Serialization, compute_said, serialize, verify_said

COLLECTION: Final = NSID("org.smartbyte.binding")
MAX_BYTES: Final = 16_384
_VERSION: Final = "ATAID10JSON{:06x}_"
_FIELDS: Final = ("v", "d", "uri", "aid", "s", "dt")
_PINNED: Final = ("v", "d", "uri", "cid", "aid", "s", "dt")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding document and the signatures over it.

    Attributes:
        text: The document as it was signed.
        signatures: By the place of their key among the keys that sign, qb64.
    """

    text: str
    signatures: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Bound:
    """What a binding that holds says.

    Attributes:
        said: SAID of the document.
        uri: The record.
        cid: The version of it that is meant; None for whatever stands there.
        aid: The AID.
        date: When it was made.
        anchored: Whether the AID's log anchors it.
    """

    said: str
    uri: ATURI
    cid: str | None
    aid: str
    date: Datetime
    anchored: bool


def bind(
    uri: str,
    state: KeyState,
    keys: Sequence[PrivateKey],
    *,
    date: str,
    cid: str | None = None,
) -> Binding:
    """Make and sign a binding.

    Args:
        uri: AT URI of a record, with a DID.
        state: Of the AID.
        keys: Current keys of the AID, in the order of the event.
        date: UTC with milliseconds.
        cid: CID of the one version that is meant.

    Raises:
        NotEncodable: The parts are not in their form, or the keys are not the AID's.
    """
    if [_primitive_of(key, state) for key in keys] != list(state.keys):
        raise NotEncodable("the keys are not the current ones of the AID")
    fields: dict[str, object] = {"v": "", "d": "", "uri": uri}
    if cid is not None:
        fields["cid"] = cid
    fields |= {"aid": state.aid, "s": f"{state.established:x}", "dt": date}
    try:
        _check_parts(fields)
    except BindingRefused as bad:
        raise NotEncodable(str(bad)) from bad
    filled = {**fields, "v": _VERSION.format(0), "d": "#" * 44}
    filled["v"] = _VERSION.format(len(serialize(filled, Serialization.JSON)))
    filled["d"] = compute_said(filled)
    data = serialize(filled, Serialization.JSON)
    signatures = {
        place: signature_primitive(key.public_key, key.sign(data)).qb64
        for place, key in enumerate(keys)
    }
    return Binding(data.decode(), signatures)


def verify_binding(binding: Binding, events: Sequence[SignedEvent]) -> Bound:
    """Check a binding against the log of its AID: the direction from AID to record.

    Raises:
        BindingRefused: With the code of the first check that fails.
    """
    fields = _read(binding.text)
    said = verify_said(fields)
    uri, date = _check_parts(fields)
    try:
        state = replay(events)
    except InvalidEvent as bad:
        raise BindingRefused("log", str(bad)) from bad
    if state.aid != fields["aid"]:
        raise BindingRefused("aid", f"the log is that of {state.aid}")
    signing = _signing_state(events, state, int(str(fields["s"]), 16))
    anchored = said in state.anchors
    if signing.established != state.established and not anchored:
        raise BindingRefused("key", "the keys were rotated away and the log does not anchor it")
    _check_signatures(binding, signing)
    cid = fields.get("cid")
    return Bound(said, uri, cid if isinstance(cid, str) else None, state.aid, date, anchored)


def naming_record(binding: Binding, events: Sequence[SignedEvent]) -> dict[str, Value]:
    """Return the record by which an account names a binding; its key is the SAID."""
    return {
        "$type": str(COLLECTION),
        "document": binding.text,
        "signatures": {str(place): text for place, text in binding.signatures.items()},
        "log": [
            {
                "event": event.text,
                "signatures": {str(place): text for place, text in event.signatures.items()},
            }
            for event in events
        ],
    }


def verify_naming(
    record: Mapping[str, Value],
    *,
    did: str,
    record_key: str,
    bound_cid: CID | None,
) -> Bound:
    """Check a binding in both directions from what an account's repository holds.

    The caller has proven that the repository of `did` holds `record` under `record_key`, and what
    it holds at the URI that is bound; see `verify_in_repository`.

    Args:
        record: The record that names the binding.
        did: The account.
        record_key: Key of that record.
        bound_cid: CID of what stands at the bound URI; None for nothing.

    Raises:
        BindingRefused: With the code of the first check that fails.
    """
    binding, events = read_naming(record)
    bound = verify_binding(binding, events)
    if record_key != bound.said:
        raise BindingRefused("record", "the record stands under another key than the SAID")
    if bound.uri.authority != did:
        raise BindingRefused("account", f"the URI is of {bound.uri.authority}, not of {did}")
    if bound_cid is None:
        raise BindingRefused("record", "nothing stands at the URI that is bound")
    if bound.cid is not None and bound.cid != str(bound_cid):
        raise BindingRefused("cid", f"{bound_cid} stands there, not {bound.cid}")
    return bound


def read_naming(record: Mapping[str, Value]) -> tuple[Binding, list[SignedEvent]]:
    """Take a naming record apart; nothing is verified yet.

    Raises:
        BindingRefused: `form`.
    """
    if record.get("$type") != COLLECTION:
        raise BindingRefused("form", f"a record of the type {str(record.get('$type'))[:80]}")
    text, log = record.get("document"), record.get("log")
    signatures = read_signatures(record.get("signatures"))
    if not isinstance(text, str) or not isinstance(log, list) or signatures is None:
        raise BindingRefused("form", "not a record of a binding")
    try:
        events = [read_entry(entry, index=index) for index, entry in enumerate(log)]
    except InvalidEvent as bad:
        raise BindingRefused("form", str(bad)) from bad
    return Binding(text, signatures), events


def _read(text: str) -> dict[str, object]:
    """Check the form of a document: its fields and their order, its version string."""
    if len(text) > MAX_BYTES:
        raise BindingRefused("form", f"longer than {MAX_BYTES} characters")
    try:
        fields = json.loads(text)
        again = serialize(fields, Serialization.JSON) if isinstance(fields, dict) else b""
        data = text.encode()
    except (ValueError, RecursionError, NotEncodable) as bad:
        raise BindingRefused("form", "not JSON") from bad
    if not isinstance(fields, dict) or tuple(fields) not in (_FIELDS, _PINNED):
        raise BindingRefused("form", "fields or their order are not those of a binding")
    if again != data:
        raise BindingRefused("form", "not in its one form, or a field twice")
    if fields["v"] != _VERSION.format(len(data)):
        raise BindingRefused("version", f"version string {str(fields['v'])[:30]!r}")
    if not isinstance(fields["d"], str) or not fields["d"].startswith(BLAKE3_256):
        raise BindingRefused("said", "the SAID is not of the code E")
    return fields


def _check_parts(fields: Mapping[str, object]) -> tuple[ATURI, Datetime]:
    """Check the values of a document."""
    try:
        uri = ATURI(str(fields["uri"]))
        if (
            uri.collection is None
            or uri.rkey is None
            or not uri.authority.startswith("did:")
            or str(uri) != f"at://{uri.authority}/{uri.collection}/{uri.rkey}"
        ):
            raise BindingRefused("uri", "not a record by DID in normal form")
    except InvalidSyntax as bad:
        raise BindingRefused("uri", str(bad)) from bad
    date = fields["dt"]
    if not isinstance(date, str) or _DATE.fullmatch(date) is None:
        raise BindingRefused("date", "not UTC with milliseconds")
    try:
        when = Datetime(date)
        if "cid" in fields:
            CIDString(str(fields["cid"]))
    except InvalidSyntax as bad:
        raise BindingRefused("cid" if bad.kind == "cid" else "date", str(bad)) from bad
    try:
        Primitive.parse(str(fields["aid"]))
    except InvalidPrimitive as bad:
        raise BindingRefused("aid", str(bad)) from bad
    number = fields["s"]
    if not isinstance(number, str) or re.fullmatch(r"0|[1-9a-f][0-9a-f]{0,7}", number) is None:
        raise BindingRefused("form", "s is no number")
    return uri, when


def _signing_state(events: Sequence[SignedEvent], last: KeyState, number: int) -> KeyState:
    """Return the state after an establishment event of a log that holds."""
    if number == last.established:
        return last
    if number < last.established:
        state = replay(events[: number + 1])
        if state.established == number:
            return state
    raise BindingRefused("key", f"event {number} of the log makes no keys")


def _check_signatures(binding: Binding, state: KeyState) -> None:
    try:
        good = count_signatures(binding.text.encode(), binding.signatures, state.keys)
    except (InvalidPrimitive, BadSignature) as bad:
        raise BindingRefused("signature", str(bad)) from bad
    if good < state.threshold:
        raise BindingRefused("signature", f"{good} signatures, {state.threshold} needed")


def _primitive_of(key: PrivateKey, state: KeyState) -> str:
    """Return a key as it stands in the state: transferable or not."""
    texts = {key_primitive(key.public_key, transferable=flag).qb64 for flag in (True, False)} & set(
        state.keys
    )
    return texts.pop() if texts else ""
