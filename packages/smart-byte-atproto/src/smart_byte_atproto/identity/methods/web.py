"""did:web as atproto takes it: a host name and nothing more.

Source: did:web method specification; atproto specification "DID"; reference section 10.3.
"""

from __future__ import annotations

import re

from smart_byte_atproto.errors import IdentityNotFound
from smart_byte_atproto.identity.document import DIDDocument
from smart_byte_atproto.identity.flow import Flow, fetched
from smart_byte_atproto.net.fetch import Fetch
from smart_byte_atproto.syntax import DID

from .base import read_document

_LOCAL = re.compile(r"localhost(?:%3[Aa]([0-9]{1,5}))?")


class Web:
    """Asks the host that the DID names."""

    def resolve(self, did: DID, *, directory: str) -> Flow[DIDDocument]:
        del directory
        name = did.removeprefix("did:web:")
        local = _LOCAL.fullmatch(name)
        if local is not None:
            # For development: the guard lets it through only where that is switched on.
            port = f":{local[1]}" if local[1] else ""
            url = f"http://localhost{port}/.well-known/did.json"
        elif ":" in name:
            raise IdentityNotFound(did, "a did:web with a path is none of atproto")
        elif "%" in name:
            raise IdentityNotFound(did, "a did:web with encoded characters or a port")
        else:
            url = f"https://{name}/.well-known/did.json"
        page = yield from fetched(
            Fetch(url, accept="application/did+ld+json, application/json, */*")
        )
        return read_document(page, did)
