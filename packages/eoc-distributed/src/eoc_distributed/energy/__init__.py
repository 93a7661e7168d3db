"""What requests cost: energy, carbon, and where each figure comes from."""

from __future__ import annotations

from .accounting import Energy, Ledger, WorkerTotals

__all__ = ["Energy", "Ledger", "WorkerTotals"]
