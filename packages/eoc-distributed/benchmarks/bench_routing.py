"""Cost of one routing decision as the fleet grows.

Three figures, in µs, best of a few repeats:

- decision: `choose` when one worker has changed since the decision before, as when its
  request was begun; what it costs to note the change is taken off.
- choose: `choose` alone, nothing having changed.
- round: `choose`, `begin`, and the end of an earlier request on another worker: all that a
  gateway pays for a request.
"""

from __future__ import annotations

import timeit
from collections import deque
from collections.abc import Callable
from itertools import cycle
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


def best_us(action: Callable[[], object]) -> float:
    """Return the time of one call in µs, the best of a few repeats."""
    return min(timeit.repeat(action, number=ROUNDS, repeat=REPEATS)) / ROUNDS * 1e6


def measure(name: str, size: int) -> dict[str, object]:
    """Return the three figures of a router over a fleet of a size."""
    request = Request(model="m", prompt_tokens=1000)
    rng = Random(1)
    cluster = fleet(size, rng)
    router = create(name, rng=rng)
    members = cycle(list(cluster))
    open_tickets = deque(
        cluster.begin(router.choose(request, cluster).id, tokens=1000) for _ in range(32)
    )

    def change() -> None:
        cluster.touch(next(members))

    def change_and_choose() -> None:
        cluster.touch(next(members))
        router.choose(request, cluster)

    def whole_round() -> None:
        open_tickets.append(cluster.begin(router.choose(request, cluster).id, tokens=1000))
        open_tickets.popleft().end()

    return {
        "router": name,
        "workers": size,
        "decision_us": best_us(change_and_choose) - best_us(change),
        "choose_us": best_us(lambda: router.choose(request, cluster)),
        "round_us": best_us(whole_round),
    }


def rows() -> list[dict[str, object]]:
    """Measure every router at every size."""
    return [measure(name, size) for name in REGISTRY for size in FLEETS]


if __name__ == "__main__":
    for row in rows():
        print(row)
