"""did:plc: documents from a directory.

Source: did:plc v0.3.0, "DID Resolution"; reference section 10.2.
"""

from __future__ import annotations

from smart_byte_atproto.errors import IdentityNotFound
from smart_byte_atproto.identity.document import DIDDocument
from smart_byte_atproto.identity.flow import Flow, fetched
from smart_byte_atproto.net.fetch import Fetch
from smart_byte_atproto.syntax import DID

from .base import read_document


class PLC:
    """Asks the directory."""

    def resolve(self, did: DID, *, directory: str) -> Flow[DIDDocument]:
        if not did.is_plc:
            raise IdentityNotFound(did, "a did:plc has 24 characters of base32")
        page = yield from fetched(
            Fetch(f"{directory}/{did}", accept="application/did+ld+json, */*")
        )
        return read_document(page, did)
