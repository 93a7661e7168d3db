"""When a request starts, and from whose queue."""

from __future__ import annotations

from .fairness import TokenCounters
from .policy import MoveCost, PrefixLoss, StealingPolicy
from .queued import Constraints, QueuedRequest, Round, Status
from .work_stealing import WorkStealingScheduler

__all__ = [
    "Constraints",
    "MoveCost",
    "PrefixLoss",
    "QueuedRequest",
    "Round",
    "Status",
    "StealingPolicy",
    "TokenCounters",
    "WorkStealingScheduler",
]
