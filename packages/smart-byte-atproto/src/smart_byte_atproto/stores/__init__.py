"""Block stores.

To add one: write a file here with a class that satisfies `BlockStore` (base.py) and list it in
`tests/unit/stores/test_block_store_contract.py`.
"""

from __future__ import annotations

from .base import BlockStore
from .memory import MemoryStore
from .overlay import OverlayStore
from .sqlite import SQLiteStore

__all__ = ["BlockStore", "MemoryStore", "OverlayStore", "SQLiteStore"]
