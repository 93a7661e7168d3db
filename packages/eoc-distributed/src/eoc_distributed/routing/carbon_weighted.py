"""Carbon weighted: the least emissions for the request's tokens.

Projected emissions are tokens x µJ/token x gCO2e/kWh (constants aside), so the order of the
workers is that of µJ/token x gCO2e/kWh whatever the request. A worker that misses either
figure comes after those that have both, the least busy first.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from eoc_distributed.cluster import Cluster
from eoc_distributed.request import Request
from eoc_distributed.worker import Capability, Load, Worker

from .objective import FIGURE_MISSING, HOLDS, cheapest_within
from .ranking import Key, Ranking


class CarbonWeighted:
    """Takes the worker with the lowest projected emissions.

    Args:
        rng: Breaks ties.
        ttft_objective_ms: Longest predicted time to first token, ms; None for none.
    """

    name: ClassVar[str] = "carbon-weighted"

    def __init__(self, *, rng: Random, ttft_objective_ms: float | None = None) -> None:
        self._ranking = Ranking(cheapest_within(ttft_objective_ms, _emissions), rng=rng)

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        return self._ranking.first(request, cluster)


def _emissions(_capability: Capability, load: Load) -> Key:
    if load.micro_joules_per_token is None or load.g_co2e_per_kwh is None:
        return (FIGURE_MISSING, load.busyness())
    return (HOLDS, load.micro_joules_per_token * load.g_co2e_per_kwh)
