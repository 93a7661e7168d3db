from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import ClassVar

import pytest

from eoc_distributed import (
    Accelerator,
    Capability,
    Cluster,
    InMemoryWorker,
    LeastBusy,
    Request,
    RoundRobin,
    Worker,
)
from eoc_distributed.errors import NoWorkerAvailable, QueueFull, UnknownModel, WaitTooLong
from eoc_distributed.locality import PrefixIndex
from eoc_distributed.scheduling import (
    Constraints,
    PrefixLoss,
    QueuedRequest,
    Status,
    StealingPolicy,
    WorkStealingScheduler,
)


class To:
    """Sends everything to one worker, full or not."""

    name: ClassVar[str] = "to"

    def __init__(self, worker_id: str) -> None:
        self.worker_id = worker_id

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        return cluster[self.worker_id].worker


def fleet(count: int = 2, *, slots: int = 1, models: Sequence[str] = ("m",)) -> Cluster:
    capability = Capability(models, max_concurrency=slots)
    return Cluster(InMemoryWorker(f"w{number}", capability) for number in range(count))


def ask(model: str = "m", session: str | None = None, **fields: int) -> Request:
    return Request(model=model, prompt_tokens=fields.get("tokens", 100), session=session)


def full(cluster: Cluster, *ids: str) -> None:
    for worker_id in ids:
        for _ in range(cluster[worker_id].max_concurrency):
            cluster.begin(worker_id)


def where(entries: Sequence[QueuedRequest]) -> list[tuple[int, str]]:
    return [(queued.number, queued.worker_id) for queued in entries]


def test_a_request_starts_on_the_worker_that_the_router_chooses() -> None:
    cluster = fleet(2)
    scheduler = WorkStealingScheduler(cluster, To("w1"))
    queued = scheduler.submit(ask(), now_s=0.0)
    assert (queued.status, queued.worker_id, scheduler.waiting) == (Status.WAITING, "w1", 1)
    assert scheduler.dispatch(0.0).started == (queued,)
    assert (queued.status, queued.attempts, queued.started_s) == (Status.RUNNING, 1, 0.0)
    assert cluster["w1"].in_flight == 1
    scheduler.finish(queued, now_s=3.0)
    scheduler.finish(queued, now_s=3.0)
    assert (queued.status, cluster["w1"].in_flight, scheduler.running) == (Status.FINISHED, 0, 0)


def test_what_finds_no_slot_waits_for_the_shortest_queue() -> None:
    cluster = fleet(2)
    scheduler = WorkStealingScheduler(cluster, LeastBusy(rng=Random(1)))
    full(cluster, "w0", "w1")
    homes = {scheduler.submit(ask(), now_s=0.0).worker_id for _ in range(2)}
    assert homes == {"w0", "w1"}
    assert scheduler.dispatch(0.0).started == ()


def test_an_idle_worker_takes_from_the_tail_and_at_most_half() -> None:
    cluster = fleet(2, slots=4)
    full(cluster, "w0", "w1")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    for _ in range(6):
        scheduler.submit(ask(), now_s=0.0)
    assert scheduler.dispatch(0.0).started == ()
    cluster.remove("w1")
    cluster.add(InMemoryWorker("w1", Capability({"m"}, max_concurrency=4)))
    round_ = scheduler.dispatch(1.0)
    assert where(round_.started) == [(6, "w1"), (5, "w1"), (4, "w1")]
    assert {queued.stolen_from for queued in round_.started} == {"w0"}
    assert (scheduler.stolen, scheduler.queue_length("w0")) == (3, 3)


def test_the_longest_wait_is_relieved_first() -> None:
    cluster = fleet(3)
    full(cluster, "w0", "w1", "w2")
    router = To("w0")
    scheduler = WorkStealingScheduler(cluster, router)
    scheduler.submit(ask(), now_s=0.0)
    router.worker_id = "w1"
    for _ in range(3):
        scheduler.submit(ask(), now_s=0.0)
    cluster.remove("w2")
    cluster.add(InMemoryWorker("w2", Capability({"m"}, max_concurrency=1)))
    assert where(scheduler.dispatch(0.0).started) == [(4, "w2")]


