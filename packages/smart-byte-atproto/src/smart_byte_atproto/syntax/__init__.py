"""Identifiers and formats, each checked once and kept in a type of its own.

All are strings that are valid as long as they live. `FORMATS` lists them by the name that Lexicon
gives them. To add one: write its file here and its line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .at_identifier import parse_at_identifier
from .at_uri import ATURI
from .cid import CIDString
from .datetime import Datetime
from .did import DID
from .handle import Handle
from .language import Language
from .nsid import NSID
from .record_key import RecordKey
from .tid import TID, TIDGenerator
from .uri import URI

__all__ = [
    "ATURI",
    "DID",
    "FORMATS",
    "NSID",
    "TID",
    "URI",
    "CIDString",
    "Datetime",
    "Handle",
    "Language",
    "RecordKey",
    "TIDGenerator",
    "parse_at_identifier",
]

FORMATS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "at-identifier": parse_at_identifier,
        "at-uri": ATURI,
        "cid": CIDString,
        "datetime": Datetime,
        "did": DID,
        "handle": Handle,
        "language": Language,
        "nsid": NSID,
        "record-key": RecordKey,
        "tid": TID,
        "uri": URI,
    }
)
"""Format name of Lexicon to what checks a string and raises `InvalidSyntax`."""
