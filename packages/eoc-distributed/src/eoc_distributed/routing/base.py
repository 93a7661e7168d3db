"""The Protocol that routers fulfil."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import ClassVar, Protocol

from eoc_distributed.cluster import Cluster
from eoc_distributed.request import Request
from eoc_distributed.worker import Worker


class Router(Protocol):
    """Chooses the worker for a request.

    A router serves one cluster at a time and keeps an order of its workers between
    requests. It chooses among the eligible: those that serve the model, are healthy, are
    not draining, and have fewer requests in flight than they take.
    """

    name: ClassVar[str]

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        """Return the worker that takes the request; the caller then calls `begin`.

        Raises:
            UnknownModel: No worker of the cluster serves the model.
            NoWorkerAvailable: Some do, but none is eligible; it says why for each.
        """
        ...


RouterFactory = Callable[[Random, float | None], Router]
"""Makes a router from a random source and a time-to-first-token objective in ms, or None."""
