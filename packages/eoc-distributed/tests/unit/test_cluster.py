from __future__ import annotations

import gc
import weakref
from random import Random

import pytest

from eoc_distributed import (
    Capability,
    Cluster,
    InMemoryWorker,
    JouleWeighted,
    LeastBusy,
    Load,
    Quality,
    Request,
)
from eoc_distributed.clock import ManualClock
from eoc_distributed.errors import DuplicateWorker, UnknownWorker

ESTIMATED = Quality.ESTIMATED
LAG = 8.0
"""The percentiles are counted anew every eighth sample."""


def worker(worker_id: str, *, zone: str | None = None, load: Load | None = None) -> InMemoryWorker:
    return InMemoryWorker(worker_id, Capability({"m"}, max_concurrency=2, zone=zone), load)


def test_refuses_a_second_worker_of_the_same_id() -> None:
    cluster = Cluster([worker("a")])
    with pytest.raises(DuplicateWorker) as refused:
        cluster.add(worker("a"))
    assert refused.value.worker_id == "a"


@pytest.mark.parametrize("call", ["remove", "drain", "load_of", "begin"])
def test_refuses_an_id_that_is_not_here(call: str) -> None:
    with pytest.raises(UnknownWorker):
        getattr(Cluster(), call)("ghost")


def test_models_are_those_of_the_workers_that_are_here() -> None:
    cluster = Cluster([InMemoryWorker("a", Capability({"m", "n"})), worker("b")])
    assert set(cluster.models) == {"m", "n"}
    cluster.remove("a")
    assert set(cluster.models) == {"m"}
    assert [member.id for member in cluster.serving("m")] == ["b"]
    assert list(cluster.serving("n")) == []


def test_own_requests_count_at_once() -> None:
    cluster = Cluster([worker("a")])
    ticket = cluster.begin("a", tokens=100)
    assert cluster.load_of("a") == Load(in_flight=1, queued_tokens=100)
    ticket.end()
    assert cluster.load_of("a").idle()


def test_counts_are_the_larger_of_own_and_reported() -> None:
    cluster = Cluster([worker("a", load=Load(in_flight=1, queued_tokens=500))])
    cluster.begin("a", tokens=100)
    assert cluster.load_of("a") == Load(in_flight=1, queued_tokens=500)
    cluster.begin("a", tokens=700)
    assert cluster.load_of("a") == Load(in_flight=2, queued_tokens=800)


def test_first_token_takes_the_prompt_off_the_queue_and_gives_a_latency() -> None:
    clock = ManualClock()
    cluster = Cluster([worker("a")], clock=clock)
    ticket = cluster.begin("a", tokens=100)
    clock.advance(0.25)
    assert ticket.first_token() == 250.0
    load = cluster.load_of("a")
    assert (load.in_flight, load.queued_tokens) == (1, 0)
    assert (load.p50_latency_ms, load.p99_latency_ms) == (250.0, 250.0)


def test_a_ticket_ends_once() -> None:
    cluster = Cluster([worker("a")])
    first, second = cluster.begin("a", tokens=10), cluster.begin("a", tokens=20)
    first.end()
    first.end()
    first.first_token()
    assert cluster.load_of("a") == Load(in_flight=1, queued_tokens=20)
    second.first_token()
    second.first_token()
    second.end()
    assert (cluster["a"].in_flight, cluster["a"].queued_tokens) == (0, 0)


def test_a_reported_latency_wins_over_an_observed_one() -> None:
    cluster = Cluster([worker("a", load=Load(p50_latency_ms=7.0))], clock=ManualClock())
    cluster.begin("a").first_token()
    assert cluster.load_of("a").p50_latency_ms == 7.0


def test_old_latencies_are_forgotten() -> None:
    clock = ManualClock()
    cluster = Cluster([worker("a")], clock=clock)
    ticket = cluster.begin("a")
    clock.advance(9.0)
    ticket.first_token()
    clock.advance(60.1)
    assert cluster.load_of("a").p50_latency_ms is None


def test_percentiles_are_of_the_last_samples() -> None:
    clock = ManualClock()
    cluster = Cluster([InMemoryWorker("a", Capability({"m"}, max_concurrency=1000))], clock=clock)
    tickets = [cluster.begin("a") for _ in range(200)]
    for ticket in tickets:
        clock.advance(0.001)
        ticket.first_token()
    load = cluster.load_of("a")
    assert load.p50_latency_ms == pytest.approx(137.0, abs=LAG)
    assert load.p99_latency_ms == pytest.approx(199.0, abs=LAG)


