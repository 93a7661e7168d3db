"""AT Protocol identity, repositories and firehose, strict and fast.

Names of everyday use can be had from here; they are loaded when they are first asked for, so that
`import smart_byte_atproto` costs little. Everything else is imported from its module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import ATProtoError

if TYPE_CHECKING:
    from .crypto import KeyType, PrivateKey, PublicKey
    from .data.blob import Blob
    from .data.cid import CID
    from .mst import SketchMST, Tree
    from .repo import Repo, SignedCommit, UnsignedCommit, verify_repo
    from .stores import BlockStore, MemoryStore, OverlayStore, SQLiteStore
    from .syntax import ATURI, DID, NSID, TID, Handle, RecordKey, TIDGenerator

__all__ = [  # noqa: RUF022  sorted as `sorted` does
    "ATProtoError",
    "ATURI",
    "Blob",
    "BlockStore",
    "CID",
    "DID",
    "Handle",
    "KeyType",
    "MemoryStore",
    "NSID",
    "OverlayStore",
    "PrivateKey",
    "PublicKey",
    "RecordKey",
    "Repo",
    "SQLiteStore",
    "SignedCommit",
    "SketchMST",
    "TID",
    "TIDGenerator",
    "Tree",
    "UnsignedCommit",
    "__version__",
    "verify_repo",
]

__version__ = "0.1.0"

_HOMES = {
    "crypto": ("KeyType", "PrivateKey", "PublicKey"),
    "data.blob": ("Blob",),
    "data.cid": ("CID",),
    "mst": ("SketchMST", "Tree"),
    "repo": ("Repo", "SignedCommit", "UnsignedCommit", "verify_repo"),
    "stores": ("BlockStore", "MemoryStore", "OverlayStore", "SQLiteStore"),
    "syntax": ("ATURI", "DID", "NSID", "TID", "Handle", "RecordKey", "TIDGenerator"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
