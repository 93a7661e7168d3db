"""The interface that each DID method fills."""

from __future__ import annotations

from typing import Protocol

from smart_byte_atproto.errors import IdentityNotFound, InvalidData, ResponseInvalid
from smart_byte_atproto.identity.document import DIDDocument
from smart_byte_atproto.identity.flow import Flow
from smart_byte_atproto.net.fetch import Fetched
from smart_byte_atproto.syntax import DID

_OK, _NOT_FOUND, _GONE = 200, 404, 410


class Method(Protocol):
    """Resolves the DIDs of one method; does no I/O itself."""

    def resolve(self, did: DID, *, directory: str) -> Flow[DIDDocument]:
        """Return the flow that gets a document.

        Args:
            did: Of this method.
            directory: Origin of the PLC directory, for those that need one.
        """
        ...


def read_document(fetched: Fetched, did: DID) -> DIDDocument:
    """Read a document that was fetched.

    Raises:
        IdentityNotFound: 404 or 410.
        ResponseInvalid: Another status, or no JSON.
        InvalidDocument: Not a document of that DID.
    """
    if fetched.status in (_NOT_FOUND, _GONE):
        what = "it has ended" if fetched.status == _GONE else "nobody by that name"
        raise IdentityNotFound(did, what)
    if fetched.status != _OK:
        raise ResponseInvalid(fetched.host, f"HTTP {fetched.status}", code="status")
    return DIDDocument.from_fields(json_object(fetched), did=did)


def json_object(fetched: Fetched) -> dict[str, object]:
    """Return the JSON map of a page.

    Raises:
        ResponseInvalid: It is none.
    """
    import msgspec  # noqa: PLC0415 - only pages need it

    try:
        value = msgspec.json.decode(fetched.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidData) as bad:
        raise ResponseInvalid(fetched.host, "not JSON", code="form") from bad
    if not isinstance(value, dict):
        raise ResponseInvalid(fetched.host, "JSON that is no map", code="form")
    return value
