"""Joule weighted: the least energy for the request's tokens.

The projected energy is tokens x µJ/token, so the order of the workers is that of their
µJ/token whatever the request. A worker whose figure is missing comes after those whose
figure is known, the least busy first.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from eoc_distributed.cluster import Cluster
from eoc_distributed.request import Request
from eoc_distributed.worker import Capability, Load, Worker

from .objective import FIGURE_MISSING, HOLDS, cheapest_within
from .ranking import Key, Ranking


class JouleWeighted:
    """Takes the worker with the lowest projected energy.

    Args:
        rng: Breaks ties.
        ttft_objective_ms: Longest predicted time to first token, ms; None for none.
    """

    name: ClassVar[str] = "joule-weighted"

    def __init__(self, *, rng: Random, ttft_objective_ms: float | None = None) -> None:
        self._ranking = Ranking(cheapest_within(ttft_objective_ms, _energy), rng=rng)

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        return self._ranking.first(request, cluster)


def _energy(_capability: Capability, load: Load) -> Key:
    if load.micro_joules_per_token is None:
        return (FIGURE_MISSING, load.busyness())
    return (HOLDS, load.micro_joules_per_token)
