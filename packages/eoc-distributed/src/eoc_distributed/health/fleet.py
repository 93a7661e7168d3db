"""One verdict for each worker, out of its heartbeats, its answers and its past.

A worker is well if its heartbeats come, it does not sit out as an outlier, and its breaker
is not open. When heartbeats stop it sits out like an outlier, for longer each time: a
worker that comes and goes is taken back ever more rarely, and then with little load first,
so that it never makes the fleet swing. If too few are well, health is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .circuit_breaker import BreakerPolicy, CircuitBreaker, Pass, State
from .outcome import Outcome
from .outliers import OutlierDetector, OutlierPolicy, in_panic
from .phi_accrual import PhiAccrual, PhiPolicy
from .slow_start import SlowStart


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    """Parameters of all detectors."""

    phi: PhiPolicy = field(default_factory=PhiPolicy)
    breaker: BreakerPolicy = field(default_factory=BreakerPolicy)
    outliers: OutlierPolicy = field(default_factory=OutlierPolicy)
    slow_start: SlowStart = field(default_factory=SlowStart)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a worker may be given work.

    Attributes:
        worker_id: Which worker.
        healthy: Whether it may.
        reason: Why not, in words; empty if it may.
    """

    worker_id: str
    healthy: bool
    reason: str


class _Watched:
    __slots__ = ("breaker", "healthy", "phi", "since_s")

    def __init__(self, policy: HealthPolicy, now_s: float) -> None:
        self.phi = PhiAccrual(policy.phi)
        self.breaker = CircuitBreaker(policy.breaker)
        self.healthy = True
        self.since_s = now_s


class FleetHealth:
    """Watches the workers of one fleet. Driven by `now_s`; never goes back in time."""

    def __init__(self, policy: HealthPolicy | None = None) -> None:
        self._policy = policy if policy is not None else HealthPolicy()
        self._outliers = OutlierDetector(self._policy.outliers)
        self._watched: dict[str, _Watched] = {}

    def add(self, worker_id: str, now_s: float) -> None:
        """Watch a worker, healthy until shown otherwise; a known one starts anew."""
        self._watched[worker_id] = _Watched(self._policy, now_s)
        self._outliers.add(worker_id, now_s)

    def remove(self, worker_id: str) -> None:
        """Stop watching a worker; nothing happens if it is not watched."""
        self._watched.pop(worker_id, None)
        self._outliers.remove(worker_id)

    def heartbeat(self, worker_id: str, now_s: float) -> None:
        """Take a regular heartbeat: an answer to a probe."""
        watched = self._watched.get(worker_id)
        if watched is not None:
            watched.phi.heartbeat(now_s)

    def alive(self, worker_id: str, now_s: float) -> None:
        """Take any other sign of life: a byte of an answer, a scrape."""
        watched = self._watched.get(worker_id)
        if watched is not None:
            watched.phi.alive(now_s)

    def begin(self, worker_id: str, now_s: float) -> Pass | None:
        """Ask leave to send a request; None if the worker's breaker gives none."""
        watched = self._watched.get(worker_id)
        return watched.breaker.begin(now_s) if watched is not None else None

    def end(self, worker_id: str, granted: Pass, outcome: Outcome, now_s: float) -> None:
        """Say how a request ended that `begin` gave leave for."""
        watched = self._watched.get(worker_id)
        if watched is None:
            return
        watched.breaker.end(granted, outcome, now_s)
        self._outliers.observe(worker_id, outcome, now_s)
        if outcome is Outcome.SUCCESS:
            watched.phi.alive(now_s)

    def sweep(self, now_s: float) -> tuple[Verdict, ...]:
        """Judge all workers; return the verdicts that have changed since the last sweep."""
        outliers = self._outliers
        outliers.sweep(now_s)
        ill: dict[str, str] = {}
        for worker_id, watched in self._watched.items():
            phi = watched.phi.phi(now_s)
            if phi >= self._policy.phi.threshold:
                ill[worker_id] = f"no heartbeat: phi {phi:.1f}"
                outliers.eject(worker_id, now_s)
            elif watched.breaker.state(now_s) is State.OPEN:
                ill[worker_id] = "circuit breaker open"
        for worker_id in outliers.ejected:
            ill.setdefault(worker_id, "ejected as an outlier")
        workers = len(self._watched)
        if in_panic(
            well=workers - len(ill), workers=workers, panic_share=self._policy.outliers.panic_share
        ):
            ill.clear()
        changed: list[Verdict] = []
        for worker_id, watched in self._watched.items():
            healthy = worker_id not in ill
            if healthy != watched.healthy:
                watched.healthy = healthy
                watched.since_s = now_s
                changed.append(Verdict(worker_id, healthy, ill.get(worker_id, "")))
        return tuple(changed)

    def healthy(self, worker_id: str) -> bool:
        """Return the last sweep's verdict; False for a worker that is not watched."""
        watched = self._watched.get(worker_id)
        return watched is not None and watched.healthy

    def slow_start_factor(self, worker_id: str, now_s: float) -> float:
        """Return the share of its load that a worker is given, above 0 to 1; 0 if it is ill."""
        watched = self._watched.get(worker_id)
        if watched is None or not watched.healthy:
            return 0.0
        return self._policy.slow_start.factor(now_s - watched.since_s)
