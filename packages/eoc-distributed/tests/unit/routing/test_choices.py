"""What tells one router from another."""

from __future__ import annotations

from collections import Counter
from random import Random

from eoc_distributed import (
    Capability,
    CarbonWeighted,
    Cluster,
    InMemoryWorker,
    JouleWeighted,
    LatencyWeighted,
    LeastBusy,
    Load,
    Request,
    RoundRobin,
    Router,
)
from eoc_distributed.routing.objective import predicted_ttft_ms

REQUEST = Request(model="m", prompt_tokens=100)


def choose(router: Router, **loads: Load) -> str:
    capability = Capability({"m"})
    cluster = Cluster(InMemoryWorker(name, capability, load) for name, load in loads.items())
    chosen = {router.choose(REQUEST, cluster).id for _ in range(10)}
    assert len(chosen) == 1
    return chosen.pop()


def test_round_robin_takes_strict_turns_in_the_order_of_arrival() -> None:
    cluster = Cluster(InMemoryWorker(name, Capability({"m"})) for name in "cab")
    router = RoundRobin()
    assert [router.choose(REQUEST, cluster).id for _ in range(6)] == list("cabcab")


def test_least_busy_weighs_requests_and_tokens() -> None:
    router = LeastBusy(rng=Random(1))
    assert choose(router, a=Load(in_flight=2), b=Load(queued_tokens=79)) == "b"
    assert choose(router, a=Load(in_flight=2), b=Load(queued_tokens=81)) == "a"


def test_latency_weighted_multiplies_latency_by_load() -> None:
    router = LatencyWeighted(rng=Random(1))
    assert choose(router, a=Load(0, 0, 100.0), b=Load(2, 0, 20.0)) == "b"
    assert choose(router, a=Load(0, 0, 100.0), b=Load(5, 0, 20.0)) == "a"


def test_latency_weighted_does_not_follow_differences_that_are_chance() -> None:
    rng = Random(7)
    capability = Capability({"m"})
    loads = {f"w{i}": Load(0, 0, rng.uniform(85.0, 105.0)) for i in range(10)}
    cluster = Cluster(InMemoryWorker(name, capability, load) for name, load in loads.items())
    router = LatencyWeighted(rng=rng)
    chosen = Counter(router.choose(REQUEST, cluster).id for _ in range(10_000))
    assert max(chosen.values()) <= 1.5 * 1_000


def test_latency_weighted_gives_an_idle_newcomer_one_request_and_waits_for_its_answer() -> None:
    router = LatencyWeighted(rng=Random(1))
    assert choose(router, quick=Load(0, 0, 20.0), fresh=Load()) == "fresh"
    assert choose(router, quick=Load(9, 0, 20.0), fresh=Load(in_flight=1)) == "quick"
    assert choose(router, slow=Load(0, 0, 1500.0), fresh=Load(in_flight=1)) == "fresh"


def test_joule_weighted_takes_the_least_energy_whatever_the_load() -> None:
    router = JouleWeighted(rng=Random(1))
    assert choose(router, a=Load(200, 0, None, None, 70_000), b=Load(0, 0, 1, 1, 70_001)) == "a"


def test_carbon_weighted_multiplies_energy_by_intensity() -> None:
    router = CarbonWeighted(rng=Random(1))
    thrifty_dirty = Load(micro_joules_per_token=100_000, g_co2e_per_kwh=565.0)
    hungry_clean = Load(micro_joules_per_token=400_000, g_co2e_per_kwh=31.0)
    assert choose(router, a=thrifty_dirty, b=hungry_clean) == "b"
    assert choose(JouleWeighted(rng=Random(1)), a=thrifty_dirty, b=hungry_clean) == "a"


def test_missing_energy_comes_after_known_energy() -> None:
    hungry = Load(micro_joules_per_token=9_000_000, g_co2e_per_kwh=700.0)
    assert choose(JouleWeighted(rng=Random(1)), known=hungry, unknown=Load()) == "known"
    assert choose(CarbonWeighted(rng=Random(1)), known=hungry, unknown=Load()) == "known"


def test_missing_intensity_comes_after_known_carbon() -> None:
    router = CarbonWeighted(rng=Random(1))
    known = Load(micro_joules_per_token=9_000_000, g_co2e_per_kwh=700.0)
    assert choose(router, known=known, unknown=Load(micro_joules_per_token=1)) == "known"


def test_among_missing_figures_the_least_busy_is_taken() -> None:
    router = JouleWeighted(rng=Random(1))
    assert choose(router, a=Load(in_flight=3), b=Load(in_flight=2)) == "b"


def test_objective_drops_the_thrifty_worker_that_would_be_late() -> None:
    late = Load(0, 0, 600.0, 800.0, 10, 10.0)
    quick = Load(0, 0, 90.0, 100.0, 500, 500.0)
    for router in (JouleWeighted, CarbonWeighted):
        assert choose(router(rng=Random(1)), late=late, quick=quick) == "late"
        held = router(rng=Random(1), ttft_objective_ms=500.0)
        assert choose(held, late=late, quick=quick) == "quick"


def test_objective_counts_what_is_queued_in_front() -> None:
    router = JouleWeighted(rng=Random(1), ttft_objective_ms=500.0)
    thrifty = Load(0, 5_000, 100.0, 100.0, 10, prefill_tokens_per_s=10_000.0)
    hungry = Load(0, 0, 100.0, 100.0, 500, prefill_tokens_per_s=10_000.0)
    assert choose(router, thrifty=thrifty, hungry=hungry) == "hungry"


def test_when_all_would_be_late_the_fastest_is_taken() -> None:
    router = JouleWeighted(rng=Random(1), ttft_objective_ms=50.0)
    assert choose(router, a=Load(0, 0, 70, 90.0, 10), b=Load(0, 0, 60, 80.0, 500)) == "b"


def test_a_worker_of_unknown_latency_is_not_dropped() -> None:
    router = JouleWeighted(rng=Random(1), ttft_objective_ms=50.0)
    assert choose(router, a=Load(micro_joules_per_token=1), b=Load(0, 0, 1.0, 1.0, 500)) == "a"


def test_predicted_ttft_to_the_digit() -> None:
    assert predicted_ttft_ms(Load()) is None
    assert predicted_ttft_ms(Load(p50_latency_ms=80.0)) == 80.0
    assert predicted_ttft_ms(Load(p50_latency_ms=80.0, p99_latency_ms=300.0)) == 300.0
    queued = Load(queued_tokens=2_500, p50_latency_ms=80.0, prefill_tokens_per_s=10_000.0)
    assert predicted_ttft_ms(queued) == 80.0 + 250.0
