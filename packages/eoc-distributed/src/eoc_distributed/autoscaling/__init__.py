"""How many workers there should be, and which of them goes first."""

from __future__ import annotations

from .autoscaler import Autoscaler, AutoscalerState, Decision, Sample, decide
from .drain import DrainCandidate, choose_to_drain, choose_to_restore
from .policy import Aggregation, AutoscalingPolicy

__all__ = [
    "Aggregation",
    "Autoscaler",
    "AutoscalerState",
    "AutoscalingPolicy",
    "Decision",
    "DrainCandidate",
    "Sample",
    "choose_to_drain",
    "choose_to_restore",
    "decide",
]
