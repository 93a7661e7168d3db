"""Which worker takes a request.

To add a router: write its file beside these, with a class that fulfils `base.Router`; give
it a line in `REGISTRY`; add its test file and a line in the CHANGELOG. The contract test in
`tests/unit/routing/test_contract.py` runs over the registry, so it is tested from then on.
"""

from __future__ import annotations

from random import Random

from eoc_distributed.errors import UnknownPlugin

from .base import Router, RouterFactory
from .carbon_weighted import CarbonWeighted
from .joule_weighted import JouleWeighted
from .latency_weighted import LatencyWeighted
from .least_busy import LeastBusy
from .marginal_carbon import MarginalCarbon
from .marginal_joules import MarginalJoules
from .round_robin import RoundRobin

__all__ = [
    "DEFAULT",
    "REGISTRY",
    "CarbonWeighted",
    "JouleWeighted",
    "LatencyWeighted",
    "LeastBusy",
    "MarginalCarbon",
    "MarginalJoules",
    "RoundRobin",
    "Router",
    "RouterFactory",
    "create",
]

REGISTRY: dict[str, RouterFactory] = {
    RoundRobin.name: lambda _rng, _objective_ms: RoundRobin(),
    LeastBusy.name: lambda rng, _objective_ms: LeastBusy(rng=rng),
    LatencyWeighted.name: lambda rng, _objective_ms: LatencyWeighted(rng=rng),
    JouleWeighted.name: lambda rng, ms: JouleWeighted(rng=rng, ttft_objective_ms=ms),
    CarbonWeighted.name: lambda rng, ms: CarbonWeighted(rng=rng, ttft_objective_ms=ms),
    MarginalJoules.name: lambda rng, ms: MarginalJoules(rng=rng, ttft_objective_ms=ms),
    MarginalCarbon.name: lambda rng, ms: MarginalCarbon(rng=rng, ttft_objective_ms=ms),
}
"""Every router by its name; names are stable for ever."""

DEFAULT = JouleWeighted.name


def create(name: str, *, rng: Random, ttft_objective_ms: float | None = None) -> Router:
    """Make a router by its registered name.

    Args:
        name: A key of `REGISTRY`.
        rng: Random source for ties.
        ttft_objective_ms: Longest predicted time to first token, ms, for routers that hold
            an objective; the others do without.

    Raises:
        UnknownPlugin: No router has that name.
    """
    try:
        factory = REGISTRY[name]
    except KeyError:
        raise UnknownPlugin("router", name, REGISTRY) from None
    return factory(rng, ttft_objective_ms)
