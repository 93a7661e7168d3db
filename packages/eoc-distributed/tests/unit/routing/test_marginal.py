from __future__ import annotations

from random import Random

from eoc_distributed.cluster import Cluster
from eoc_distributed.request import Request
from eoc_distributed.routing import create
from eoc_distributed.routing.marginal import next_token_micro_joules
from eoc_distributed.worker import Capability, InMemoryWorker, Load


def worker(
    name: str, *, marginal: float, opening: float, g_per_kwh: float = 100.0
) -> InMemoryWorker:
    load = Load(
        marginal_micro_joules_per_token=marginal,
        opening_micro_joules_per_token=opening,
        g_co2e_per_kwh=g_per_kwh,
    )
    return InMemoryWorker(name, Capability({"m"}, max_concurrency=8), load)


REQUEST = Request(model="m", prompt_tokens=10)


def test_the_price_of_a_worker_without_work_has_the_opening_in_it() -> None:
    load = Load(marginal_micro_joules_per_token=2.0, opening_micro_joules_per_token=30.0)
    assert next_token_micro_joules(load) == 32.0
    busy = Load(1, 0, marginal_micro_joules_per_token=2.0, opening_micro_joules_per_token=30.0)
    assert next_token_micro_joules(busy) == 2.0
    assert next_token_micro_joules(Load()) is None


def test_requests_gather_on_one_worker_until_it_is_full() -> None:
    cluster = Cluster([worker(f"w{n}", marginal=2.0, opening=30.0) for n in range(4)])
    router = create("marginal-joules", rng=Random(1))
    chosen = []
    for _ in range(12):
        chosen.append(router.choose(REQUEST, cluster).id)
        cluster.begin(chosen[-1])
    assert len(set(chosen[:8])) == 1
    assert len(set(chosen[8:])) == 1
    assert chosen[8] != chosen[0]


def test_a_thrifty_worker_is_opened_rather_than_a_dear_one_widened() -> None:
    cluster = Cluster(
        [worker("dear", marginal=50.0, opening=10.0), worker("thrifty", marginal=5.0, opening=30.0)]
    )
    cluster.begin("dear")
    assert create("marginal-joules", rng=Random(1)).choose(REQUEST, cluster).id == "thrifty"


def test_carbon_weighs_the_price_by_the_place() -> None:
    cluster = Cluster(
        [
            worker("coal", marginal=5.0, opening=30.0, g_per_kwh=700),
            worker("hydro", marginal=20.0, opening=60.0, g_per_kwh=20),
        ]
    )
    assert create("marginal-joules", rng=Random(1)).choose(REQUEST, cluster).id == "coal"
    assert create("marginal-carbon", rng=Random(1)).choose(REQUEST, cluster).id == "hydro"


def test_a_worker_whose_price_is_missing_comes_last() -> None:
    blank = InMemoryWorker("blank", Capability({"m"}), Load())
    cluster = Cluster([blank, worker("known", marginal=1e6, opening=1e6)])
    for name in ("marginal-joules", "marginal-carbon"):
        assert create(name, rng=Random(1)).choose(REQUEST, cluster).id == "known"


def test_a_full_kv_cache_takes_no_more() -> None:
    full = InMemoryWorker("full", Capability({"m"}), Load(kv_tokens=1000))
    roomy = InMemoryWorker("roomy", Capability({"m"}), Load(kv_tokens=100_000))
    cluster = Cluster([full, roomy])
    first = cluster.begin("full", tokens=800, answer_tokens=200)
    router = create("round-robin", rng=Random(1))
    assert {router.choose(REQUEST, cluster).id for _ in range(4)} == {"roomy"}
    assert cluster.refusals("m")["full"] == "KV cache full: 1000 tokens expected, 900 allowed"
    first.end()
    assert {router.choose(REQUEST, cluster).id for _ in range(4)} == {"full", "roomy"}
