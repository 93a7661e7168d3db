"""DID documents as they are in the wild: what an account's document says, read with leniency.

Lists may be missing, fields may be more than the specification knows; an entry that makes no sense
counts as absent. Only `id` must be there and right.

Source: atproto specification "DID"; reference section 10.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.errors import InvalidDocument, InvalidSyntax
from smart_byte_atproto.syntax import DID, Handle

from .signing_key import signing_key

PDS = ("#atproto_pds", "AtprotoPersonalDataServer")
LABELER = ("#atproto_labeler", "AtprotoLabeler")
_LABEL_KEY = "#atproto_label"


@dataclass(frozen=True, slots=True)
class DIDDocument:
    """A document, and what it says.

    Attributes:
        did: Whose it is.
        fields: All of it.
    """

    did: DID
    fields: Mapping[str, object]

    @classmethod
    def from_fields(cls, fields: object, *, did: str) -> Self:
        """Take a document that was fetched for a DID.

        Raises:
            InvalidDocument: `form`: not a map, or no id; `id`: it is of another DID.
        """
        if not isinstance(fields, Mapping) or not isinstance(fields.get("id"), str):
            raise InvalidDocument("form", "not a map with an id")
        if fields["id"] != did:
            raise InvalidDocument("id", f"document is of {str(fields['id'])[:100]}, not of {did}")
        return cls(DID(did), fields)

    @property
    def handle(self) -> Handle | None:
        """The first handle that it claims; unverified."""
        names = self.fields.get("alsoKnownAs")
        for name in names if isinstance(names, list) else []:
            if isinstance(name, str) and name.startswith("at://"):
                try:
                    return Handle(name.removeprefix("at://")).normalize()
                except InvalidSyntax:
                    continue
        return None

    @property
    def pds(self) -> str | None:
        """Origin of the account's server; None if there is none or it makes no sense."""
        return self.service(*PDS)

    @property
    def labeler(self) -> str | None:
        """Origin of the account's labelling service."""
        return self.service(*LABELER)

    def service(self, fragment: str, kind: str | None = None) -> str | None:
        """Return the origin of a service by the end of its id, such as `#bsky_fg`."""
        for entry in self._entries("service"):
            if entry.get("id") not in (fragment, self.did + fragment):
                continue
            if kind is not None and entry.get("type") != kind:
                continue
            return origin(entry.get("serviceEndpoint"))
        return None

    def signing_key(self) -> PublicKey:
        """Return the key that signs the account's repository.

        Raises:
            InvalidDocument: `key-missing` or `key`.
        """
        return signing_key(self.fields, did=self.did)

    def label_key(self) -> PublicKey:
        """Return the key that signs the account's labels; there is no other in its place.

        Raises:
            InvalidDocument: `key-missing` or `key`.
        """
        return signing_key(self.fields, did=self.did, fragment=_LABEL_KEY)

    def _entries(self, name: str) -> Iterator[Mapping[str, object]]:
        entries = self.fields.get(name)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, Mapping):
                yield entry


def origin(endpoint: object) -> str | None:
    """Return the origin of a service endpoint; None if it is no plain http(s) origin."""
    if not isinstance(endpoint, str) or not endpoint.isascii():
        return None
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        return None
    plain = parts.path in ("", "/") and not parts.query and not parts.fragment
    if parts.scheme not in ("https", "http") or not parts.hostname or not plain:
        return None
    if "@" in parts.netloc or "%" in parts.netloc:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")
