"""A schema found by its name, in the repository of whoever holds the domain, with the proof.

DNS names the repository, its account's DID document the server and the key, and the record comes
with the proof that the account's signed repository holds it.

Source: atproto specification "Lexicon", section "Lexicon Publication and Resolution"; reference
section 16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from smart_byte_atproto import car
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import (
    IdentityNotFound,
    ResolutionFailed,
    ResponseInvalid,
    UnknownSchema,
)
from smart_byte_atproto.identity.flow import (
    AsyncNetwork,
    Flow,
    Network,
    arun,
    fetched,
    run,
    texts_of,
)
from smart_byte_atproto.identity.resolver import (
    DIRECTORY,
    AsyncLiveNetwork,
    LiveNetwork,
    resolve_did,
)
from smart_byte_atproto.net.dns import DNS
from smart_byte_atproto.net.fetch import Fetch, TextRecords
from smart_byte_atproto.repo.record_proof import verify_record
from smart_byte_atproto.syntax import DID, NSID

from .publication import COLLECTION, did_of, from_record, txt_name
from .schema import Lexicon

MAX_PROOF_BYTES: Final = 4 * 1024 * 1024
_GET_RECORD: Final = "com.atproto.sync.getRecord"
_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Published:
    """A schema as its author has published it.

    Attributes:
        lexicon: The document.
        did: Account in whose repository it is.
        cid: CID of the record.
        record: The record, as it can be written to a file.
    """

    lexicon: Lexicon
    did: DID
    cid: CID
    record: dict[str, Value]


def resolve(
    nsid: str, *, directory: str = DIRECTORY, network: Network | None = None, local: bool = False
) -> Published:
    """Find a schema by its name.

    Args:
        nsid: The name.
        directory: Origin of the PLC directory.
        network: What is asked; the internet under the guard by default.
        local: Whether services on loopback may be asked, for development.

    Raises:
        InvalidSyntax: Not an NSID.
        IdentityNotFound: No TXT record names a repository, or its DID leads nowhere.
        UnknownSchema: The repository proves that it holds no such schema.
        InvalidLexicon: Several repositories are named, or the record is no schema of that name.
        ATProtoError: It could not be had, or the proof does not hold.
    """
    flow = find(NSID(nsid), directory=directory.rstrip("/"))
    return run(flow, network if network is not None else LiveNetwork(DNS(), local))


async def aresolve(
    nsid: str,
    *,
    directory: str = DIRECTORY,
    network: AsyncNetwork | None = None,
    local: bool = False,
) -> Published:
    """Find a schema by its name; see `resolve`."""
    flow = find(NSID(nsid), directory=directory.rstrip("/"))
    return await arun(flow, network if network is not None else AsyncLiveNetwork(DNS(), local))


def find(nsid: NSID, *, directory: str) -> Flow[Published]:
    """Return the flow of `resolve`."""
    name = txt_name(nsid)
    did = did_of((yield from texts_of(TextRecords(name))))
    if did is None:
        raise IdentityNotFound(nsid, f"no TXT record at {name} names a repository")
    document = yield from resolve_did(did, directory=directory)
    if document.pds is None:
        raise ResolutionFailed(did, "the document names no server")
    query = urlencode({"did": did, "collection": COLLECTION, "rkey": nsid})
    page = yield from fetched(
        Fetch(
            f"{document.pds}/xrpc/{_GET_RECORD}?{query}",
            accept="application/vnd.ipld.car",
            max_bytes=MAX_PROOF_BYTES,
        )
    )
    if page.status != _OK:
        raise ResponseInvalid(page.host, f"HTTP {page.status}", code="status")
    proven = verify_record(
        car.load(page.body),
        key=document.signing_key(),
        did=did,
        collection=COLLECTION,
        record_key=nsid,
    )
    if proven.value is None or proven.cid is None:
        raise UnknownSchema(nsid)
    return Published(from_record(proven.value, nsid), did, proven.cid, proven.value)
