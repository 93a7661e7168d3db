"""How much of a KV cache requests may be expected to fill, and how the engine's word moves it."""

from __future__ import annotations

import pytest

from eoc_distributed import Capability, Cluster, InMemoryWorker, Load
from eoc_distributed.cluster import Ticket
from eoc_distributed.member import KV_SHARE, KV_STRETCH

CAPACITY = 10_000
EACH = 100


def fleet() -> Cluster:
    worker = InMemoryWorker("w", Capability({"m"}, max_concurrency=10**6), Load(kv_tokens=CAPACITY))
    return Cluster([worker])


def fill(cluster: Cluster) -> list[Ticket]:
    """Begin requests until no more is allowed."""
    tickets = []
    while cluster["w"].eligible():
        tickets.append(cluster.begin("w", tokens=EACH // 2, answer_tokens=EACH // 2))
    return tickets


def tell(cluster: Cluster, usage: float | None) -> None:
    cluster.observe("w", Load(kv_tokens=CAPACITY, kv_usage=usage))


def test_without_a_word_of_the_engine_the_share_is_what_is_expected() -> None:
    cluster = fleet()
    assert len(fill(cluster)) == KV_SHARE * CAPACITY / EACH
    assert "KV cache full" in cluster.refusals("m")["w"]
    tell(cluster, None)
    assert not cluster["w"].eligible()


@pytest.mark.parametrize("shared", [0.5, 0.8, 1.0, 1.25, 2.0])
def test_the_limit_moves_until_the_engine_is_as_full_as_it_may_be(shared: float) -> None:
    cluster = fleet()
    for _ in range(30):
        tickets = fill(cluster)
        held = len(tickets) * EACH * shared
        tell(cluster, min(1.0, held / CAPACITY))
        for ticket in tickets:
            ticket.end()
    assert len(fill(cluster)) * EACH * shared == pytest.approx(KV_SHARE * CAPACITY, rel=0.03)


def test_the_limit_stays_within_its_bounds() -> None:
    cluster = fleet()
    for _ in range(50):
        tickets = fill(cluster)
        tell(cluster, 1e-9)
        for ticket in tickets:
            ticket.end()
    assert len(fill(cluster)) <= KV_STRETCH[1] * CAPACITY / EACH


def test_an_engine_with_little_to_do_says_nothing_of_how_full_it_gets() -> None:
    cluster = fleet()
    ticket = cluster.begin("w", tokens=EACH)
    for _ in range(50):
        tell(cluster, 0.5)
    ticket.end()
    assert len(fill(cluster)) == KV_SHARE * CAPACITY / EACH


def test_a_worker_without_work_takes_what_is_too_large() -> None:
    cluster = fleet()
    cluster.begin("w", tokens=50 * CAPACITY)
    assert not cluster["w"].eligible()


def test_a_usage_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        Load(kv_usage=-0.1)
