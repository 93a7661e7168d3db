"""Sticky sessions: a request goes where its KV cache is, unless that worker has too much.

In this order:

1. The worker that holds the longest part of the prompt, by the hashes of its blocks, if
   that part is worth it. Of several the one with the fewest requests in flight.
2. The worker that served the session last; for a session that is not known, the one that
   consistent hashing names, so that several gateways agree without speaking.
3. What the inner router chooses, for all else.

Bounded loads: a worker with c times the mean of requests in flight is passed over, for the
next best holder or the next worker on the ring, where the session then stays. So a popular
prefix spreads before its worker becomes a hot spot. A worker with fewer than `calm` requests
is none, whatever the mean: with one or two requests on each worker, the bound alone would
tear sessions from caches that nobody else waits for.

What is remembered is bounded: sessions by a table that drops the one unused the longest,
blocks by the index. A worker that leaves, restarts (`forget`) or comes back under its old
id has nothing remembered.

Source: bounded loads as in `FleetView.bound`; longest prefix within a load bound as in the
prefix-aware routers of AIBrix and the Gateway API inference extension.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import count
from random import Random
from typing import ClassVar
from weakref import ReferenceType, ref

from eoc_distributed.cluster import Cluster
from eoc_distributed.member import Member
from eoc_distributed.request import Request
from eoc_distributed.routing.base import Router
from eoc_distributed.worker import Worker

from .fleet_view import FleetView
from .prefix_index import PrefixIndex

LOAD_FACTOR = 1.25
CALM = 4
MIN_MATCH = 0.1
MAX_SESSIONS = 100_000


class StickySessions:
    """Sends requests to their cache, and the others where an inner router says.

    Args:
        inner: Chooses for requests without a session or a cached prefix.
        rng: Breaks ties among holders.
        index: Who holds which prefix; one with default capacities if None.
        load_factor: Requests in flight that a worker may have to stay sticky, as a multiple
            of the mean; above 1.
        calm: Requests in flight below which a worker is sticky in any case, at least 1: the
            bound is never less.
        min_match: Share of the prompt's blocks that must be cached for a worker to be
            chosen by them, above 0 to 1.
        max_sessions: Sessions remembered, at least 1.

    Attributes:
        sticky: Requests sent to a worker for its cache or their session; counts up.
        spilled: Requests whose cache or session was on workers beyond the bound, or not
            eligible, and that were sent elsewhere; counts up.

    Raises:
        ValueError: An argument is out of its range.
    """

    name: ClassVar[str] = "sticky-sessions"

    def __init__(
        self,
        inner: Router,
        *,
        rng: Random,
        index: PrefixIndex | None = None,
        load_factor: float = LOAD_FACTOR,
        calm: int = CALM,
        min_match: float = MIN_MATCH,
        max_sessions: int = MAX_SESSIONS,
    ) -> None:
        if not load_factor > 1 or not 0 < min_match <= 1 or min(calm, max_sessions) < 1:
            raise ValueError(
                f"load_factor {load_factor} is above 1, min_match {min_match} above 0 to 1, "
                f"calm {calm} and max_sessions {max_sessions} at least 1"
            )
        self.sticky = 0
        self.spilled = 0
        self._inner = inner
        self._rng = rng
        self._index = index if index is not None else PrefixIndex()
        self._load_factor = load_factor
        self._calm = calm
        self._min_match = min_match
        self._max_sessions = max_sessions
        self._cluster: ReferenceType[Cluster] | None = None
        self._seen = 0
        self._views: dict[str, FleetView] = {}
        self._births = count()
        self._known: dict[str, tuple[Member, int]] = {}
        self._homes: OrderedDict[tuple[str, str], tuple[str, int]] = OrderedDict()

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        view = self._view(request.model, cluster)
        if view.usable == 0:
            return self._inner.choose(request, cluster)
        bound = max(self._calm, view.bound(self._load_factor))
        member = self._holder(request.prompt_blocks, view, bound)
        wanted = member is not None
        if member is None and request.session is not None:
            member, wanted = self._home((request.model, request.session), view, bound)
        if member is None:
            worker = self._inner.choose(request, cluster)
        else:
            worker = member.worker
            self.sticky += wanted
        if request.prompt_blocks:
            self._index.insert(worker.id, request.prompt_blocks)
        if request.session is not None and worker.id in self._known:
            self._remember((request.model, request.session), worker.id)
        return worker

    def forget(self, worker_id: str) -> None:
        """Forget what a worker held: it has restarted."""
        self._index.forget(worker_id)
        known = self._known.get(worker_id)
        if known is not None:
            self._known[worker_id] = (known[0], next(self._births))

    def _holder(self, blocks: tuple[int, ...], view: FleetView, bound: int) -> Member | None:
        """Return the worker with the longest cached prefix among those within the bound."""
        index = self._index
        depth = index.longest(blocks)
        least = max(1.0, self._min_match * len(blocks))
        if depth < least:
            return None
        looked_at = 0
        while depth >= least:
            holders = index.holders(blocks[depth - 1])
            if len(holders) > looked_at:
                # Holders of a longer prefix hold the shorter one too: only the rest is new.
                looked_at = len(holders)
                fitting = [m for m in (view.takes(id_, bound) for id_ in holders) if m is not None]
                if fitting:
                    return min(fitting, key=lambda m: (view.in_flight(m.id), self._rng.random()))
            depth -= 1
        self.spilled += 1
        return None

    def _home(
        self, key: tuple[str, str], view: FleetView, bound: int
    ) -> tuple[Member | None, bool]:
        """Return a session's worker, and whether it is the one that it had or hashes to."""
        home = self._homes.get(key)
        if home is not None and home[0] in self._known and self._known[home[0]][1] == home[1]:
            member = view.takes(home[0], bound)
            if member is not None:
                return member, True
        elif home is not None:
            del self._homes[key]
            home = None
        first = home is None
        for worker_id in view.ring.walk(key[1]):
            member = view.takes(worker_id, bound)
            if member is not None:
                self.spilled += not first
                return member, first
            first = False
        self.spilled += 1
        return None, False

    def _remember(self, key: tuple[str, str], worker_id: str) -> None:
        homes = self._homes
        homes[key] = (worker_id, self._known[worker_id][1])
        homes.move_to_end(key)
        if len(homes) > self._max_sessions:
            homes.popitem(last=False)

    def _view(self, model: str, cluster: Cluster) -> FleetView:
        """Return the fleet of a model, brought up to date by what has changed."""
        if self._cluster is None or self._cluster() is not cluster:
            self._start_with(cluster)
        views = self._views
        if self._seen != cluster.changes:
            for member in cluster.newest_first():
                if member.version <= self._seen:
                    break
                for name in views.keys() & member.models:
                    views[name].note(member)
            self._seen = cluster.changes
        serving = cluster.serving(model)
        view = views.get(model)
        if view is None:
            view = FleetView()
            if serving:
                self._views = {name: old for name, old in views.items() if cluster.serving(name)}
                self._views[model] = view
        if view.stale or len(view.members) != len(serving):
            view.rebuild(cluster, model)
            self._meet(view, cluster)
        return view

    def _start_with(self, cluster: Cluster) -> None:
        for worker_id in self._known:
            self._index.forget(worker_id)
        self._cluster = ref(cluster)
        self._seen = cluster.changes
        self._views = {}
        self._known.clear()
        self._homes.clear()

    def _meet(self, view: FleetView, cluster: Cluster) -> None:
        """Forget those that have gone, and those that came back as another worker."""
        for worker_id in [id_ for id_ in self._known if id_ not in cluster]:
            del self._known[worker_id]
            self._index.forget(worker_id)
        for worker_id, member in view.members.items():
            known = self._known.get(worker_id)
            if known is None or known[0] is not member:
                self._index.forget(worker_id)
                self._known[worker_id] = (member, next(self._births))
