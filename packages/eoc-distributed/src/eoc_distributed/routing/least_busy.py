"""Least busy: the lowest 4.0 x in_flight + 0.1 x queued_tokens."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from eoc_distributed.cluster import Cluster
from eoc_distributed.request import Request
from eoc_distributed.worker import Capability, Load, Worker

from .ranking import Key, Ranking


class LeastBusy:
    """Takes the worker with the lowest `Load.busyness`.

    Args:
        rng: Breaks ties.
    """

    name: ClassVar[str] = "least-busy"

    def __init__(self, *, rng: Random) -> None:
        self._ranking = Ranking(_busyness, rng=rng)

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        return self._ranking.first(request, cluster)


def _busyness(_capability: Capability, load: Load) -> Key:
    return (0, load.busyness())
