"""AT URI: where a record, a collection or an account is; at most 8192 bytes.

The form that data may hold: `at://` AUTHORITY [`/` COLLECTION [`/` RECORD-KEY]]. No trailing slash,
query, fragment, user or port.

Source: atproto specification "AT URI scheme", restricted syntax.
"""

from __future__ import annotations

from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

from .at_identifier import parse_at_identifier
from .did import DID
from .handle import Handle
from .nsid import NSID
from .record_key import RecordKey

MAX_BYTES = 8_192
_SCHEME = "at://"
_MOST_PARTS = 3


class ATURI(str):
    """A valid AT URI of the restricted form."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text` and every part of it.

        Raises:
            InvalidSyntax: It is no such AT URI.
        """
        if len(text) > MAX_BYTES:
            raise InvalidSyntax("at-uri", text, f"longer than {MAX_BYTES} bytes")
        if not text.startswith(_SCHEME):
            raise InvalidSyntax("at-uri", text, "must start with at:// in lower case")
        parts = text[len(_SCHEME) :].split("/")
        if len(parts) > _MOST_PARTS:
            raise InvalidSyntax("at-uri", text, "has more than collection and record key")
        try:
            for check, part in zip((parse_at_identifier, NSID, RecordKey), parts, strict=False):
                check(part)
        except InvalidSyntax as bad:
            raise InvalidSyntax("at-uri", text, f"{bad.kind} {bad.reason}") from bad
        return super().__new__(cls, text)

    @classmethod
    def of(
        cls, authority: DID | Handle, collection: NSID | None = None, rkey: RecordKey | None = None
    ) -> Self:
        """Put parts together; a record key needs a collection.

        Raises:
            InvalidSyntax: A record key without a collection.
        """
        if collection is None and rkey is not None:
            raise InvalidSyntax("at-uri", rkey, "record key without a collection")
        return cls(_SCHEME + "/".join(p for p in (authority, collection, rkey) if p is not None))

    @property
    def authority(self) -> DID | Handle:
        """Account that the URI is about."""
        return parse_at_identifier(self._part(0) or "")

    @property
    def collection(self) -> NSID | None:
        """Schema of the records, or None."""
        part = self._part(1)
        return None if part is None else NSID(part)

    @property
    def rkey(self) -> RecordKey | None:
        """Record key, or None."""
        part = self._part(2)
        return None if part is None else RecordKey(part)

    def normalize(self) -> Self:
        """Return it with handle and NSID authority in lower case; the record key stays."""
        authority, collection = self.authority, self.collection
        if isinstance(authority, Handle):
            authority = authority.normalize()
        return self.of(authority, collection and collection.normalize(), self.rkey)

    def _part(self, index: int) -> str | None:
        parts = self[len(_SCHEME) :].split("/")
        return parts[index] if index < len(parts) else None
