"""From a handle to a DID: by DNS, then by HTTPS.

Source: atproto specification "Handle"; reference section 12.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from smart_byte_atproto.errors import (
    IdentityMismatch,
    IdentityNotFound,
    InvalidSyntax,
    NetworkFailed,
    RequestRefused,
    ResponseInvalid,
)
from smart_byte_atproto.net.fetch import Fetch, Fetched, TextRecords
from smart_byte_atproto.syntax import DID, Handle

from .flow import Flow, fetched, texts_of

_PREFIX: Final = "did="
_MAX_PAGE: Final = 2048
_REDIRECTS: Final = 3


def resolve_handle(handle: Handle) -> Flow[DID]:
    """Return the flow that finds the DID of a handle; the DID has yet to name the handle.

    DNS wins. Where it says nothing, or cannot be asked, the handle's own host is.

    Raises:
        IdentityNotFound: Neither knows it, or it is a name of a private network.
        IdentityMismatch: DNS names several DIDs.
        NetworkFailed: Neither could be asked.
    """
    handle = handle.normalize()
    if not handle.is_registrable:
        raise IdentityNotFound(handle, f".{handle.tld} is no domain of the network")
    trouble: NetworkFailed | None = None
    try:
        texts = yield from texts_of(TextRecords(f"_atproto.{handle}"))
        did = did_of_records(texts, handle)
    except NetworkFailed as error:
        trouble, did = error, None
    if did is not None:
        return did
    try:
        page = yield from fetched(
            Fetch(
                f"https://{handle}/.well-known/atproto-did",
                accept="text/plain, */*",
                max_bytes=_MAX_PAGE,
                redirects=_REDIRECTS,
            )
        )
        did = did_of_page(page)
    except (RequestRefused, ResponseInvalid):
        did = None
    except NetworkFailed as error:
        raise trouble if trouble is not None else error from error
    if did is None:
        if trouble is not None:
            raise trouble
        raise IdentityNotFound(handle, "neither DNS nor its host names a DID")
    return did


def did_of_records(texts: Iterable[str], handle: str) -> DID | None:
    """Return the DID that TXT records name; None if none does.

    Raises:
        IdentityMismatch: They name several.
    """
    named = {text.removeprefix(_PREFIX) for text in texts if text.startswith(_PREFIX)}
    if len(named) > 1:
        raise IdentityMismatch(handle, f"DNS names {len(named)} DIDs")
    return _did(named.pop()) if named else None


def did_of_page(page: Fetched) -> DID | None:
    """Return the DID that a well-known page names; None if it is some other page."""
    if not 200 <= page.status < 300:  # noqa: PLR2004 - any success, RFC 9110 section 15.3
        return None
    return _did(page.body.decode("utf-8", "replace").strip())


def _did(text: str) -> DID | None:
    try:
        return DID(text)
    except InvalidSyntax:
        return None
