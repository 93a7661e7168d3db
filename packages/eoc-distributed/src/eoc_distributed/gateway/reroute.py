"""A second choice: the same routing policy over the workers not yet tried."""

from __future__ import annotations

from collections.abc import Callable, Collection

from eoc_distributed.cluster import Cluster
from eoc_distributed.errors import NoWorkerAvailable
from eoc_distributed.request import Request
from eoc_distributed.routing import Router
from eoc_distributed.worker import InMemoryWorker, Worker


def reroute(
    request: Request,
    cluster: Cluster,
    new_router: Callable[[], Router],
    *,
    tried: Collection[str],
) -> Worker | None:
    """Return another worker for a request, or None if there is none.

    Routers keep an order of the whole fleet between requests and cannot leave one out, so a
    router of the same kind looks at a copy. That walks the fleet, which is fair for a retry.
    """
    now_s = cluster.clock.now_s()
    others = [
        InMemoryWorker(member.id, member.capability, member.load(now_s))
        for member in cluster.serving(request.model)
        if member.id not in tried and member.eligible()
    ]
    # Routers that take turns begin with the first: let that be another one each time.
    start = cluster.changes % len(others) if others else 0
    rest = Cluster(others[start:] + others[:start], clock=cluster.clock)
    try:
        chosen = new_router().choose(request, rest)
    except NoWorkerAvailable:
        return None
    return cluster[chosen.id].worker
