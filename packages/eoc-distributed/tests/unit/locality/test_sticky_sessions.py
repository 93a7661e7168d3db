from __future__ import annotations

from collections import Counter, deque
from random import Random

import pytest

from eoc_distributed import Capability, Cluster, InMemoryWorker, LeastBusy, Load, Request
from eoc_distributed.cluster import Ticket
from eoc_distributed.errors import NoWorkerAvailable, UnknownModel
from eoc_distributed.locality import PrefixIndex, StickySessions


def fleet(count: int, *, concurrency: int = 1000) -> Cluster:
    capability = Capability({"m"}, max_concurrency=concurrency)
    return Cluster(InMemoryWorker(f"w{number}", capability) for number in range(count))


def sticky(**arguments: object) -> StickySessions:
    return StickySessions(LeastBusy(rng=Random(1)), rng=Random(2), **arguments)  # type: ignore[arg-type]


def ask(session: str | None = None, blocks: tuple[int, ...] = ()) -> Request:
    return Request(model="m", session=session, prompt_blocks=blocks)


def test_a_session_stays_with_its_worker() -> None:
    cluster, router = fleet(10), sticky()
    homes = {s: router.choose(ask(f"s{s}"), cluster).id for s in range(50)}
    for _ in range(3):
        assert {s: router.choose(ask(f"s{s}"), cluster).id for s in range(50)} == homes
    assert len(set(homes.values())) > 5


def test_two_gateways_agree_on_a_session_they_have_not_seen() -> None:
    cluster = fleet(10)
    ours, theirs = sticky(), sticky()
    for number in range(50):
        request = ask(f"s{number}")
        assert ours.choose(request, cluster) is theirs.choose(request, cluster)


def test_a_request_without_session_or_blocks_goes_where_the_inner_router_says() -> None:
    cluster, router = fleet(3), sticky()
    cluster.observe("w0", Load(in_flight=5))
    cluster.observe("w2", Load(in_flight=5))
    assert {router.choose(ask(), cluster).id for _ in range(5)} == {"w1"}


def test_a_prompt_goes_to_the_worker_with_its_longest_prefix() -> None:
    cluster, router = fleet(8), sticky()
    first = router.choose(ask(blocks=(1, 2, 3)), cluster).id
    assert router.choose(ask(blocks=(1, 2, 3, 4)), cluster).id == first
    assert router.choose(ask(blocks=(1, 2, 9)), cluster).id == first


def test_the_longest_prefix_wins_over_the_session() -> None:
    index = PrefixIndex()
    cluster, router = fleet(8), sticky(index=index)
    home = router.choose(ask("s"), cluster).id
    other = "w0" if home != "w0" else "w1"
    index.insert(other, [1, 2, 3])
    assert router.choose(ask("s", (1, 2, 3)), cluster).id == other


def test_a_match_below_the_share_is_not_worth_it() -> None:
    index = PrefixIndex()
    cluster, router = fleet(4), sticky(index=index, min_match=0.5)
    for number in range(4):
        cluster.observe(f"w{number}", Load(in_flight=1 if number == 2 else 9))
    router.choose(ask(), cluster)
    index.insert("w3", [1, 2])
    assert router.choose(ask(blocks=(1, 7, 8, 9)), cluster).id == "w2"


def test_of_several_holders_the_least_loaded_is_taken() -> None:
    index = PrefixIndex()
    cluster, router = fleet(4), sticky(index=index)
    router.choose(ask(), cluster)
    for worker_id, busy in (("w0", 3), ("w1", 1), ("w2", 2), ("w3", 2)):
        cluster.observe(worker_id, Load(in_flight=busy))
        if worker_id != "w3":
            index.insert(worker_id, [1, 2])
    assert router.choose(ask(blocks=(1, 2)), cluster).id == "w1"


def test_an_overloaded_worker_loses_its_session_which_then_stays_elsewhere() -> None:
    cluster, router = fleet(4), sticky()
    home = router.choose(ask("s"), cluster).id
    cluster.observe(home, Load(in_flight=8))
    moved = router.choose(ask("s"), cluster).id
    assert moved != home
    assert router.spilled == 1
    cluster.observe(home, Load(in_flight=0))
    assert router.choose(ask("s"), cluster).id == moved


def test_a_worker_with_few_requests_is_calm_whatever_the_mean() -> None:
    def moves(calm: int) -> bool:
        cluster, router = fleet(4), sticky(calm=calm)
        home = router.choose(ask("s"), cluster).id
        cluster.observe(home, Load(in_flight=2))
        return router.choose(ask("s"), cluster).id != home

    assert moves(1)
    assert not moves(3)


def test_an_overloaded_holder_yields_to_one_with_a_shorter_prefix() -> None:
    index = PrefixIndex()
    cluster, router = fleet(4), sticky(index=index)
    router.choose(ask(), cluster)
    index.insert("w0", [1, 2, 3, 4])
    index.insert("w1", [1, 2])
    assert router.choose(ask(blocks=(1, 2, 3, 4)), cluster).id == "w0"
    cluster.observe("w0", Load(in_flight=8))
    assert router.choose(ask(blocks=(1, 2, 3, 4)), cluster).id == "w1"


