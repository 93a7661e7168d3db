"""A router of one's own: the most idle capacity first.

Run by `tests/test_examples.py`.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from eoc_distributed import Capability, Cluster, InMemoryWorker, Load, Request, Worker
from eoc_distributed.routing.ranking import Ranking


class MostRoom:
    """Takes the worker with the lowest share of its concurrency in use."""

    name: ClassVar[str] = "most-room"

    def __init__(self, *, rng: Random) -> None:
        self._ranking = Ranking(used_share, rng=rng)

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        """Return the worker with the most room."""
        return self._ranking.first(request, cluster)


def used_share(capability: Capability, load: Load) -> tuple[int, float]:
    """Return the key of a worker: a class (0 for all), and the share in use."""
    return (0, load.in_flight / capability.max_concurrency)


if __name__ == "__main__":
    cluster = Cluster(
        [
            InMemoryWorker("small", Capability({"m"}, max_concurrency=4), Load(in_flight=1)),
            InMemoryWorker("large", Capability({"m"}, max_concurrency=64), Load(in_flight=8)),
        ]
    )
    print(MostRoom(rng=Random(1)).choose(Request(model="m"), cluster).id)
