"""Cost of one routing decision as the fleet grows.

A decision is `choose`, then `begin`; a request that was begun earlier ends in the same
round, so each round also pays for the two changes of load that a gateway makes.
"""

from __future__ import annotations

import time
from collections import deque
from random import Random

from eoc_distributed import Capability, Cluster, InMemoryWorker, Load, Request
from eoc_distributed.routing import REGISTRY, create

FLEETS = (10, 100, 1_000, 10_000)
ROUNDS = 20_000
REPEATS = 3


def fleet(size: int, rng: Random) -> Cluster:
    """Return `size` unequal workers of one model."""
    return Cluster(
        InMemoryWorker(
            f"w{index}",
            Capability({"m"}, zone="FR"),
            Load(
                0,
                0,
                rng.uniform(20, 200),
                rng.uniform(200, 900),
                rng.randrange(50_000, 500_000),
                rng.uniform(20, 700),
            ),
        )
        for index in range(size)
    )


def decision_us(name: str, size: int) -> tuple[float, float]:
    """Return (choose alone, the whole round) in µs; the best of a few repeats."""
    request = Request(model="m", prompt_tokens=1000)
    best_choose = best_round = float("inf")
    for _ in range(REPEATS):
        rng = Random(1)
        cluster = fleet(size, rng)
        router = create(name, rng=rng)
        open_tickets = deque(
            cluster.begin(router.choose(request, cluster).id, tokens=1000) for _ in range(32)
        )
        start = time.perf_counter()
        for _ in range(ROUNDS):
            open_tickets.append(cluster.begin(router.choose(request, cluster).id, tokens=1000))
            open_tickets.popleft().end()
        best_round = min(best_round, time.perf_counter() - start)
        start = time.perf_counter()
        for _ in range(ROUNDS):
            router.choose(request, cluster)
        best_choose = min(best_choose, time.perf_counter() - start)
    return best_choose / ROUNDS * 1e6, best_round / ROUNDS * 1e6


def rows() -> list[dict[str, object]]:
    """Measure every router at every size."""
    return [
        {"router": name, "workers": size, "choose_us": choose, "round_us": whole}
        for name in REGISTRY
        for size in FLEETS
        for choose, whole in [decision_us(name, size)]
    ]


if __name__ == "__main__":
    for row in rows():
        print(row)
