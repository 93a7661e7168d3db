"""Cost of sticky routing and of the work-stealing queues as the fleet grows.

`light` starts each request at once; under `overload` every worker is full and five requests
wait for each, so that a submission looks for a short queue. One round is one submission, one
dispatch and one completion.
"""

from __future__ import annotations

import time
from collections import deque
from random import Random

from eoc_distributed import Capability, Cluster, InMemoryWorker, LeastBusy, Request
from eoc_distributed.cluster import Ticket
from eoc_distributed.locality import StickySessions
from eoc_distributed.scheduling import QueuedRequest, WorkStealingScheduler

FLEETS = (16, 1_000)
ROUNDS = 5_000
SLOTS = 4
WAITING = 5


def fleet(size: int, slots: int) -> Cluster:
    capability = Capability({"m"}, max_concurrency=slots)
    return Cluster(InMemoryWorker(f"w{number}", capability) for number in range(size))


def sticky_us(size: int, *, by: str) -> float:
    """Return µs for choosing a worker, beginning a request and ending an older one."""
    rng = Random(3)
    cluster = fleet(size, 64)
    router = StickySessions(LeastBusy(rng=Random(1)), rng=Random(2))
    requests = [
        Request(model="m", prompt_tokens=100, session=f"s{number}")
        if by == "session"
        else Request(model="m", prompt_blocks=tuple(range(number * 100, number * 100 + 24)))
        for number in range(2_000)
    ]
    tickets: deque[Ticket] = deque()
    router.choose(requests[0], cluster)  # the ring is made once
    start = time.perf_counter()
    for _ in range(ROUNDS):
        tickets.append(cluster.begin(router.choose(rng.choice(requests), cluster).id))
        if len(tickets) > 8 * size:
            tickets.popleft().end()
    return (time.perf_counter() - start) / ROUNDS * 1e6


def stealing_us(size: int, *, overload: bool) -> float:
    """Return µs for one round."""
    scheduler = WorkStealingScheduler(fleet(size, SLOTS), LeastBusy(rng=Random(1)), rng=Random(2))
    request = Request(model="m", prompt_tokens=100)
    running: deque[QueuedRequest] = deque()
    for _ in range(size * (SLOTS + WAITING if overload else SLOTS - 1)):
        scheduler.submit(request, now_s=0.0)
        running.extend(scheduler.dispatch(0.0).started)
    start = time.perf_counter()
    for number in range(ROUNDS):
        scheduler.finish(running.popleft(), now_s=float(number))
        scheduler.submit(request, now_s=float(number))
        running.extend(scheduler.dispatch(float(number)).started)
    return (time.perf_counter() - start) / ROUNDS * 1e6


def rows() -> list[dict[str, object]]:
    """Measure both at every size."""
    found: list[dict[str, object]] = []
    for size in FLEETS:
        found.extend(
            {"what": f"sticky by {by}", "workers": size, "us": sticky_us(size, by=by)}
            for by in ("session", "prefix")
        )
        for name, overload in (("light", False), ("overload", True)):
            us = stealing_us(size, overload=overload)
            found.append({"what": f"stealing, {name}", "workers": size, "us": us})
    return found


if __name__ == "__main__":
    for row in rows():
        print(row)
