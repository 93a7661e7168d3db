"""Blob: a file that a record refers to, by the CID of its bytes.

Source: atproto specification "Blobs" and "Data Model".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from smart_byte_atproto.errors import InvalidData, InvalidSyntax, NotEncodable

from .cid import CID, Codec
from .model import Value

LEGACY_SIZE = -1
"""Size of a blob that was read from the legacy form, which does not tell it."""


@dataclass(frozen=True, slots=True)
class Blob:
    """Reference to a file.

    Attributes:
        ref: CID of the bytes, codec raw.
        mime_type: Media type as declared by who stored it; not empty.
        size: Bytes; -1 where a legacy reference did not say.
    """

    ref: CID
    mime_type: str
    size: int

    @property
    def is_legacy(self) -> bool:
        """True if it was read from the form `{"cid", "mimeType"}`, which is never written."""
        return self.size == LEGACY_SIZE

    @classmethod
    def from_value(cls, value: Value, *, any_codec: bool = False) -> Self:
        """Read a blob, in today's form or the legacy one.

        Args:
            value: A map of the data model.
            any_codec: Whether its link may have another codec than raw.

        Raises:
            InvalidData: Neither.
        """
        if not isinstance(value, dict):
            raise InvalidData("blob is not a map")
        if "$type" not in value and set(value) == {"cid", "mimeType"}:
            return cls._from_legacy(value)
        ref, mime_type, size = value.get("ref"), value.get("mimeType"), value.get("size")
        if value.get("$type") != "blob":
            raise InvalidData("$type of a blob is not blob")
        if not isinstance(ref, CID) or (ref.codec != Codec.RAW and not any_codec):
            raise InvalidData("ref of a blob is not a link of the codec raw")
        if not isinstance(mime_type, str) or not mime_type:
            raise InvalidData("mimeType of a blob is not a text")
        if type(size) is not int or size <= 0:
            raise InvalidData("size of a blob is not a positive integer")
        return cls(ref, mime_type, size)

    @classmethod
    def _from_legacy(cls, value: dict[str, Value]) -> Self:
        text, mime_type = value["cid"], value["mimeType"]
        if not isinstance(text, str) or not isinstance(mime_type, str) or not mime_type:
            raise InvalidData("cid and mimeType of a legacy blob are not texts")
        try:
            return cls(CID.parse(text), mime_type, LEGACY_SIZE)
        except InvalidSyntax as bad:
            raise InvalidData(f"cid of a legacy blob: {bad.reason}") from bad

    def to_value(self) -> dict[str, Value]:
        """Write the blob as a map of the data model.

        Raises:
            NotEncodable: A legacy blob, whose size is not known.
        """
        if self.is_legacy:
            raise NotEncodable("a legacy blob has no size and is never written")
        return {"$type": "blob", "ref": self.ref, "mimeType": self.mime_type, "size": self.size}