def test_a_hot_session_never_makes_a_hot_spot() -> None:
    cluster, router = fleet(8), sticky()
    for _ in range(400):
        before = sum(member.in_flight for member in cluster)
        worker = router.choose(ask("hot", (1, 2, 3)), cluster)
        cluster.begin(worker.id)
        most = max(member.in_flight for member in cluster)
        assert most <= max(4, -(-5 * (before + 1) // (4 * 8)))
    assert max(member.in_flight for member in cluster) <= 1.3 * 400 / 8


def test_popular_prefixes_are_shared_out_within_the_bound_and_mostly_hit() -> None:
    rng = Random(7)
    cluster, router = fleet(16), sticky()
    index = router._index
    open_tickets: deque[Ticket] = deque()
    hits = ideal = 0
    seen: set[int] = set()
    loads: Counter[str] = Counter()
    for _ in range(6000):
        document = min(int(rng.paretovariate(0.7)), 5000)
        blocks = tuple(document * 100 + depth for depth in range(10))
        cached_before = {member.id: index.depth(member.id, blocks) for member in cluster}
        worker = router.choose(ask(blocks=blocks), cluster)
        hits += cached_before[worker.id]
        ideal += 10 if document in seen else 0
        seen.add(document)
        loads[worker.id] += 1
        open_tickets.append(cluster.begin(worker.id))
        if len(open_tickets) > 320:
            open_tickets.popleft().end()
    assert hits >= 0.9 * ideal
    assert max(loads.values()) <= 1.3 * 6000 / 16


def test_a_fleet_change_moves_few_sessions() -> None:
    cluster, router = fleet(20), sticky(load_factor=100.0)
    before = {s: router.choose(ask(f"s{s}"), cluster).id for s in range(1000)}
    cluster.add(InMemoryWorker("fresh", Capability({"m"})))
    assert {s: router.choose(ask(f"s{s}"), cluster).id for s in range(1000)} == before
    cluster.remove("w3")
    after = {s: router.choose(ask(f"s{s}"), cluster).id for s in range(1000)}
    assert {s for s in after if after[s] != before[s]} == {s for s in after if before[s] == "w3"}


def test_a_restart_forgets_what_the_worker_held() -> None:
    cluster, router = fleet(4), sticky()
    first = router.choose(ask(blocks=(1, 2, 3)), cluster).id
    router.forget(first)
    assert router._index.longest([1, 2, 3]) == 0
    router.forget("nobody")


def test_a_worker_that_comes_back_under_its_old_id_has_no_cache() -> None:
    cluster, router = fleet(4), sticky()
    first = router.choose(ask("s", blocks=(1, 2, 3)), cluster).id
    router.choose(ask("s", blocks=(1, 2, 3)), cluster)
    cluster.remove(first)
    cluster.add(InMemoryWorker(first, Capability({"m"})))
    router.choose(ask("other"), cluster)
    assert router._index.depth(first, [1, 2, 3]) == 0


def test_ill_draining_and_full_workers_are_passed_over() -> None:
    cluster, router = fleet(3, concurrency=2), sticky(load_factor=50.0)
    home = router.choose(ask("s", (1, 2)), cluster).id
    others = {f"w{number}" for number in range(3)} - {home}
    cluster.set_health(home, healthy=False)
    assert router.choose(ask("s", (1, 2)), cluster).id in others
    cluster.set_health(home, healthy=True)
    cluster.drain(home)
    assert router.choose(ask("s", (1, 2)), cluster).id in others
    cluster.drain(home, draining=False)
    cluster.observe(home, Load(in_flight=2))
    assert router.choose(ask("s", (1, 2)), cluster).id in others


def test_refusals_are_those_of_the_inner_router() -> None:
    cluster, router = fleet(1, concurrency=1), sticky()
    with pytest.raises(UnknownModel):
        router.choose(Request(model="ghost", session="s"), cluster)
    cluster.begin("w0")
    with pytest.raises(NoWorkerAvailable) as refused:
        router.choose(ask("s", (1, 2)), cluster)
    assert refused.value.reasons == {"w0": "full: 1 of 1 requests in flight"}
    with pytest.raises(NoWorkerAvailable, match="the cluster is empty"):
        router.choose(ask("s"), Cluster())


def test_one_router_can_change_its_cluster() -> None:
    router = sticky()
    router.choose(ask("s", (1, 2)), fleet(3))
    other = Cluster([InMemoryWorker("x", Capability({"m"}))])
    assert router.choose(ask("s", (1, 2)), other).id == "x"


def test_what_is_remembered_is_bounded() -> None:
    cluster = fleet(4)
    router = sticky(max_sessions=100, index=PrefixIndex(blocks_per_worker=50))
    for number in range(2000):
        router.choose(ask(f"s{number}", (number, number + 10_000)), cluster)
        if number % 100 == 0:
            cluster.remove(f"w{number // 100}" if number < 400 else f"fresh{number - 400}")
            cluster.add(InMemoryWorker(f"fresh{number}", Capability({"m"})))
    assert len(router._homes) == 100
    assert len(router._index) <= 4 * 50
    assert len(router._known) <= 5


@pytest.mark.parametrize(
    "wrong", [{"load_factor": 1.0}, {"min_match": 0.0}, {"max_sessions": 0}, {"calm": 0}]
)
def test_arguments_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="load_factor"):
        sticky(**wrong)
