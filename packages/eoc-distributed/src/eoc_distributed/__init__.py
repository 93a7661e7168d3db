"""Energy- and carbon-aware scheduling of LLM inference over a fleet of workers."""

from __future__ import annotations

from .cluster import Cluster
from .energy import Energy, Ledger
from .errors import EOCError, NoWorkerAvailable, UnknownModel
from .request import Request
from .routing import (
    CarbonWeighted,
    JouleWeighted,
    LatencyWeighted,
    LeastBusy,
    RoundRobin,
    Router,
)
from .units import GramsCO2e, MicroJoules, Quality
from .worker import Accelerator, Capability, InMemoryWorker, Load, Worker

__all__ = [
    "Accelerator",
    "Capability",
    "CarbonWeighted",
    "Cluster",
    "EOCError",
    "Energy",
    "GramsCO2e",
    "InMemoryWorker",
    "JouleWeighted",
    "LatencyWeighted",
    "LeastBusy",
    "Ledger",
    "Load",
    "MicroJoules",
    "NoWorkerAvailable",
    "Quality",
    "Request",
    "RoundRobin",
    "Router",
    "UnknownModel",
    "Worker",
    "__version__",
]

__version__ = "0.1.0"
