"""Which workers exist, how they are, and what has changed since a router looked.

Routers keep an order of the workers between requests and mend it where something changed,
so that no request walks the fleet. For that the cluster numbers its changes and keeps its
members in the order of their last change (`newest_first`): a look costs what has changed,
not what exists.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import cast
from weakref import ref

from .clock import Clock, SystemClock
from .errors import DuplicateWorker, UnknownWorker
from .member import Member
from .units import Quality
from .worker import Load, Watchable, Worker

MAX_TOKENS = 1 << 31
"""Most tokens that one request counts as; a hostile estimate must not outgrow a float."""


class Cluster:
    """The workers that one scheduler knows. Not for several threads.

    Args:
        workers: Workers to start with.
        clock: Where times to first token are read; the machine's by default.
    """

    def __init__(self, workers: Iterable[Worker] = (), *, clock: Clock | None = None) -> None:
        self.clock: Clock = clock if clock is not None else SystemClock()
        self.changes = 0
        """Number of the last change."""
        self._watchers: tuple[Callable[[Member], None], ...] = ()
        self._members: dict[str, Member] = {}
        self._by_change: dict[str, Member] = {}
        self._by_model: dict[str, dict[str, Member]] = {}
        self._intensity: dict[str, tuple[float, Quality]] = {}
        self._listeners: dict[str, _Listener] = {}
        for worker in workers:
            self.add(worker)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, worker_id: object) -> bool:
        return worker_id in self._members

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def __getitem__(self, worker_id: str) -> Member:
        try:
            return self._members[worker_id]
        except KeyError:
            raise UnknownWorker(worker_id) from None

    @property
    def models(self) -> Collection[str]:
        """Names of all models that some worker serves."""
        return self._by_model.keys()

    def serving(self, model: str) -> Collection[Member]:
        """Return the members that serve a model; empty if none does."""
        serving = self._by_model.get(model)
        return serving.values() if serving is not None else ()

    def add(self, worker: Worker) -> Member:
        """Take a worker in.

        Raises:
            DuplicateWorker: A worker of that id is here.
        """
        if worker.id in self._members:
            raise DuplicateWorker(worker.id)
        member = Member(worker)
        self._members[worker.id] = member
        self._settle(member)
        return member

    def replace(self, worker: Worker) -> Member:
        """Put a worker in the place of the one with its id; requests under way still count.

        Raises:
            UnknownWorker: None with that id is here.
        """
        member = self[worker.id]
        self._unsettle(member)
        member.be(worker)
        self._settle(member)
        return member

    def remove(self, worker_id: str) -> Worker:
        """Let a worker go; tickets on it may still end.

        Raises:
            UnknownWorker: It is not here.
        """
        member = self[worker_id]
        self._unsettle(member)
        del self._members[worker_id]
        del self._by_change[worker_id]
        self.changes += 1
        member.version = self.changes
        return member.worker

    def _settle(self, member: Member) -> None:
        """Enter what is known of a member's worker, and listen to it."""
        worker = member.worker
        for model in member.models:
            self._by_model.setdefault(model, {})[member.id] = member
        known = self._intensity.get(member.capability.zone or "")
        member.zone_g_per_kwh = None
        if known is not None:
            member.zone_g_per_kwh, member.zone_quality = known
        self.touch(member)
        if isinstance(worker, Watchable):
            listener = self._listeners[member.id] = _Listener(self, worker)
            worker.watch(listener)

    def _unsettle(self, member: Member) -> None:
        worker = member.worker
        for model in member.models:
            serving = self._by_model[model]
            del serving[member.id]
            if not serving:
                del self._by_model[model]
        listener = self._listeners.pop(member.id, None)
        if listener is not None and isinstance(worker, Watchable):
            worker.unwatch(listener)

    def drain(self, worker_id: str, *, draining: bool = True) -> None:
        """Give a worker no further requests, or take it back with `draining=False`."""
        member = self[worker_id]
        if member.draining != draining:
            member.draining = draining
            self.touch(member)

    def set_health(self, worker_id: str, *, healthy: bool, reason: str = "") -> None:
        """Say whether a worker may be given work, and why not."""
        member = self[worker_id]
        if member.healthy != healthy or member.unhealthy_reason != reason:
            member.healthy = healthy
            member.unhealthy_reason = "" if healthy else reason
            self.touch(member)

    def observe(self, worker_id: str, load: Load) -> None:
        """Take a worker's newest report of itself."""
        member = self[worker_id]
        member.report(load)
        self.touch(member)

    def refresh(self) -> None:
        """Ask every worker for its load; for workers that do not tell of changes."""
        for member in tuple(self._members.values()):
            self.observe(member.id, member.worker.load)

    def set_intensity(
        self, zone: str, g_per_kwh: float, *, quality: Quality = Quality.ESTIMATED
    ) -> None:
        """Set a zone's carbon intensity, gCO2e/kWh, for workers that report none.

        Raises:
            ValueError: It is negative or not finite.
        """
        if not 0 <= g_per_kwh < float("inf"):
            raise ValueError(f"an intensity is at least 0 and finite, not {g_per_kwh}")
        if self._intensity.get(zone) == (g_per_kwh, quality):
            return
        self._intensity[zone] = (g_per_kwh, quality)
        for member in tuple(self._members.values()):
            if member.capability.zone == zone:
                member.zone_g_per_kwh = g_per_kwh
                member.zone_quality = quality
                self.touch(member)

    def load_of(self, worker_id: str) -> Load:
        """Return a worker's load as routing sees it."""
        return self[worker_id].load(self.clock.now_s())

    def begin(self, worker_id: str, *, tokens: int = 0, answer_tokens: int = 0) -> Ticket:
        """Count one more request on a worker.

        Args:
            worker_id: Which worker.
            tokens: Tokens of the prompt; less than 0 counts as 0, and more than 2^31 as that.
            answer_tokens: Tokens that its answer is expected to have, likewise.
        """
        member = self._members.get(worker_id)
        if member is None:
            raise UnknownWorker(worker_id)
        prompt = min(max(0, tokens), MAX_TOKENS)
        kv_tokens = prompt + min(max(0, answer_tokens), MAX_TOKENS)
        ticket = Ticket(self, member, prompt, kv_tokens, self.clock.now_s())
        self.touch(member)
        return ticket

    def touch(self, member: Member) -> None:
        """Note that a member has changed."""
        if self._members.get(member.id) is not member:
            return
        self.changes += 1
        member.version = self.changes
        self._by_change.pop(member.id, None)
        self._by_change[member.id] = member
        for tell in self._watchers:
            tell(member)

    def watch(self, tell: Callable[[Member], None]) -> None:
        """Have each member that changes told of; `tell` must not raise. Once for each caller."""
        if tell not in self._watchers:
            self._watchers = (*self._watchers, tell)

    def unwatch(self, tell: Callable[[Member], None]) -> None:
        """Tell no more."""
        self._watchers = tuple(one for one in self._watchers if one != tell)

    def newest_first(self) -> Iterator[Member]:
        """Return the members by their last change, the newest first.

        Who has seen all changes up to number `n` reads until `member.version <= n`; so a
        look costs what has changed, not what exists.
        """
        return reversed(self._by_change.values())

    def refusals(self, model: str) -> dict[str, str]:
        """Say for each worker why it cannot take a request for a model; walks the fleet."""
        return {
            member.id: (member.refusal() or "eligible")
            if member.capability.serves(model)
            else f"does not serve {model!r}"
            for member in self._members.values()
        }


