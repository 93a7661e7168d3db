"""What runs together on one worker: KV blocks and the steps of a continuous batch."""

from __future__ import annotations

from .continuous import ContinuousBatcher
from .kv_blocks import KVBlockBudget
from .step import Admission, BatchLimits, Step

__all__ = ["Admission", "BatchLimits", "ContinuousBatcher", "KVBlockBudget", "Step"]
