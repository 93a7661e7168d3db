"""Round robin: every eligible worker in turn, whatever it carries."""

from __future__ import annotations

from typing import ClassVar

from eoc_distributed.cluster import Cluster
from eoc_distributed.request import Request
from eoc_distributed.worker import Capability, Load, Worker

from .ranking import Key, Ranking


class RoundRobin:
    """Takes the worker whose last turn is longest ago."""

    name: ClassVar[str] = "round-robin"

    def __init__(self) -> None:
        self._ranking = Ranking(_all_equal, rng=None)

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        return self._ranking.first(request, cluster)


def _all_equal(_capability: Capability, _load: Load) -> Key:
    return (0, 0.0)