class Ticket:
    """One request on its way through a worker; ends exactly once."""

    __slots__ = (
        "_ahead",
        "_cluster",
        "_ended",
        "_kv_tokens",
        "_started_s",
        "member",
        "queued_tokens",
    )

    def __init__(
        self, cluster: Cluster, member: Member, tokens: int, kv_tokens: int, started_s: float
    ) -> None:
        self._cluster = cluster
        self._started_s = started_s
        self._ended = False
        self.member = member
        self.queued_tokens = tokens
        self._ahead = member.queued_tokens
        self._kv_tokens = kv_tokens
        member.in_flight += 1
        member.queued_tokens += tokens
        member.kv_reserved += kv_tokens

    def first_token(self) -> float:
        """Say that the first token has come; return the time it took, ms.

        Later calls change nothing but return the time since the start.
        """
        now_s = self._cluster.clock.now_s()
        ttft_ms = (now_s - self._started_s) * 1000.0
        if self.queued_tokens >= 0 and not self._ended:
            own = self.queued_tokens
            self.member.queued_tokens -= own
            self.queued_tokens = -1
            self.member.add_latency(now_s, ttft_ms, tokens=self._ahead + own, own=own)
            self._cluster.touch(self.member)
        return ttft_ms

    def end(self) -> None:
        """Say that the request has ended, in whatever way; later calls change nothing."""
        if self._ended:
            return
        self._ended = True
        self.member.in_flight -= 1
        self.member.kv_reserved -= self._kv_tokens
        if self.queued_tokens >= 0:
            self.member.queued_tokens -= self.queued_tokens
            self.queued_tokens = -1
        self._cluster.touch(self.member)


class _Listener:
    """Takes a worker's reports to its cluster, and keeps neither alive."""

    __slots__ = ("_cluster", "_worker", "_worker_id")

    def __init__(self, cluster: Cluster, worker: Watchable) -> None:
        self._cluster = ref(cluster)
        self._worker = ref(worker)
        self._worker_id = cast(Worker, worker).id

    def __call__(self, load: Load) -> None:
        cluster = self._cluster()
        if cluster is not None:
            cluster.observe(self._worker_id, load)
            return
        worker = self._worker()
        if worker is not None:
            worker.unwatch(self)
