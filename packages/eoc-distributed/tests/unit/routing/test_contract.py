"""What every registered router must do."""

from __future__ import annotations

from collections import Counter, deque
from random import Random

import pytest

from eoc_distributed import Capability, Cluster, InMemoryWorker, Load, Request, Router
from eoc_distributed.clock import ManualClock
from eoc_distributed.cluster import Ticket
from eoc_distributed.errors import NoWorkerAvailable, UnknownModel, UnknownPlugin
from eoc_distributed.routing import DEFAULT, REGISTRY, create

REQUEST = Request(model="m", prompt_tokens=100)
LOAD = Load(0, 0, 50.0, 90.0, 100_000, 300.0)


@pytest.fixture(params=sorted(REGISTRY))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(name: str, seed: int = 1) -> Router:
    return create(name, rng=Random(seed), ttft_objective_ms=500.0)


def equals(count: int, *, concurrency: int = 100_000) -> Cluster:
    capability = Capability({"m"}, max_concurrency=concurrency)
    return Cluster(InMemoryWorker(f"w{index}", capability, LOAD) for index in range(count))


def test_router_knows_its_registered_name(name: str) -> None:
    assert make(name).name == name


def test_default_is_joule_weighted() -> None:
    assert DEFAULT == "joule-weighted"


def test_unknown_router_is_refused_with_the_known_names() -> None:
    with pytest.raises(UnknownPlugin, match="round-robin"):
        create("fastest", rng=Random(1))


def test_only_a_worker_that_serves_the_model_is_chosen(name: str) -> None:
    cluster = Cluster(
        [InMemoryWorker("other", Capability({"n"}), LOAD), InMemoryWorker("it", Capability({"m"}))]
    )
    router = make(name)
    assert {router.choose(REQUEST, cluster).id for _ in range(20)} == {"it"}


def test_unhealthy_draining_and_full_workers_are_passed_over(name: str) -> None:
    cluster = equals(4, concurrency=1)
    cluster.set_health("w0", healthy=False, reason="no answer")
    cluster.drain("w1")
    cluster.begin("w2")
    router = make(name)
    assert {router.choose(REQUEST, cluster).id for _ in range(20)} == {"w3"}


def test_a_worker_that_reports_itself_full_is_passed_over(name: str) -> None:
    cluster = equals(2, concurrency=3)
    cluster.observe("w0", Load(in_flight=3))
    router = make(name)
    assert {router.choose(REQUEST, cluster).id for _ in range(20)} == {"w1"}


def test_refusal_says_why_for_each_worker(name: str) -> None:
    cluster = equals(3, concurrency=1)
    cluster.add(InMemoryWorker("other", Capability({"n"})))
    cluster.set_health("w0", healthy=False, reason="connection refused")
    cluster.drain("w1")
    cluster.begin("w2")
    with pytest.raises(NoWorkerAvailable) as refused:
        make(name).choose(REQUEST, cluster)
    assert not isinstance(refused.value, UnknownModel)
    assert refused.value.reasons == {
        "w0": "unhealthy: connection refused",
        "w1": "draining",
        "w2": "full: 1 of 1 requests in flight",
        "other": "does not serve 'm'",
    }
    assert "connection refused" in str(refused.value)


def test_a_model_that_nobody_serves_is_told_apart(name: str) -> None:
    with pytest.raises(UnknownModel):
        make(name).choose(Request(model="ghost"), equals(2))


def test_an_empty_cluster_refuses(name: str) -> None:
    with pytest.raises(NoWorkerAvailable, match="the cluster is empty"):
        make(name).choose(REQUEST, Cluster())


def test_a_worker_comes_back_when_it_is_well_again(name: str) -> None:
    cluster = equals(1, concurrency=1)
    router = make(name)
    ticket = cluster.begin("w0")
    with pytest.raises(NoWorkerAvailable):
        router.choose(REQUEST, cluster)
    ticket.end()
    assert router.choose(REQUEST, cluster).id == "w0"
    cluster.set_health("w0", healthy=False)
    with pytest.raises(NoWorkerAvailable):
        router.choose(REQUEST, cluster)
    cluster.set_health("w0", healthy=True)
    assert router.choose(REQUEST, cluster).id == "w0"


