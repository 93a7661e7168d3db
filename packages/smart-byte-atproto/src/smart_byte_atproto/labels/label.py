"""Labels: signed, verified, expired, taken back.

Source: atproto specification "Labels"; reference section 17; vector 21.9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Self

from smart_byte_atproto.crypto import PrivateKey, PublicKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import InvalidFrame, InvalidLabel, InvalidSyntax
from smart_byte_atproto.firehose.frame import MESSAGE, decode_frame
from smart_byte_atproto.syntax import ATURI, DID, CIDString, Datetime

SUBSCRIBE_LABELS: Final = "com.atproto.label.subscribeLabels"
VERSION: Final = 1
MAX_VALUE_BYTES: Final = 128
MAX_LABELS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Label:
    """One label.

    Attributes:
        src: Who says it.
        uri: Of what: an AT URI, or a DID for a whole account.
        val: What is said, at most 128 bytes.
        cts: When.
        cid: The one version that is meant.
        neg: Whether it takes back what was said.
        exp: When it ends to hold.
        sig: Signature; None where it has not been signed.
    """

    src: DID
    uri: str
    val: str
    cts: Datetime
    cid: str | None = None
    neg: bool = False
    exp: Datetime | None = None
    sig: bytes | None = field(default=None, repr=False)

    @classmethod
    def from_fields(cls, fields: Mapping[str, Value]) -> Self:
        """Read a label.

        Raises:
            InvalidLabel: A field is missing, of another type or form.
        """
        if fields.get("ver", VERSION) != VERSION or type(fields.get("ver", VERSION)) is not int:
            raise InvalidLabel("a version that is not read", at="ver")
        texts = {name: fields.get(name) for name in ("src", "uri", "val", "cts")}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise InvalidLabel("not a text", at=name)
        src, uri, val, cts = map(str, texts.values())
        cid, exp, sig, neg = (fields.get(name) for name in ("cid", "exp", "sig", "neg"))
        if not 1 <= len(val.encode("utf-8", "surrogatepass")) <= MAX_VALUE_BYTES:
            raise InvalidLabel(f"1 to {MAX_VALUE_BYTES} bytes are taken", at="val")
        if not isinstance(sig, bytes | None) or not isinstance(neg, bool | None):
            raise InvalidLabel(
                "of another type", at="sig" if isinstance(neg, bool | None) else "neg"
            )
        if not isinstance(cid, str | None) or not isinstance(exp, str | None):
            raise InvalidLabel("not a text", at="cid" if isinstance(exp, str | None) else "exp")
        try:
            if not uri.startswith("at://"):
                DID(uri)
            else:
                ATURI(uri)
            return cls(
                DID(src),
                uri,
                val,
                Datetime(cts),
                None if cid is None else CIDString(cid),
                bool(neg),
                None if exp is None else Datetime(exp),
                sig,
            )
        except InvalidSyntax as bad:
            raise InvalidLabel(str(bad)) from bad

    def to_fields(self) -> dict[str, Value]:
        """Return the label as a map; `neg` is left out where it is false."""
        fields: dict[str, Value] = {
            "ver": VERSION,
            "src": str(self.src),
            "uri": str(self.uri),
            "val": self.val,
            "cts": str(self.cts),
        }
        if self.cid is not None:
            fields["cid"] = str(self.cid)
        if self.neg:
            fields["neg"] = True
        if self.exp is not None:
            fields["exp"] = str(self.exp)
        if self.sig is not None:
            fields["sig"] = self.sig
        return fields

    def unsigned(self) -> bytes:
        """Return the bytes that are signed."""
        return dag_cbor.encode(replace(self, sig=None).to_fields())

    def holds_at(self, when: datetime) -> bool:
        """Tell if it has not ended by an instant."""
        return self.exp is None or self.exp.instant() > when


def sign_label(label: Label, key: PrivateKey) -> Label:
    """Return a label with its signature, by the key `#atproto_label` of its source."""
    return replace(label, sig=key.sign(label.unsigned()))


def verify_label(label: Label, key: PublicKey) -> None:
    """Check the signature of a label.

    Args:
        label: As it came.
        key: `DIDDocument.label_key` of its source; no other key stands in.

    Raises:
        InvalidLabel: It has no signature.
        BadSignature: The key did not make it.
    """
    if label.sig is None:
        raise InvalidLabel("a label without a signature", at="sig")
    key.verify(label.unsigned(), label.sig)


def effective(labels: Iterable[Label], *, when: datetime) -> list[Label]:
    """Return the labels that hold at an instant, of many that were said in any order.

    The later one counts of those with the same source, subject, value and version; one that takes
    back ends what was said before, and is not among the result.
    """
    latest: dict[tuple[str, str, str, str | None], Label] = {}
    for label in labels:
        key = (label.src, label.uri, label.val, label.cid)
        known = latest.get(key)
        if known is None or label.cts.instant() >= known.cts.instant():
            latest[key] = label
    return [label for label in latest.values() if not label.neg and label.holds_at(when)]


@dataclass(frozen=True, slots=True)
class LabelsEvent:
    """A message of `com.atproto.label.subscribeLabels`.

    Attributes:
        seq: Its place in the stream.
        labels: Those that can be read.
        problems: Why others cannot.
    """

    seq: int
    labels: tuple[Label, ...]
    problems: tuple[InvalidLabel, ...] = ()


def parse_labels(frame: bytes) -> LabelsEvent | None:
    """Read a frame of a label stream; None for remarks and unknown types.

    Raises:
        InvalidFrame: It is no frame, or a `#labels` without seq or labels.
    """
    decoded = decode_frame(frame)
    if decoded.op != MESSAGE or decoded.type != "#labels":
        return None
    seq, entries = decoded.body.get("seq"), decoded.body.get("labels")
    if type(seq) is not int or not isinstance(entries, list) or len(entries) > MAX_LABELS:
        raise InvalidFrame("schema", "seq or labels are absent, or too many")
    labels: list[Label] = []
    problems: list[InvalidLabel] = []
    for entry in entries:
        try:
            labels.append(_read(entry))
        except InvalidLabel as bad:
            problems.append(bad)
    return LabelsEvent(seq, tuple(labels), tuple(problems))


def _read(entry: Value) -> Label:
    if not isinstance(entry, dict):
        raise InvalidLabel("not a map")
    return Label.from_fields(entry)
