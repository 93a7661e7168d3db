"""Marginal joules: the worker on which the next request adds the least energy.

See `marginal` for the price. A worker whose figures are missing comes after those whose figures
are known, the least busy first.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from eoc_distributed.cluster import Cluster
from eoc_distributed.request import Request
from eoc_distributed.worker import Worker

from .marginal import marginal_energy
from .objective import cheapest_within
from .ranking import Ranking


class MarginalJoules:
    """Takes the worker on which the next request adds the least energy.

    Args:
        rng: Breaks ties.
        ttft_objective_ms: Longest predicted time to first token, ms; without one, workers are
            filled to their last place.
    """

    name: ClassVar[str] = "marginal-joules"

    def __init__(self, *, rng: Random, ttft_objective_ms: float | None = None) -> None:
        self._ranking = Ranking(cheapest_within(ttft_objective_ms, marginal_energy), rng=rng)

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        return self._ranking.first(request, cluster)
