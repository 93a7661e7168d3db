"""Which workers may be given work: detectors that are told events and the time.

Each file is one detector, a state machine without clock or network. `FleetHealth` joins
them into one verdict for each worker.
"""

from __future__ import annotations

from .circuit_breaker import BreakerPolicy, CircuitBreaker
from .fleet import FleetHealth, HealthPolicy, Verdict
from .outcome import Outcome, outcome_of_error, outcome_of_status
from .outliers import OutlierDetector, OutlierPolicy
from .phi_accrual import PhiAccrual, PhiPolicy
from .slow_start import SlowStart

__all__ = [
    "BreakerPolicy",
    "CircuitBreaker",
    "FleetHealth",
    "HealthPolicy",
    "Outcome",
    "OutlierDetector",
    "OutlierPolicy",
    "PhiAccrual",
    "PhiPolicy",
    "SlowStart",
    "Verdict",
    "outcome_of_error",
    "outcome_of_status",
]
