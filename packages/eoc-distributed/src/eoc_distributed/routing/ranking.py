"""An order of workers that is mended instead of made anew.

One heap for each model that was asked for holds the eligible workers by (key, turn). A
change of a worker pushes an entry with its present key and leaves the old one behind, to be
dropped when it comes to the top; a heap that is mostly such leftovers is rebuilt. So a
decision costs O(log n) of C code and one key for each worker that has changed since.

Workers with equal keys take turns: the chosen one moves behind the others, by as many turns
as there are workers, give or take what the random source says. Two gateways with different
sources do not march in step, and no worker is forgotten or favoured. Without a random
source the turns are strict, in the order in which the workers came.
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
"""Leftovers that a heap may hold beside one for each worker before it is rebuilt."""


class _Heap:
    """Entries of one model, and how many there may be before leftovers are swept out."""

    __slots__ = ("entries", "limit")

    def __init__(self, entries: list[_Entry]) -> None:
        self.entries = entries
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
        self._seen = 0
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
        if cluster.changes != self._seen:
            self._mend(cluster)
        model = request.model
        heap = self._heaps.get(model) or self._build(model, cluster)
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
        self._seen = cluster.changes
        self._turn = 0
        self._turns.clear()
        self._heaps.clear()

    def _next_turn(self, equals: int) -> float:
        self._turn += 1
        if self._rng is None:
            return self._turn
        return self._turn + equals * self._rng.random()

    def _entry(self, member: Member, now_s: float) -> _Entry:
        turn = self._turns.get(member.id)
        if turn is None:
            turn = self._turns[member.id] = self._next_turn(len(self._turns))
        return (self._key_of(member.capability, member.load(now_s)), turn, member.version, member)

    def _mend(self, cluster: Cluster) -> None:
        """Push the present key of every worker that has changed since the last look."""
        now_s = cluster.clock.now_s()
        seen = self._seen
        heaps = self._heaps
        for member in cluster.newest_first():
            if member.version <= seen:
                break
            if not member.eligible():
                continue
            entry = None
            models = member.models
            for model in models if len(models) <= len(heaps) else heaps.keys() & models:
                heap = heaps.get(model)
                if heap is not None:
                    entry = entry or self._entry(member, now_s)
                    heappush(heap.entries, entry)
                    if len(heap.entries) > heap.limit:
                        heap.sweep()
                        self._turns = {id_: t for id_, t in self._turns.items() if id_ in cluster}
        self._seen = cluster.changes

    def _build(self, model: str, cluster: Cluster) -> _Heap:
        """Make the heap of a model; a model that nobody serves gets none to keep."""
        now_s = cluster.clock.now_s()
        serving = cluster.serving(model)
        heap = _Heap([self._entry(member, now_s) for member in serving if member.eligible()])
        if serving:
            self._heaps = {name: old for name, old in self._heaps.items() if cluster.serving(name)}
            self._heaps[model] = heap
        return heap
