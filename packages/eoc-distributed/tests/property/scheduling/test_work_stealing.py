"""Any history of requests, failures and thefts keeps the scheduler's promises."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from eoc_distributed import Capability, Cluster, InMemoryWorker, LeastBusy, Load, Request
from eoc_distributed.clock import ManualClock
from eoc_distributed.errors import NoWorkerAvailable, QueueFull
from eoc_distributed.scheduling import (
    Constraints,
    QueuedRequest,
    Status,
    StealingPolicy,
    WorkStealingScheduler,
)

IDS = [f"w{index}" for index in range(4)]
POLICY = StealingPolicy(worker_limit=5, total_limit=12, service_s=1.0)


class Stealing(RuleBasedStateMachine):
    """Exactly once, on one worker, on a well one, in the session's order, and all counted."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.cluster = Cluster(clock=ManualClock())
        self.scheduler = WorkStealingScheduler(
            self.cluster, LeastBusy(rng=Random(1)), policy=POLICY
        )
        self.all: list[QueuedRequest] = []
        self.running: list[QueuedRequest] = []
        self.starts: Counter[int] = Counter()
        self.given_back: Counter[int] = Counter()
        self.told: Counter[int] = Counter()

    @rule(
        worker_id=st.sampled_from(IDS),
        models=st.sampled_from(["m", "n", "mn"]),
        slots=st.integers(1, 3),
        zone=st.sampled_from(["FR", "PL"]),
    )
    def add(self, worker_id: str, models: str, slots: int, zone: str) -> None:
        if worker_id not in self.cluster:
            capability = Capability(set(models), max_concurrency=slots, zone=zone)
            self.cluster.add(InMemoryWorker(worker_id, capability))

    @rule(worker_id=st.sampled_from(IDS))
    def remove(self, worker_id: str) -> None:
        if worker_id in self.cluster:
            self.cluster.remove(worker_id)

    @rule(worker_id=st.sampled_from(IDS), healthy=st.booleans(), draining=st.booleans())
    def judge(self, worker_id: str, healthy: bool, draining: bool) -> None:
        if worker_id in self.cluster:
            self.cluster.set_health(worker_id, healthy=healthy)
            self.cluster.drain(worker_id, draining=draining)

    @rule(worker_id=st.sampled_from(IDS), in_flight=st.integers(0, 3))
    def report(self, worker_id: str, in_flight: int) -> None:
        if worker_id in self.cluster:
            self.cluster.observe(worker_id, Load(in_flight=in_flight))

    @rule(
        model=st.sampled_from(["m", "n"]),
        session=st.sampled_from([None, None, "s", "t"]),
        tenant=st.sampled_from(["a", "b"]),
        priority=st.integers(0, 2),
        patience_s=st.sampled_from([None, None, 0.0, 5.0]),
        zones=st.sampled_from([None, None, frozenset({"FR"})]),
    )
    def submit(
        self,
        model: str,
        session: str | None,
        tenant: str,
        priority: int,
        patience_s: float | None,
        zones: frozenset[str] | None,
    ) -> None:
        queued = None
        retry_after_s = 1.0
        try:
            queued = self.scheduler.submit(
                Request(model=model, prompt_tokens=10, session=session),
                now_s=self.now_s,
                tenant=tenant,
                priority=priority,
                deadline_s=None if patience_s is None else self.now_s + patience_s,
                constraints=Constraints(zones=zones),
            )
        except NoWorkerAvailable:
            pass
        except QueueFull as refused:
            retry_after_s = refused.retry_after_s
        assert 0 < retry_after_s <= POLICY.max_retry_after_s
        if queued is not None:
            assert queued.status is Status.WAITING
            self.all.append(queued)

    @rule(which=st.integers(0, 100))
    def cancel(self, which: int) -> None:
        if self.all:
            queued = self.all[which % len(self.all)]
            waiting = queued.status is Status.WAITING
            assert self.scheduler.cancel(queued) == waiting
            assert (queued.status is Status.CANCELLED) or not waiting

    @rule(which=st.integers(0, 100), tokens=st.integers(0, 50))
    def finish(self, which: int, tokens: int) -> None:
        if self.running:
            queued = self.running.pop(which % len(self.running))
            self.scheduler.finish(queued, now_s=self.now_s, answer_tokens=tokens)
            assert queued.status is Status.FINISHED

    @rule(which=st.integers(0, 100))
    def give_back(self, which: int) -> None:
        if self.running:
            queued = self.running.pop(which % len(self.running))
            try:
                self.scheduler.give_back(queued)
            except NoWorkerAvailable:
                assert queued.status is Status.FINISHED
                return
            assert queued.status is Status.WAITING
            self.given_back[queued.number] += 1

    @rule(seconds=st.sampled_from([0.0, 0.5, 3.0, 10.0]))
    def dispatch(self, seconds: float) -> None:
        self.now_s += seconds
        waiting = [queued for queued in self.all if queued.status is Status.WAITING]
        done = self.scheduler.dispatch(self.now_s)
        for queued in done.started:
            self.starts[queued.number] += 1
            member = self.cluster[queued.worker_id]
            assert member.healthy
            assert not member.draining
            assert queued.may_run_on(member)
            assert queued.ticket is not None
            assert queued.ticket.member is member
            assert queued.deadline_s is None or queued.deadline_s >= self.now_s
        for queued in (*done.expired, *done.shed):
            self.told[queued.number] += 1
        for queued in done.expired:
            assert queued.status is Status.EXPIRED
            assert queued.deadline_s is not None
            assert queued.deadline_s < self.now_s
        self.running.extend(done.started)
        self.sessions_are_in_order(waiting, list(done.started))
        for queued in self.all:
            if queued.status is Status.WAITING and queued.worker_id in self.cluster:
                assert not self.cluster[queued.worker_id].eligible()

    def sessions_are_in_order(
        self, waiting: list[QueuedRequest], started: list[QueuedRequest]
    ) -> None:
        for queued in started:
            if queued.request.session is None:
                continue
            key = (queued.tenant, queued.request, queued.constraints)
            mates = [w for w in waiting if (w.tenant, w.request, w.constraints) == key]
            older = [mate for mate in mates if mate.number < queued.number]
            position = started.index(queued)
            for mate in older:
                left = mate.status in {Status.EXPIRED, Status.SHED}
                assert left or mate in started[:position]

    @invariant()
    def counts_are_conserved(self) -> None:
        statuses = Counter(queued.status for queued in self.all)
        assert statuses[Status.WAITING] == self.scheduler.waiting
        assert statuses[Status.RUNNING] == self.scheduler.running == len(self.running)
        lengths = Counter(q.worker_id for q in self.all if q.status is Status.WAITING)
        assert all(self.scheduler.queue_length(id_) == n for id_, n in lengths.items())
        assert self.scheduler._busy.keys() == lengths.keys()
        held = [q for queue in self.scheduler._placement.queues.values() for q in queue.waiting()]
        assert len(held) == len(set(held)) == self.scheduler.waiting
        in_lines = sum(map(len, self.scheduler._lines._lines.values()))
        assert in_lines == sum(queued.request.session is not None for queued in held)

    @invariant()
    def each_starts_once_for_each_time_it_waits(self) -> None:
        for queued in self.all:
            starts = self.starts[queued.number]
            assert starts == queued.attempts
            assert starts <= 1 + self.given_back[queued.number]
            if queued.status is Status.RUNNING:
                assert starts == 1 + self.given_back[queued.number]

    @invariant()
    def tickets_are_those_of_running_requests(self) -> None:
        mine = Counter(q.worker_id for q in self.running if q.ticket is not None)
        assert sum(mine.values()) == len(self.running)
        for member in self.cluster:
            tickets = [q.ticket for q in self.running if q.ticket is not None]
            assert member.in_flight == sum(ticket.member is member for ticket in tickets)

    def teardown(self) -> None:
        """With well workers for everything, everything that waits is started or told late."""
        for member in self.cluster:
            self.cluster.observe(member.id, Load())
            self.cluster.set_health(member.id, healthy=True)
            self.cluster.drain(member.id, draining=False)
        self.cluster.add(
            InMemoryWorker("last", Capability({"m", "n"}, max_concurrency=1, zone="FR"))
        )
        for _ in range(200):
            self.dispatch(1.0)
            while self.running:
                self.scheduler.finish(self.running.pop(), now_s=self.now_s)
        assert self.scheduler.waiting == 0
        assert self.scheduler.running == 0
        for queued in self.all:
            ended = queued.status in {Status.EXPIRED, Status.SHED}
            assert self.told[queued.number] == (1 if ended else 0)


TestStealing = Stealing.TestCase
TestStealing.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
