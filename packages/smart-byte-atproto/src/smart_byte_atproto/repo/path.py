"""Paths of records: a collection and a record key, as they stand in the tree.

Source: AT Protocol, Repository; reference sections 1.3, 1.4 and 5.4.
"""

from __future__ import annotations

import re

from smart_byte_atproto.errors import InvalidTreeKey
from smart_byte_atproto.mst.node import MAX_KEY_BYTES

_LABEL = rb"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# Authority in lower case, its first label starting with a letter; then the name of the NSID.
_COLLECTION = (
    rb"(?=[^/]{1,317}/)(?P<authority>[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\." + _LABEL + rb")+)"
    rb"\.[a-zA-Z][a-zA-Z0-9]{0,62}"
)
_PATH = re.compile(_COLLECTION + rb"/(?!\.{1,2}\Z)[A-Za-z0-9._:~-]{1,512}")
_MAX_AUTHORITY_BYTES = 253


def check_path(path: bytes) -> bytes:
    """Return the path if it is a normalised NSID, a slash and a record key.

    Raises:
        InvalidTreeKey: It is not, or has over 1024 bytes.
    """
    found = _PATH.fullmatch(path)
    if found is None or len(path) > MAX_KEY_BYTES or found.end("authority") > _MAX_AUTHORITY_BYTES:
        raise InvalidTreeKey(f"{path[:80]!r} is not a normalised NSID, a slash and a record key")
    return path


def collection_of(path: bytes) -> str:
    """Return the collection of a checked path."""
    return path.partition(b"/")[0].decode("ascii")
