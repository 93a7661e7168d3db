"""The mended order against an oracle that sorts the whole fleet."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from eoc_distributed import Capability, Cluster, InMemoryWorker, JouleWeighted, Load, Request
from eoc_distributed.clock import ManualClock
from eoc_distributed.cluster import Ticket
from eoc_distributed.errors import NoWorkerAvailable
from eoc_distributed.routing import create
from eoc_distributed.routing.ranking import _SLACK

IDS = [f"w{index}" for index in range(6)]
MODELS = ["m", "n"]
figures = st.one_of(st.none(), st.integers(0, 3))


class Mended(RuleBasedStateMachine):
    """Any history of the fleet leaves each router choosing what a full sort would choose."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster(clock=ManualClock())
        self.router = JouleWeighted(rng=Random(1))
        self.busy = create("least-busy", rng=Random(2))
        self.tickets: list[Ticket] = []

    @rule(worker_id=st.sampled_from(IDS), models=st.sets(st.sampled_from(MODELS), min_size=1))
    def add(self, worker_id: str, models: set[str]) -> None:
        if worker_id not in self.cluster:
            self.cluster.add(InMemoryWorker(worker_id, Capability(models, max_concurrency=2)))

    @rule(worker_id=st.sampled_from(IDS))
    def remove(self, worker_id: str) -> None:
        if worker_id in self.cluster:
            self.cluster.remove(worker_id)

    @rule(worker_id=st.sampled_from(IDS), in_flight=st.integers(0, 2), energy=figures)
    def report(self, worker_id: str, in_flight: int, energy: int | None) -> None:
        if worker_id in self.cluster:
            load = Load(in_flight=in_flight, micro_joules_per_token=energy)
            self.cluster.observe(worker_id, load)

    @rule(worker_id=st.sampled_from(IDS), healthy=st.booleans(), draining=st.booleans())
    def judge(self, worker_id: str, healthy: bool, draining: bool) -> None:
        if worker_id in self.cluster:
            self.cluster.set_health(worker_id, healthy=healthy)
            self.cluster.drain(worker_id, draining=draining)

    @rule(which=st.integers(0, 50))
    def end(self, which: int) -> None:
        if self.tickets:
            self.tickets.pop(which % len(self.tickets)).end()

    @rule(model=st.sampled_from(MODELS))
    def choose_by_energy(self, model: str) -> None:
        def energy(load: Load) -> tuple[int, float]:
            if load.micro_joules_per_token is None:
                return (1, load.busyness())
            return (0, load.micro_joules_per_token)

        eligible = self._eligible(model)
        try:
            chosen = self.router.choose(Request(model=model), self.cluster).id
        except NoWorkerAvailable:
            assert not eligible
            return
        assert energy(eligible[chosen]) == min(map(energy, eligible.values()))
        self.tickets.append(self.cluster.begin(chosen, tokens=10))

    @rule(model=st.sampled_from(MODELS))
    def choose_by_busyness(self, model: str) -> None:
        eligible = self._eligible(model)
        try:
            chosen = self.busy.choose(Request(model=model), self.cluster).id
        except NoWorkerAvailable:
            assert not eligible
            return
        assert eligible[chosen].busyness() == min(load.busyness() for load in eligible.values())

    @invariant()
    def counts_are_those_of_open_tickets(self) -> None:
        for member in self.cluster:
            mine = [ticket for ticket in self.tickets if ticket.member is member]
            assert member.in_flight == len(mine)
            assert member.queued_tokens == 10 * len(mine)

    def _eligible(self, model: str) -> dict[str, Load]:
        return {
            member.id: self.cluster.load_of(member.id)
            for member in self.cluster
            if member.capability.serves(model) and member.refusal() is None
        }


TestMended = Mended.TestCase
TestMended.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@given(st.integers(1, 5), st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_what_a_ranking_holds_is_bounded_by_the_fleet(workers: int, seed: int) -> None:
    rng = Random(seed)
    cluster = Cluster(InMemoryWorker(f"w{i}", Capability({"m"})) for i in range(workers))
    router = JouleWeighted(rng=rng)
    for step in range(2_000):
        worker_id = router.choose(Request(model="m"), cluster).id
        cluster.observe(worker_id, Load(micro_joules_per_token=rng.randrange(100)))
        if step % 50 == 0:
            cluster.remove(worker_id)
            cluster.add(InMemoryWorker(f"fresh{step}", Capability({"m"})))
    ranking = router._ranking
    assert len(ranking._heaps["m"].entries) <= 2 * (2 * workers + _SLACK)
    assert len(ranking._turns) <= 4 * (workers + _SLACK)
