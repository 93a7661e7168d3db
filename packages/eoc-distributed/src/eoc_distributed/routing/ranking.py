"""An order of workers that is mended instead of made anew.

One heap for each model that was asked for holds the eligible workers by (key, turn). When a
model is asked for, each worker that has changed since its last time is pushed with its present
key; the old entry stays behind, to be dropped when it comes to the top, and a heap that is
mostly such leftovers is swept. So a decision costs O(log n) of C code and one key for each
worker that has changed meanwhile, however many models a worker serves.

Workers with equal keys take turns: the chosen one moves behind the others, by as many turns
as there are workers, give or take a quarter as the random source says. Where a worker starts
is random too. So gateways with different sources do not march in step, and no worker is
forgotten or favoured. Without a random source the turns are strict, in the order in which
the workers came.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush, heapreplace
from random import Random
from weakref import ReferenceType, ref

from eoc_distributed.cluster import Cluster
from eoc_distributed.errors import NoWorkerAvailable, UnknownModel
from eoc_distributed.member import Member
from eoc_distributed.request import Request
from eoc_distributed.worker import Capability, Load, Worker

Key = tuple[int, float]
"""Class, then value within the class; lower is chosen first."""
KeyOf = Callable[[Capability, Load], Key]

_Entry = tuple[Key, float, int, Member]
"""Key, turn, version of the member (unique, so that members are never compared), member."""

_SLACK = 64
"""Leftovers that a heap may hold beside one for each worker before it is swept."""
_JITTER = 0.5
"""Width of the random part of a turn, as a share of the workers: a quarter to both sides.
Wide enough to part gateways within a few turns, narrow enough that of 1,000 equal workers none
gets 1.5 times its share of 10,000 requests."""


class _Heap:
    """Entries of one model; `seen` is the cluster's change up to which they are mended."""

    __slots__ = ("entries", "limit", "seen")

    def __init__(self, entries: list[_Entry], seen: int) -> None:
        self.entries = entries
        self.seen = seen
        self.sweep()

    def sweep(self) -> None:
        """Keep the entries that are up to date."""
        self.entries = [entry for entry in self.entries if entry[3].version == entry[2]]
        heapify(self.entries)
        self.limit = 2 * len(self.entries) + _SLACK


class Ranking:
    """The eligible workers of a cluster, best first.

    Args:
        key_of: Maps what a worker can do and carries to its key.
        rng: Random source that mixes turns; None for strict turns.
    """

    def __init__(self, key_of: KeyOf, *, rng: Random | None) -> None:
        self._key_of = key_of
        self._rng = rng
        self._cluster: ReferenceType[Cluster] | None = None
        self._turn = 0
        self._turns: dict[str, float] = {}
        self._heaps: dict[str, _Heap] = {}

    def first(self, request: Request, cluster: Cluster) -> Worker:
        """Return the best eligible worker, and move it behind its equals.

        Raises:
            UnknownModel: No worker of the cluster serves the model.
            NoWorkerAvailable: None of those that do is eligible.
        """
        if self._cluster is None or self._cluster() is not cluster:
            self._start_with(cluster)
        model = request.model
        heap = self._heaps.get(model)
        if heap is None:
            heap = self._build(model, cluster)
        elif heap.seen != cluster.changes:
            self._mend(heap, model, cluster)
        entries = heap.entries
        while entries:
            key, _, version, member = entries[0]
            if member.version == version:
                turn = self._next_turn(len(entries))
                self._turns[member.id] = turn
                heapreplace(entries, (key, turn, version, member))
                return member.worker
            heappop(entries)
        refusal = NoWorkerAvailable if cluster.serving(model) else UnknownModel
        raise refusal(model, lambda: cluster.refusals(model))

    def _start_with(self, cluster: Cluster) -> None:
        self._cluster = ref(cluster)
        self._turn = 0
        self._turns.clear()
        self._heaps.clear()

    def _next_turn(self, equals: int) -> float:
        self._turn += 1
        if self._rng is None:
            return self._turn
        return self._turn + equals * (1.0 + _JITTER * (self._rng.random() - 0.5))

    def _first_turn(self, cluster: Cluster) -> float:
        """Return where a worker that was not seen before starts."""
        if self._rng is None:
            return self._next_turn(0)
        return self._turn + len(cluster) * self._rng.random()

    def _entry(self, member: Member, cluster: Cluster, now_s: float) -> _Entry:
        turn = self._turns.get(member.id)
        if turn is None:
            turn = self._turns[member.id] = self._first_turn(cluster)
        return (self._key_of(member.capability, member.load(now_s)), turn, member.version, member)

    def _mend(self, heap: _Heap, model: str, cluster: Cluster) -> None:
        """Push the present key of every worker that has changed since the model's last time."""
        now_s = cluster.clock.now_s()
        seen = heap.seen
        entries = heap.entries
        for member in cluster.newest_first():
            if member.version <= seen:
                break
            if model in member.models and member.eligible():
                heappush(entries, self._entry(member, cluster, now_s))
        heap.seen = cluster.changes
        if len(entries) > heap.limit:
            heap.sweep()
            self._turns = {id_: turn for id_, turn in self._turns.items() if id_ in cluster}

    def _build(self, model: str, cluster: Cluster) -> _Heap:
        """Make the heap of a model; a model that nobody serves gets none to keep."""
        now_s = cluster.clock.now_s()
        serving = cluster.serving(model)
        eligible = [self._entry(member, cluster, now_s) for member in serving if member.eligible()]
        heap = _Heap(eligible, cluster.changes)
        if serving:
            if len(self._heaps) >= 2 * len(cluster.models):
                self._heaps = {m: old for m, old in self._heaps.items() if cluster.serving(m)}
            self._heaps[model] = heap
        return heap
