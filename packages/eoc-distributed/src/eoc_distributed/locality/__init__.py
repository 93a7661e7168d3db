"""Which worker already holds the KV cache that a request needs."""

from __future__ import annotations

from .block_hashes import block_hashes
from .hash_ring import HashRing
from .prefix_index import PrefixIndex
from .sticky_sessions import StickySessions

__all__ = ["HashRing", "PrefixIndex", "StickySessions", "block_hashes"]
