"""Where a request may wait: the queues of a fleet, and how long a wait in each would be."""

from __future__ import annotations

from random import Random

from eoc_distributed.cluster import Cluster
from eoc_distributed.errors import NoWorkerAvailable, UnknownModel
from eoc_distributed.member import Member
from eoc_distributed.routing.base import Router

from .policy import StealingPolicy
from .queued import QueuedRequest
from .worker_queue import WorkerQueue

NOBODY = ""
"""In whose queue requests wait that no worker may serve at the moment."""
_COMPARED = 16
"""Queues compared where not all are: the shortest of 16 is among the shortest tenth in four of
five cases."""


class Placement:
    """The queues, and the order in which they are offered a request.

    Args:
        cluster: The workers.
        router: Chooses the queue of a request while some worker has a free slot.
        policy: Limits.
        rng: Where no worker has a free slot and there are many, a random few are compared
            instead of all; None to compare all.

    Attributes:
        queues: Every worker's queue by its id.
    """

    def __init__(
        self, cluster: Cluster, router: Router, policy: StealingPolicy, rng: Random | None
    ) -> None:
        self.queues: dict[str, WorkerQueue] = {}
        self._cluster = cluster
        self._router = router
        self._policy = policy
        self._rng = rng

    def places(self, queued: QueuedRequest, *, may_wait: bool) -> list[WorkerQueue]:
        """Return the queues that may take a request, best first.

        Args:
            queued: The request.
            may_wait: Whether the total limit lets one more wait; if not, all queues are
                returned, so that the least urgent of all can be found.

        Raises:
            UnknownModel: No worker serves the model.
            NoWorkerAvailable: None that may serve it is well.
        """
        try:
            chosen = self._router.choose(queued.request, self._cluster).id
        except UnknownModel:
            raise
        except NoWorkerAvailable:
            chosen = NOBODY
        else:
            queue = self.queue(chosen)
            roomy = queue.live == 0 and may_wait
            if roomy and queued.may_run_on(self._cluster[chosen]):
                return [queue]
        queues = (self._some(queued) if may_wait else []) or self.well(queued)
        queues.sort(key=lambda queue: (queue.worker_id != chosen, self.wait_s(queue)))
        return queues

    def _some(self, queued: QueuedRequest) -> list[WorkerQueue]:
        """Return a random few of the queues with room; empty if there are few or none has."""
        serving = self._cluster.serving(queued.request.model)
        if self._rng is None or len(serving) <= 2 * _COMPARED:
            return []
        return [
            queue
            for member in self._rng.sample(list(serving), _COMPARED)
            if member.healthy and not member.draining and queued.constraints.allow(member)
            if (queue := self.queue(member.id)).live < self._policy.worker_limit
        ]

    def well(self, queued: QueuedRequest) -> list[WorkerQueue]:
        """Return the queues of workers that may serve a request, with or without a free slot.

        Raises:
            NoWorkerAvailable: There is none.
        """
        model = queued.request.model
        well = [
            self.queue(member.id)
            for member in self._cluster.serving(model)
            if member.healthy and not member.draining and queued.constraints.allow(member)
        ]
        if not well:
            raise NoWorkerAvailable(model, lambda: self._cluster.refusals(model))
        return well

    def wait_s(self, queue: WorkerQueue, *, behind_all: bool = True) -> float:
        """Predict how long the next in a queue waits, or its present last; inf if nobody serves."""
        member = self.member(queue.worker_id)
        if member is None or not member.healthy or member.draining:
            return float("inf")
        ahead = queue.live if behind_all else queue.live - 1
        busy = max(member.in_flight, member.reported.in_flight)
        free = max(0, member.max_concurrency - busy)
        return max(0, ahead + 1 - free) * queue.service_s / member.max_concurrency

    def member(self, worker_id: str) -> Member | None:
        """Return a worker of the cluster; None if it is not there."""
        if worker_id == NOBODY or worker_id not in self._cluster:
            return None
        return self._cluster[worker_id]

    def queue(self, worker_id: str) -> WorkerQueue:
        """Return a worker's queue, which is made if there is none."""
        queue = self.queues.get(worker_id)
        if queue is None:
            queue = self.queues[worker_id] = WorkerQueue(worker_id, self._policy.service_s)
        return queue
