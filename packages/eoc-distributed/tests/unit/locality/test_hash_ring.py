from __future__ import annotations

from collections import Counter

from eoc_distributed.locality import HashRing

WORKERS = [f"w{number}" for number in range(20)]
KEYS = [f"session {number}" for number in range(4000)]


def owners(ring: HashRing) -> dict[str, str]:
    return {key: next(ring.walk(key)) for key in KEYS}


def test_keys_are_spread() -> None:
    shares = Counter(owners(HashRing(WORKERS)).values())
    assert len(shares) == 20
    assert max(shares.values()) < 1.5 * len(KEYS) / 20


def test_a_worker_that_goes_moves_its_own_keys_and_no_other() -> None:
    ring = HashRing(WORKERS)
    before = owners(ring)
    ring.assign(WORKERS[1:])
    after = owners(ring)
    moved = {key for key in KEYS if before[key] != after[key]}
    assert moved == {key for key in KEYS if before[key] == "w0"}
    assert len({after[key] for key in moved}) > 5


def test_a_worker_that_comes_takes_keys_only_for_itself() -> None:
    ring = HashRing(WORKERS)
    before = owners(ring)
    ring.assign([*WORKERS, "fresh"])
    after = owners(ring)
    moved = {key for key in KEYS if before[key] != after[key]}
    assert {after[key] for key in moved} == {"fresh"}
    assert len(moved) < 2 * len(KEYS) / 21


def test_the_order_of_arrival_does_not_matter() -> None:
    grown = HashRing()
    for worker_id in reversed(WORKERS):
        grown.assign([*grown._ids, worker_id])
    assert owners(grown) == owners(HashRing(WORKERS))


def test_a_walk_names_every_worker_once() -> None:
    assert sorted(HashRing(WORKERS).walk("k")) == sorted(WORKERS)


def test_an_empty_ring_names_nobody() -> None:
    assert list(HashRing().walk("k")) == []