def test_only_what_the_thief_can_serve_is_stolen() -> None:
    cluster = Cluster(
        [
            InMemoryWorker("w0", Capability({"m", "n"}, max_concurrency=1, zone="FR")),
            InMemoryWorker("w1", Capability({"n"}, max_concurrency=9, zone="FR")),
            InMemoryWorker("w2", Capability({"m"}, Accelerator.CPU, max_concurrency=9, zone="PL")),
        ]
    )
    full(cluster, "w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    french = Constraints(zones={"FR"})
    only_gpu = Constraints(accelerators={Accelerator.GPU})
    pinned = Constraints(worker_id="w0")
    for constraints in (french, only_gpu, pinned):
        scheduler.submit(ask("m"), now_s=0.0, constraints=constraints)
    assert scheduler.dispatch(0.0).started == ()
    n = scheduler.submit(ask("n"), now_s=0.0, constraints=french)
    m = scheduler.submit(ask("m"), now_s=0.0)
    assert set(scheduler.dispatch(0.0).started) == {n, m}
    assert (n.worker_id, m.worker_id) == ("w1", "w2")


def test_what_would_gain_less_than_the_move_costs_stays() -> None:
    def stolen(prefill_tokens_per_s: float) -> int:
        index = PrefixIndex()
        index.insert("w0", [1, 2, 3, 4])
        cluster = fleet(2)
        full(cluster, "w0")
        scheduler = WorkStealingScheduler(
            cluster,
            To("w0"),
            policy=StealingPolicy(service_s=2.0),
            move_cost=PrefixLoss(
                index, tokens_per_block=512, prefill_tokens_per_s=prefill_tokens_per_s
            ),
        )
        scheduler.submit(Request(model="m", prompt_blocks=(1, 2, 3, 4)), now_s=0.0)
        scheduler.dispatch(0.0)
        return scheduler.stolen

    # The wait is 2 s; reading 4 x 512 tokens again takes 0.2 s, or 4.1 s.
    assert stolen(10_000.0) == 1
    assert stolen(500.0) == 0


def test_a_session_starts_in_its_order_though_thieves_prefer_the_tail() -> None:
    cluster = fleet(2, slots=1)
    full(cluster, "w0", "w1")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    entries = [scheduler.submit(ask(session="s"), now_s=0.0) for _ in range(4)]
    cluster.remove("w1")
    cluster.add(InMemoryWorker("w1", Capability({"m"}, max_concurrency=9)))
    assert scheduler.dispatch(0.0).started == (entries[0], entries[1])
    assert scheduler.dispatch(0.0).started == (entries[2],)


def test_a_later_request_of_a_session_is_not_more_urgent_than_the_one_before() -> None:
    cluster = fleet(1)
    full(cluster, "w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    scheduler.submit(ask(session="s"), now_s=0.0, priority=5)
    assert scheduler.submit(ask(session="s"), now_s=0.0, priority=1).priority == 5
    assert scheduler.submit(ask(session="t"), now_s=0.0, priority=1).priority == 1
    assert scheduler.submit(ask("m", "s"), now_s=0.0, tenant="other", priority=1).priority == 1


def test_the_urgent_come_first_and_tenants_take_turns() -> None:
    cluster = fleet(1)
    ticket = cluster.begin("w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    heavy = [scheduler.submit(ask(tokens=1000), now_s=0.0, tenant="heavy") for _ in range(3)]
    light = [scheduler.submit(ask(tokens=100), now_s=0.0, tenant="light") for _ in range(3)]
    urgent = scheduler.submit(ask(), now_s=0.0, tenant="heavy", priority=-1)
    ticket.end()
    order = []
    for second in range(7):
        (queued,) = scheduler.dispatch(float(second)).started
        order.append(queued)
        scheduler.finish(queued, now_s=second + 0.5)
    # heavy pays for its urgent request, so light is served until it has caught up.
    assert order == [urgent, *light[:1], heavy[0], *light[1:], heavy[1], heavy[2]]


def test_full_queues_push_back_with_a_time_to_come_again() -> None:
    cluster = fleet(1)
    full(cluster, "w0")
    policy = StealingPolicy(worker_limit=2, service_s=4.0)
    scheduler = WorkStealingScheduler(cluster, To("w0"), policy=policy)
    for _ in range(2):
        scheduler.submit(ask(), now_s=0.0)
    with pytest.raises(QueueFull) as refused:
        scheduler.submit(ask(), now_s=0.0)
    assert (refused.value.limit, refused.value.retry_after_s) == (2, 12.0)
    assert refused.value.retryable
    assert scheduler.waiting == 2


def test_a_full_queue_is_passed_over_for_one_with_room() -> None:
    cluster = fleet(2)
    full(cluster, "w0", "w1")
    scheduler = WorkStealingScheduler(cluster, To("w0"), policy=StealingPolicy(worker_limit=1))
    assert [scheduler.submit(ask(), now_s=0.0).worker_id for _ in range(2)] == ["w0", "w1"]


def test_of_many_full_workers_a_random_few_are_compared() -> None:
    cluster = fleet(200)
    full(cluster, *(member.id for member in cluster))
    scheduler = WorkStealingScheduler(cluster, LeastBusy(rng=Random(1)), rng=Random(2))
    for _ in range(1000):
        scheduler.submit(ask(), now_s=0.0)
    lengths = [scheduler.queue_length(member.id) for member in cluster]
    assert sum(lengths) == 1000
    assert max(lengths) <= 7


def test_a_random_few_without_room_do_not_refuse() -> None:
    cluster = fleet(40)
    full(cluster, *(member.id for member in cluster))
    policy = StealingPolicy(worker_limit=1)
    scheduler = WorkStealingScheduler(
        cluster, LeastBusy(rng=Random(1)), policy=policy, rng=Random(2)
    )
    homes = {scheduler.submit(ask(), now_s=0.0).worker_id for _ in range(40)}
    assert len(homes) == 40
    with pytest.raises(QueueFull):
        scheduler.submit(ask(), now_s=0.0)


def test_the_total_is_bounded_too() -> None:
    cluster = fleet(2)
    full(cluster, "w0", "w1")
    scheduler = WorkStealingScheduler(cluster, RoundRobin(), policy=StealingPolicy(total_limit=3))
    for _ in range(3):
        scheduler.submit(ask(), now_s=0.0)
    with pytest.raises(QueueFull, match="3 wait already"):
        scheduler.submit(ask(), now_s=0.0)


def test_a_more_urgent_request_takes_the_place_of_the_least_urgent() -> None:
    cluster = fleet(1)
    full(cluster, "w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"), policy=StealingPolicy(worker_limit=2))
    old = scheduler.submit(ask(), now_s=0.0, priority=3)
    newer = scheduler.submit(ask(), now_s=0.0, priority=3)
    urgent = scheduler.submit(ask(), now_s=0.0, priority=1)
    assert scheduler.dispatch(0.0).shed == (newer,)
    assert scheduler.dispatch(0.0).shed == ()
    statuses = [queued.status for queued in (old, newer, urgent)]
    assert statuses == [Status.WAITING, Status.SHED, Status.WAITING]
    assert scheduler.waiting == 2


def test_a_deadline_that_cannot_be_met_is_refused_at_once() -> None:
    cluster = fleet(1)
    full(cluster, "w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"), policy=StealingPolicy(service_s=5.0))
    with pytest.raises(WaitTooLong) as refused:
        scheduler.submit(ask(), now_s=100.0, deadline_s=104.0)
    assert refused.value.predicted_wait_s == 5.0
    assert scheduler.submit(ask(), now_s=100.0, deadline_s=106.0).status is Status.WAITING


def test_what_is_late_does_not_start() -> None:
    cluster = fleet(1)
    ticket = cluster.begin("w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    late = scheduler.submit(ask(), now_s=0.0, deadline_s=10.0)
    patient = scheduler.submit(ask(), now_s=0.0)
    ticket.end()
    round_ = scheduler.dispatch(11.0)
    assert (round_.started, round_.expired) == ((patient,), (late,))
    assert late.status is Status.EXPIRED


def test_what_is_late_makes_room() -> None:
    cluster = fleet(1)
    full(cluster, "w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"), policy=StealingPolicy(worker_limit=1))
    late = scheduler.submit(ask(), now_s=0.0, deadline_s=10.0)
    scheduler.submit(ask(), now_s=11.0)
    assert scheduler.dispatch(11.0).expired == (late,)
    assert scheduler.waiting == 1


def test_a_cancelled_request_is_skipped_and_a_running_one_is_left_to_its_caller() -> None:
    cluster = fleet(1)
    ticket = cluster.begin("w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    first, second = (scheduler.submit(ask(), now_s=0.0) for _ in range(2))
    assert scheduler.cancel(first)
    assert not scheduler.cancel(first)
    assert scheduler.waiting == 1
    ticket.end()
    assert scheduler.dispatch(0.0).started == (second,)
    assert not scheduler.cancel(second)
    scheduler.finish(second, now_s=1.0)
    assert first.status is Status.CANCELLED


def test_a_stolen_request_keeps_its_handle_its_cancel_and_its_accounting() -> None:
    cluster = fleet(2)
    full(cluster, "w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    queued = scheduler.submit(ask(tokens=40), now_s=0.0, tenant="t")
    (started,) = scheduler.dispatch(0.0).started
    assert started is queued
    assert (queued.worker_id, queued.stolen_from) == ("w1", "w0")
    assert (cluster["w1"].in_flight, cluster["w1"].queued_tokens) == (1, 40)
    assert queued.ticket is not None
    scheduler.finish(queued, now_s=1.0, answer_tokens=10)
    assert cluster["w1"].in_flight == 0
    assert scheduler._counters.served("t") == 60.0


def test_many_cancelled_entries_are_not_kept() -> None:
    cluster = fleet(1)
    full(cluster, "w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    scheduler.submit(ask(), now_s=0.0)
    for _ in range(1000):
        scheduler.cancel(scheduler.submit(ask(session="s"), now_s=0.0))
    held = [
        q
        for c in scheduler._placement.queues["w0"]._classes.values()
        for line in c.values()
        for q in line
    ]
    assert len(held) < 100
    assert scheduler._lines._lines == {}


def test_workers_that_come_and_go_are_not_kept() -> None:
    cluster = fleet(1)
    scheduler = WorkStealingScheduler(cluster, LeastBusy(rng=Random(1)))
    for number in range(500):
        cluster.add(InMemoryWorker(f"fresh{number}", Capability({"m"})))
        scheduler.submit(ask(), now_s=0.0)
        for queued in scheduler.dispatch(0.0).started:
            scheduler.finish(queued, now_s=1.0)
        cluster.remove(f"fresh{number}")
        scheduler.dispatch(1.0)
    assert len(scheduler._placement.queues) < 100
    assert len(scheduler._members) < 100
    assert len(scheduler._idle) < 100


def test_the_queue_of_a_worker_that_fails_moves_to_the_front_in_order() -> None:
    cluster = fleet(2)
    full(cluster, "w0", "w1")
    router = To("w0")
    scheduler = WorkStealingScheduler(cluster, router)
    moved = [scheduler.submit(ask(), now_s=0.0) for _ in range(3)]
    router.worker_id = "w1"
    own = scheduler.submit(ask(), now_s=0.0)
    cluster.set_health("w0", healthy=False)
    assert scheduler.dispatch(0.0).started == ()
    assert scheduler.queue_length("w0") == 0
    cluster.remove("w1")
    cluster.add(InMemoryWorker("w1", Capability({"m"}, max_concurrency=9)))
    assert scheduler.dispatch(0.0).started == (*moved, own)


@pytest.mark.parametrize("how", ["ill", "drained", "removed"])
def test_nothing_is_lost_when_the_only_worker_goes(how: str) -> None:
    cluster = fleet(1)
    full(cluster, "w0")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    entries = [scheduler.submit(ask(session="s"), now_s=0.0) for _ in range(3)]
    if how == "ill":
        cluster.set_health("w0", healthy=False)
    elif how == "drained":
        cluster.drain("w0")
    else:
        cluster.remove("w0")
    assert scheduler.dispatch(0.0).started == ()
    assert scheduler.waiting == 3
    cluster.add(InMemoryWorker("fresh", Capability({"m"}, max_concurrency=9)))
    assert scheduler.dispatch(0.0).started == tuple(entries)
    assert {queued.worker_id for queued in entries} == {"fresh"}


def test_a_request_whose_worker_failed_waits_again_before_the_others() -> None:
    cluster = fleet(2)
    full(cluster, "w1")
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    first = scheduler.submit(ask(session="s"), now_s=0.0)
    second = scheduler.submit(ask(session="s"), now_s=0.0)
    scheduler.dispatch(0.0)
    cluster.set_health("w0", healthy=False)
    scheduler.give_back(first)
    scheduler.give_back(first)
    assert (first.status, scheduler.waiting, scheduler.running) == (Status.WAITING, 2, 0)
    scheduler.dispatch(0.0)
    cluster.add(InMemoryWorker("w2", Capability({"m"}, max_concurrency=1)))
    started = scheduler.dispatch(1.0).started
    assert started == (first,)
    assert (first.attempts, second.status) == (2, Status.WAITING)


def test_giving_back_to_nobody_says_so() -> None:
    cluster = fleet(1)
    scheduler = WorkStealingScheduler(cluster, To("w0"))
    queued = scheduler.submit(ask(), now_s=0.0)
    scheduler.dispatch(0.0)
    cluster.set_health("w0", healthy=False)
    with pytest.raises(NoWorkerAvailable):
        scheduler.give_back(queued)
    assert (queued.status, scheduler.running, scheduler.waiting) == (Status.FINISHED, 0, 0)


def test_models_that_nobody_serves_and_constraints_that_nobody_meets_are_refused() -> None:
    cluster = fleet(1)
    scheduler = WorkStealingScheduler(cluster, LeastBusy(rng=Random(1)))
    with pytest.raises(UnknownModel):
        scheduler.submit(ask("ghost"), now_s=0.0)
    with pytest.raises(NoWorkerAvailable):
        scheduler.submit(ask(), now_s=0.0, constraints=Constraints(zones={"FR"}))
    with pytest.raises(TypeError, match="zones"):
        Constraints(zones="FR")


def test_stealing_shortens_the_waits_that_uneven_requests_cause() -> None:
    def waits(min_gain_s: float) -> list[float]:
        rng = Random(11)
        cluster = fleet(8, slots=1)
        scheduler = WorkStealingScheduler(
            cluster,
            RoundRobinFullOrNot([member.id for member in cluster]),
            policy=StealingPolicy(min_gain_s=min_gain_s, service_s=1.0),
        )
        waited: list[float] = []
        ends: list[tuple[float, int, QueuedRequest]] = []
        arrivals = [(n / 6.4, rng.choice([0.2, 0.2, 0.2, 0.2, 4.2])) for n in range(2000)]
        service: dict[int, float] = {}
        for at_s, length_s in arrivals:
            while ends and min(ends)[0] <= at_s:
                ends.sort()
                end_s, _, done = ends.pop(0)
                scheduler.finish(done, now_s=end_s)
                for queued in scheduler.dispatch(end_s).started:
                    waited.append(end_s - queued.submitted_s)
                    ends.append((end_s + service[queued.number], queued.number, queued))
            queued = scheduler.submit(ask(), now_s=at_s)
            service[queued.number] = length_s
            for started in scheduler.dispatch(at_s).started:
                waited.append(at_s - started.submitted_s)
                ends.append((at_s + service[started.number], started.number, started))
        return sorted(waited)

    with_stealing, without = waits(0.05), waits(1e9)
    assert with_stealing[len(with_stealing) * 99 // 100] < 0.5 * without[len(without) * 99 // 100]


class RoundRobinFullOrNot:
    """Strict turns that look at nobody's load."""

    name: ClassVar[str] = "turns"

    def __init__(self, ids: list[str]) -> None:
        self._ids = ids
        self._turn = 0

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        self._turn += 1
        return cluster[self._ids[self._turn % len(self._ids)]].worker


@pytest.mark.parametrize("wrong", [{"worker_limit": 0}, {"min_gain_s": 0.0}, {"service_s": -1.0}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="are"):
        StealingPolicy(**wrong)  # type: ignore[arg-type]