def test_zone_intensity_fills_in_where_a_worker_reports_none() -> None:
    cluster = Cluster(
        [worker("a", zone="FR"), worker("b", zone="FR", load=Load(g_co2e_per_kwh=9.0)), worker("c")]
    )
    cluster.set_intensity("FR", 31.0)
    cluster.add(worker("late", zone="FR"))
    assert cluster.load_of("a").g_co2e_per_kwh == 31.0
    assert cluster.load_of("late").g_co2e_per_kwh == 31.0
    assert cluster.load_of("b").g_co2e_per_kwh == 9.0
    assert cluster.load_of("c").g_co2e_per_kwh is None


def test_members_come_by_their_last_change_each_once_newest_first() -> None:
    cluster = Cluster([worker("a"), worker("b"), worker("c")])
    before = cluster.changes
    cluster.drain("c")
    cluster.set_health("a", healthy=False, reason="no answer")
    cluster.drain("c", draining=False)
    order = list(cluster.newest_first())
    assert [member.id for member in order] == ["c", "a", "b"]
    assert [member.version > before for member in order] == [True, True, False]


def test_saying_what_is_so_already_is_no_change() -> None:
    cluster = Cluster([worker("a", zone="FR")])
    cluster.set_intensity("FR", 31.0)
    before = cluster.changes
    cluster.drain("a", draining=False)
    cluster.set_health("a", healthy=True)
    cluster.set_intensity("FR", 31.0)
    assert cluster.changes == before


def test_a_worker_that_does_not_tell_is_asked_by_refresh() -> None:
    class Quiet:
        id = "quiet"
        capability = Capability({"m"})
        load = Load()

    quiet = Quiet()
    cluster = Cluster([quiet])
    quiet.load = Load(in_flight=5)
    assert cluster.load_of("quiet").in_flight == 0
    cluster.refresh()
    assert cluster.load_of("quiet").in_flight == 5


def test_a_removed_worker_is_not_watched_and_its_tickets_may_end() -> None:
    gone = worker("a")
    cluster = Cluster([gone])
    ticket = cluster.begin("a")
    cluster.remove("a")
    before = cluster.changes
    gone.set_load(Load(in_flight=1))
    ticket.first_token()
    ticket.end()
    assert cluster.changes == before
    assert "a" not in cluster


def test_routers_do_not_keep_a_cluster_alive() -> None:
    router = JouleWeighted(rng=Random(1))
    cluster = Cluster([worker("a")])
    router.choose(Request(model="m"), cluster)
    reference = weakref.ref(cluster)
    del cluster
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("figure", [-1.0, float("nan"), float("inf")])
def test_an_intensity_that_cannot_be_is_refused(figure: float) -> None:
    cluster = Cluster([worker("a", zone="FR")])
    with pytest.raises(ValueError, match="at least 0 and finite"):
        cluster.set_intensity("FR", figure)
    assert cluster.load_of("a").g_co2e_per_kwh is None


def test_an_intensity_says_where_it_comes_from() -> None:
    cluster = Cluster(
        [worker("a", zone="FR"), worker("b", zone="FR", load=Load(g_co2e_per_kwh=9.0))]
    )
    cluster.set_intensity("FR", 31.0)
    assert cluster.load_of("a").carbon_quality is Quality.ESTIMATED
    assert cluster.load_of("b").carbon_quality is Quality.DECLARED


def test_a_worker_whose_capability_was_changed_can_be_removed() -> None:
    changed = worker("a")
    cluster = Cluster([changed])
    changed.capability = Capability({"other"})
    cluster.remove("a")
    assert list(cluster.serving("m")) == []
    assert len(cluster) == 0


def test_a_replaced_worker_counts_the_requests_under_way() -> None:
    cluster = Cluster([worker("a", zone="FR")])
    ticket = cluster.begin("a", tokens=10)
    fresh = worker("a", zone="PL")
    cluster.set_intensity("PL", 565.0)
    cluster.replace(fresh)
    assert cluster["a"].worker is fresh
    assert cluster.load_of("a") == Load(1, 10, g_co2e_per_kwh=565.0, carbon_quality=ESTIMATED)
    fresh.set_load(Load(in_flight=2))
    assert cluster.load_of("a").in_flight == 2
    ticket.end()
    assert cluster["a"].in_flight == 0


def test_clusters_that_are_gone_leave_nothing_on_a_worker() -> None:
    shared = worker("a")
    for _ in range(5):
        Cluster([shared])
    gc.collect()
    shared.set_load(Load())
    assert shared._listeners == []


def test_a_monstrous_estimate_of_tokens_is_bounded() -> None:
    cluster = Cluster([worker("a"), worker("b")])
    cluster.begin("a", tokens=10**400)
    assert LeastBusy(rng=Random(1)).choose(Request(model="m"), cluster).id == "b"
