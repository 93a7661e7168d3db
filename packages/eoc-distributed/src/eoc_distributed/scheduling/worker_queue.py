"""What waits for one worker: by priority, then in turn by tenant, then in order of arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from .fairness import TokenCounters
from .queued import QueuedRequest, Status

_SLACK = 16
"""Cancelled entries that a queue may hold beside as many live ones."""
_SCAN = 32
"""Entries of a tenant that a thief looks at, from the tail."""


class WorkerQueue:
    """A worker's queue. Entries that no longer wait are dropped when they are met.

    Attributes:
        worker_id: Whose queue.
        live: Entries that wait.
        service_s: Moving average of the time for which a request occupies the worker, s.
    """

    __slots__ = ("_classes", "_dead", "live", "service_s", "worker_id")

    def __init__(self, worker_id: str, service_s: float) -> None:
        self.worker_id = worker_id
        self.live = 0
        self.service_s = service_s
        self._dead = 0
        self._classes: dict[int, dict[str, deque[QueuedRequest]]] = {}

    def push(self, queued: QueuedRequest) -> None:
        """Put an entry at the end of its tenant's line."""
        self._line(queued).append(queued)
        self.live += 1

    def push_front(self, several: Iterable[QueuedRequest]) -> None:
        """Put entries, in the order of their arrival, before all others of their tenants."""
        for queued in sorted(several, key=lambda entry: entry.number, reverse=True):
            self._line(queued).appendleft(queued)
            self.live += 1

    def discard(self) -> None:
        """Note that one of the entries has ceased to wait."""
        self.live -= 1
        self._dead += 1
        if self._dead > self.live + _SLACK:
            self._sweep()

    def take_first(self, counters: TokenCounters) -> QueuedRequest | None:
        """Take the entry whose turn it is; None if nothing waits."""
        self._drop_dead_heads()
        for priority in sorted(self._classes):
            lines = self._classes[priority]
            tenant = counters.in_turn(lines)[0]
            queued = lines[tenant].popleft()
            self.live -= 1
            return queued
        return None

    def take_last(
        self, counters: TokenCounters, fits: Callable[[QueuedRequest], bool]
    ) -> QueuedRequest | None:
        """Take the newest fitting entry of the tenant whose turn it is, most urgent first."""
        for priority in sorted(self._classes):
            lines = self._classes[priority]
            for tenant in counters.in_turn(lines):
                line = lines[tenant]
                for index in range(len(line) - 1, max(-1, len(line) - 1 - _SCAN), -1):
                    queued = line[index]
                    if queued.status is Status.WAITING and fits(queued):
                        del line[index]
                        self.live -= 1
                        self._drop_dead_heads()
                        return queued
        return None

    def take_all(self) -> list[QueuedRequest]:
        """Take all that waits, in the order of arrival."""
        waiting = self.waiting()
        self._classes.clear()
        self.live = self._dead = 0
        return waiting

    def waiting(self) -> list[QueuedRequest]:
        """Return all that waits, in the order of arrival."""
        return sorted(
            (
                queued
                for lines in self._classes.values()
                for line in lines.values()
                for queued in line
                if queued.status is Status.WAITING
            ),
            key=lambda entry: entry.number,
        )

    def least_urgent(self) -> QueuedRequest | None:
        """Return the newest entry of the least urgent class; None if nothing waits."""
        for priority in sorted(self._classes, reverse=True):
            lines = self._classes[priority].values()
            waiting = [q for line in lines for q in line if q.status is Status.WAITING]
            if waiting:
                return max(waiting, key=lambda entry: entry.number)
        return None

    def _line(self, queued: QueuedRequest) -> deque[QueuedRequest]:
        lines = self._classes.setdefault(queued.priority, {})
        line = lines.get(queued.tenant)
        if line is None:
            line = lines[queued.tenant] = deque()
        return line

    def _drop_dead_heads(self) -> None:
        """Let every line start with an entry that waits, and no line be empty."""
        for priority, lines in list(self._classes.items()):
            for tenant, line in list(lines.items()):
                while line and line[0].status is not Status.WAITING:
                    line.popleft()
                    self._dead -= 1
                if not line:
                    del lines[tenant]
            if not lines:
                del self._classes[priority]

    def _sweep(self) -> None:
        for lines in self._classes.values():
            for tenant, line in lines.items():
                lines[tenant] = deque(q for q in line if q.status is Status.WAITING)
        self._dead = 0
        self._drop_dead_heads()
