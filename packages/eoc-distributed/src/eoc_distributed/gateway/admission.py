"""Requests that wait for a place while every worker of their model is full.

They wait in the gateway, where whoever comes first is served first and may still go to any
worker, and not in the queue of one engine. How many wait and for how long is bounded; what
does not fit is refused (429 with Retry-After).

A place that becomes free is given away at once, so that a request that has just come cannot
take it from one that waits.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from eoc_distributed.cluster import Cluster, Ticket
from eoc_distributed.config import AdmissionConfig
from eoc_distributed.errors import NoWorkerAvailable
from eoc_distributed.member import Member
from eoc_distributed.request import Request

_Waiter = tuple[Request, "asyncio.Future[Ticket | None]"]


class Admission(Collector):
    """Who waits for which model. For one event loop.

    Args:
        cluster: Told to say what changes while somebody waits.
        begin: Takes a place, or raises `NoWorkerAvailable`.
        config: How many may wait, and for how long.

    Attributes:
        queues: For each model those who wait, by their number, the oldest first; a model for
            which nobody waits is absent.
        waiting: How many wait.
    """

    def __init__(
        self, cluster: Cluster, begin: Callable[[Request], Ticket], config: AdmissionConfig
    ) -> None:
        self.queues: dict[str, OrderedDict[int, _Waiter]] = {}
        self.waiting = 0
        self._cluster = cluster
        self._begin = begin
        self._config = config
        self._number = 0
        self._changed: dict[str, Member] = {}

    async def wait(self, request: Request) -> Ticket | None:
        """Return a place on a worker; None if too many wait already, or none came free in time.

        Cancelling the call gives up the wait, and a place that has just been given.
        """
        if self.waiting >= self._config.waiting:
            return None
        loop = asyncio.get_running_loop()
        place: asyncio.Future[Ticket | None] = loop.create_future()
        self._number += 1
        number = self._number
        self.queues.setdefault(request.model, OrderedDict())[number] = (request, place)
        self.waiting += 1
        self._cluster.watch(self._note)
        timer = loop.call_later(self._config.timeout_s, _expire, place)
        try:
            return await place
        except asyncio.CancelledError:
            given = None if place.cancelled() else place.result()
            if given is not None:
                given.end()
            raise
        finally:
            timer.cancel()
            self._leave(request.model, number)

    def collect(self) -> Iterable[Metric]:
        """Say how many wait, for those who scrape."""
        yield GaugeMetricFamily(
            "eoc_waiting_requests", "Requests that wait for a worker.", value=self.waiting
        )

    def _leave(self, model: str, number: int) -> None:
        queue = self.queues.get(model)
        if queue is not None and queue.pop(number, None) is not None and not queue:
            del self.queues[model]
        self.waiting -= 1
        if not self.waiting:
            self._cluster.unwatch(self._note)

    def _note(self, member: Member) -> None:
        """Take note of a worker that may have become free."""
        if member.eligible() and not self.queues.keys().isdisjoint(member.models):
            if not self._changed:
                asyncio.get_running_loop().call_soon(self._give)
            self._changed[member.id] = member

    def _give(self) -> None:
        """Give the places that have become free to those who wait longest."""
        changed = tuple(self._changed.values())
        self._changed.clear()
        passed: set[str] = set()
        while heads := [(_oldest(self.queues[m]), m) for m in self.queues if m not in passed]:
            number, model = min(heads)
            queue = self.queues[model]
            request, place = queue[number]
            if not place.done():
                if not any(model in m.models and m.eligible() for m in changed):
                    passed.add(model)
                    continue
                try:
                    ticket = self._begin(request)
                except NoWorkerAvailable:
                    passed.add(model)
                    continue
                place.set_result(ticket)
            del queue[number]
            if not queue:
                del self.queues[model]


def _oldest(queue: OrderedDict[int, _Waiter]) -> int:
    return next(iter(queue))


def _expire(place: asyncio.Future[Ticket | None]) -> None:
    if not place.done():
        place.set_result(None)
