"""Requests that wait in the gateway while every worker is full."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from prometheus_client.parser import text_string_to_metric_families

from eoc_distributed import Capability, Cluster, InMemoryWorker, Load
from eoc_distributed.config import AdmissionConfig
from eoc_distributed.gateway import Gateway
from eoc_distributed.gateway.refusals import json_response
from eoc_distributed.http import HTTPRequest, HTTPResponse
from eoc_distributed.routing import create
from eoc_distributed.telemetry.record import RequestRecord

Task = asyncio.Task[HTTPResponse]
ANSWER = b'{"usage":{"prompt_tokens":2,"completion_tokens":3}}'


class Gated(InMemoryWorker):
    """Answers when it is let, in the order in which it was asked; one at a time by default."""

    def __init__(self, name: str, models: set[str], *, max_concurrency: int = 1) -> None:
        super().__init__(name, Capability(models, max_concurrency=max_concurrency), Load())
        self.asked: list[bytes] = []
        self.most = 0
        self._now = 0
        self._gates: list[asyncio.Event] = []

    async def serve(self, request: HTTPRequest) -> HTTPResponse:
        self.asked.append(request.body)
        gate = asyncio.Event()
        self._gates.append(gate)
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await gate.wait()
        finally:
            self._now -= 1
        return json_response(ANSWER)

    def let(self) -> None:
        """Let the oldest answer go."""
        self._gates.pop(0).set()

    def let_any(self) -> None:
        """Let the oldest answer go, if there is one."""
        if self._gates:
            self.let()


class Office:
    """A gateway whose requests run as tasks."""

    def __init__(
        self,
        *workers: Gated,
        waiting: int = 10,
        timeout_s: float = 30.0,
        cluster: Cluster | None = None,
    ) -> None:
        self.records: list[RequestRecord] = []
        self.gateway = Gateway(
            cluster if cluster is not None else Cluster(workers),
            new_router=lambda: create("least-busy", rng=Random(1)),
            on_record=self.records.append,
            admission=AdmissionConfig(waiting=waiting, timeout_s=timeout_s),
        )

    async def ask(self, name: str, model: str = "m") -> Task:
        body = b'{"model":"%s","user":"%s"}' % (model.encode(), name.encode())
        request = HTTPRequest("POST", "/v1/chat/completions", (), body)
        task = asyncio.ensure_future(self.gateway(request))
        await settle()
        return task

    @property
    def waiting(self) -> int:
        page = self.gateway.metrics.exposition().decode()
        families = {f.name: f for f in text_string_to_metric_families(page)}
        assert families["eoc_waiting_requests"].samples[0].value == self.gateway.admission.waiting
        return self.gateway.admission.waiting

    def empty(self) -> bool:
        """Whether nothing has been left behind."""
        cluster = self.gateway.cluster
        return (
            not self.gateway.admission.queues
            and self.waiting == 0
            and not cluster._watchers
            and all(member.in_flight == 0 for member in cluster)
        )


async def settle() -> None:
    """Let every task come as far as it gets."""
    for _ in range(20):
        await asyncio.sleep(0)


def users(worker: Gated) -> list[str]:
    return [body.decode().split('"user":"')[1][:-2] for body in worker.asked]


async def test_who_came_first_is_served_first_and_never_more_than_fit() -> None:
    worker = Gated("w", {"m"}, max_concurrency=2)
    office = Office(worker)
    tasks = [await office.ask(str(number)) for number in range(8)]
    assert office.waiting == 6
    while not all(task.done() for task in tasks):
        worker.let()
        await settle()
    assert [task.result().status for task in tasks] == [200] * 8
    assert users(worker) == [str(number) for number in range(8)]
    assert worker.most == 2
    assert office.empty()


async def test_a_newcomer_does_not_take_the_place_of_one_who_waits() -> None:
    worker = Gated("w", {"m"})
    office = Office(worker)
    first, second = await office.ask("first"), await office.ask("second")
    worker.let()
    await first
    third = await office.ask("third")
    for task in (second, third):
        await settle()
        worker.let()
        assert (await task).status == 200
    assert users(worker) == ["first", "second", "third"]
    assert office.empty()


async def test_more_than_may_wait_are_refused_at_once() -> None:
    worker = Gated("w", {"m"})
    office = Office(worker, waiting=1)
    first, second, third = [await office.ask(name) for name in "abc"]
    refused = await third
    assert (refused.status, refused.header(b"retry-after")) == (429, b"1")
    worker.let()
    await first
    await settle()
    worker.let()
    assert (await second).status == 200
    assert [record.status for record in office.records] == [429, 200, 200]
    assert office.empty()


async def test_a_wait_ends_with_its_time() -> None:
    worker = Gated("w", {"m"})
    office = Office(worker, timeout_s=0.01)
    first, second = await office.ask("a"), await office.ask("b")
    assert (await second).status == 429
    assert office.waiting == 0
    worker.let()
    assert (await first).status == 200
    assert office.empty()


async def test_a_client_that_goes_away_gives_up_its_wait() -> None:
    worker = Gated("w", {"m"})
    office = Office(worker)
    first, second, third = [await office.ask(name) for name in "abc"]
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert office.records[0].status == 499
    assert office.waiting == 1
    worker.let()
    await first
    await settle()
    worker.let()
    assert (await third).status == 200
    assert users(worker) == ["a", "c"]
    assert office.empty()


async def test_a_place_given_to_one_who_goes_away_goes_to_the_next() -> None:
    worker = Gated("w", {"m"})
    office = Office(worker)
    first, second, third = [await office.ask(name) for name in "abc"]
    worker.let()
    for _ in range(20):
        if len(office.gateway.admission.queues["m"]) == 1:
            break
        await asyncio.sleep(0)
    assert first.done()
    assert not second.done()
    second.cancel()  # the place is its own already, and it does not know yet
    await settle()
    assert second.cancelled()
    assert users(worker) == ["a", "c"]
    worker.let()
    assert (await third).status == 200
    assert office.empty()


async def test_models_do_not_wait_for_each_other() -> None:
    one, both = Gated("one", {"m"}), Gated("both", {"m", "n"})
    office = Office(one, both)
    first = [await office.ask("a"), await office.ask("b")]
    waits = [await office.ask("c", "n"), await office.ask("d", "m")]
    one.let()  # serves only m: the older request for n stays
    await settle()
    assert users(one) == [users(one)[0], "d"]
    assert office.waiting == 1
    both.let()
    await settle()
    assert users(both)[-1] == "c"
    for worker in (one, both):
        worker.let()
    assert [(await task).status for task in (*first, *waits)] == [200] * 4
    assert office.empty()


async def test_a_worker_that_joins_or_recovers_takes_those_who_wait() -> None:
    worker = Gated("w", {"m"})
    office = Office(worker)
    first, second, third = [await office.ask(name) for name in "abc"]
    newcomer = Gated("new", {"m"})
    office.gateway.cluster.add(newcomer)
    await settle()
    assert users(newcomer) == ["b"]
    office.gateway.cluster.set_health("w", healthy=False, reason="broken")
    worker.let()
    await first
    await settle()
    assert users(worker) == ["a"]
    office.gateway.cluster.set_health("w", healthy=True)
    await settle()
    assert users(worker) == ["a", "c"]
    worker.let()
    newcomer.let()
    assert [(await task).status for task in (second, third)] == [200, 200]
    assert office.empty()


async def test_nobody_waits_for_workers_that_are_not_well_or_a_model_that_is_unknown() -> None:
    worker = Gated("w", {"m"})
    office = Office(worker)
    office.gateway.cluster.set_health("w", healthy=False, reason="broken")
    assert (await (await office.ask("a"))).status == 503
    assert (await (await office.ask("a", "unknown"))).status == 404
    assert office.empty()


async def test_two_gateways_over_one_fleet_do_not_make_each_other_miss_a_place() -> None:
    worker = Gated("w", {"m"})
    one = Office(worker)
    two = Office(cluster=one.gateway.cluster)
    first, second = await one.ask("a"), await one.ask("b")
    third = await two.ask("c")
    third.cancel()  # the other gateway has nobody left who waits
    await settle()
    worker.let()
    await first
    await settle()
    assert users(worker) == ["a", "b"]
    worker.let()
    assert (await second).status == 200
    assert one.empty()
    assert two.empty()


async def test_with_no_room_to_wait_a_full_fleet_refuses() -> None:
    worker = Gated("w", {"m"})
    office = Office(worker, waiting=0)
    first = await office.ask("a")
    assert (await (await office.ask("b"))).status == 429
    worker.let()
    assert (await first).status == 200


async def play(office: Office, workers: list[Gated], rng: Random) -> list[Task]:
    """Let requests come, go away and be answered at random, and check every bound meanwhile."""
    tasks: list[Task] = []
    for step in range(600):
        roll = rng.random()
        if roll < 0.5:
            tasks.append(await office.ask(str(step), rng.choice("mn")))
        elif roll < 0.6 and tasks:
            rng.choice(tasks).cancel()
        else:
            rng.choice(workers).let_any()
        if rng.random() < 0.5:
            await asyncio.sleep(0)
        for worker in workers:
            member = office.gateway.cluster[worker.id]
            assert 0 <= member.in_flight <= member.max_concurrency
        assert 0 <= office.gateway.admission.waiting <= 12
    return tasks


@pytest.mark.parametrize("seed", range(5))
async def test_at_random_nothing_is_lost_overfilled_or_left_behind(seed: int) -> None:
    workers = [Gated(f"w{n}", {"m", "n"} if n else {"m"}, max_concurrency=n + 1) for n in range(3)]
    office = Office(*workers, waiting=12)
    tasks = await play(office, workers, Random(seed))
    while not all(task.done() for task in tasks):
        for worker in workers:
            worker.let_any()
        await settle()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    gone = sum(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
    statuses = {outcome.status for outcome in outcomes if isinstance(outcome, HTTPResponse)}
    assert gone > 0
    assert statuses == {200, 429}
    assert len(office.records) == len(tasks)
    assert office.empty()