def test_a_removed_worker_is_not_chosen_and_a_new_one_is(name: str) -> None:
    cluster = equals(1)
    router = make(name)
    assert router.choose(REQUEST, cluster).id == "w0"
    cluster.remove("w0")
    cluster.add(InMemoryWorker("fresh", Capability({"m"}), LOAD))
    assert router.choose(REQUEST, cluster).id == "fresh"


def test_same_seed_same_choices(name: str) -> None:
    def choices() -> list[str]:
        cluster, router = equals(7), make(name, seed=42)
        return [router.choose(REQUEST, cluster).id for _ in range(200)]

    assert choices() == choices()


@pytest.mark.parametrize("count", [2, 10, 100, 1_000])
@pytest.mark.parametrize("begin", [False, True], ids=["choose alone", "with requests begun"])
def test_no_herd_among_equals(name: str, count: int, begin: bool) -> None:
    cluster, router = equals(count), make(name)
    chosen: Counter[str] = Counter()
    for _ in range(10_000):
        worker = router.choose(REQUEST, cluster)
        chosen[worker.id] += 1
        if begin:
            cluster.begin(worker.id, tokens=100)
    assert max(chosen.values()) <= 1.5 * 10_000 / count
    assert len(chosen) == count


@pytest.mark.parametrize("name", sorted(REGISTRY.keys() - {"round-robin"}))
def test_two_gateways_do_not_march_in_step(name: str) -> None:
    ours, theirs = make(name, seed=1), make(name, seed=2)
    first, second = equals(50), equals(50)
    same = sum(
        ours.choose(REQUEST, first).id == theirs.choose(REQUEST, second).id for _ in range(500)
    )
    assert same < 100


def test_no_herd_among_equals_whose_requests_come_and_go(name: str) -> None:
    clock = ManualClock()
    capability = Capability({"m"}, max_concurrency=64)
    cluster = Cluster((InMemoryWorker(f"w{i}", capability) for i in range(10)), clock=clock)
    for member in cluster:
        cluster.observe(member.id, Load(micro_joules_per_token=5, g_co2e_per_kwh=300.0))
    router, rng = make(name), Random(3)
    chosen: Counter[str] = Counter()
    under_way: deque[Ticket] = deque()
    for _ in range(10_000):
        worker = router.choose(REQUEST, cluster)
        chosen[worker.id] += 1
        ticket = cluster.begin(worker.id, tokens=100)
        clock.advance(0.09 + 0.01 * rng.random())
        ticket.first_token()
        under_way.append(ticket)
        if len(under_way) > 5:
            under_way.popleft().end()
    assert max(chosen.values()) <= 1.5 * 10_000 / 10


def test_gateways_with_different_sources_do_not_begin_with_the_same_worker() -> None:
    first = {create(DEFAULT, rng=Random(seed)).choose(REQUEST, equals(20)).id for seed in range(30)}
    assert len(first) > 10


def test_a_replaced_worker_keeps_its_requests_and_serves_its_new_models(name: str) -> None:
    cluster = equals(1, concurrency=2)
    router = make(name)
    ticket = cluster.begin(router.choose(REQUEST, cluster).id)
    cluster.replace(InMemoryWorker("w0", Capability({"n"}, max_concurrency=1), LOAD))
    with pytest.raises(UnknownModel):
        router.choose(REQUEST, cluster)
    with pytest.raises(NoWorkerAvailable, match="full: 1 of 1"):
        router.choose(Request(model="n"), cluster)
    ticket.end()
    assert router.choose(Request(model="n"), cluster).id == "w0"


def test_one_router_can_change_its_cluster(name: str) -> None:
    router = make(name)
    assert router.choose(REQUEST, equals(1)).id == "w0"
    other = Cluster([InMemoryWorker("x", Capability({"m"}), LOAD)])
    assert router.choose(REQUEST, other).id == "x"
