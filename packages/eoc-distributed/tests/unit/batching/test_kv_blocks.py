"""The pool of blocks: what is found again, and what is evicted first."""

from __future__ import annotations

import pytest

from eoc_distributed.batching import KVBlockBudget


def cached_prefix(budget: KVBlockBudget, *hashes: int) -> None:
    """Let a sequence fill blocks with these hashes, and go."""
    assert budget.take(len(hashes))
    budget.release([budget.cache(block_hash) for block_hash in hashes], 0)


def found(budget: KVBlockBudget, *hashes: int) -> list[object]:
    return [block.hash for block in budget.lookup(hashes, limit=99)]


def test_tokens_are_rounded_up_to_blocks() -> None:
    budget = KVBlockBudget(blocks=8, block_size=16)
    assert [budget.blocks_for(tokens) for tokens in (0, 1, 16, 17)] == [0, 1, 1, 2]


def test_too_few_free_blocks_give_none_at_all() -> None:
    budget = KVBlockBudget(blocks=3)
    assert budget.take(2)
    assert not budget.take(2)
    assert budget.free == 1
    assert budget.usage() == pytest.approx(2 / 3)


def test_a_free_block_is_found_until_it_is_given_out() -> None:
    budget = KVBlockBudget(blocks=4)
    cached_prefix(budget, 1, 2)
    assert (budget.free, found(budget, 1, 2, 3)) == (4, [1, 2])
    assert budget.take(2)
    assert found(budget, 1, 2) == [1, 2]
    assert budget.take(1)
    assert found(budget, 1, 2) == [1]


def test_the_tail_of_a_prefix_is_evicted_before_its_head() -> None:
    budget = KVBlockBudget(blocks=3)
    cached_prefix(budget, 1, 2, 3)
    assert budget.take(1)
    assert found(budget, 1, 2, 3) == [1, 2]
    assert budget.take(1)
    assert found(budget, 1, 2, 3) == [1]


def test_the_prefix_used_last_is_evicted_last() -> None:
    budget = KVBlockBudget(blocks=2)
    cached_prefix(budget, 1)
    cached_prefix(budget, 2)
    hits = budget.lookup([1], limit=1)
    budget.share(hits)
    budget.release(hits, 0)
    assert budget.take(1)
    assert (found(budget, 1), found(budget, 2)) == ([1], [])


def test_a_shared_block_is_free_when_the_last_holder_has_gone() -> None:
    budget = KVBlockBudget(blocks=2)
    assert budget.take(1)
    mine = [budget.cache(1)]
    budget.share(budget.lookup([1], limit=1))
    assert (mine[0].references, budget.free) == (2, 1)
    budget.release(mine, 0)
    assert budget.free == 1
    budget.release(mine, 0)
    assert budget.free == 2


def test_a_chain_with_a_gap_ends_at_the_gap() -> None:
    budget = KVBlockBudget(blocks=4)
    cached_prefix(budget, 1)
    cached_prefix(budget, 3)
    assert found(budget, 1, 2, 3) == [1]
    assert budget.lookup([1, 2, 3], limit=0) == []


def test_of_two_blocks_with_one_hash_the_other_is_found_when_the_first_is_evicted() -> None:
    budget = KVBlockBudget(blocks=3)
    assert budget.take(2)
    first, second, third = [budget.cache(7)], [budget.cache(7)], None
    assert budget.lookup([7], limit=1) == first
    budget.release(first, 0)
    budget.release(second, 0)
    assert budget.take(2)
    assert budget.lookup([7], limit=1) == second
    assert budget.take(1)
    assert found(budget, 7) == []
    third = [budget.cache(7)]
    assert budget.lookup([7], limit=1) == third


def test_a_later_twin_can_be_evicted_before_the_first() -> None:
    budget = KVBlockBudget(blocks=2)
    assert budget.take(2)
    first, second = [budget.cache(7)], [budget.cache(7)]
    budget.release(second, 0)
    assert budget.take(1)
    assert budget.lookup([7], limit=1) == first
    budget.release(first, 0)
    assert budget.take(1)
    assert found(budget, 7) == []


def test_unhashed_blocks_keep_their_place_among_the_free() -> None:
    budget = KVBlockBudget(blocks=4)
    assert budget.take(3)
    budget.release([], 1)
    budget.release([budget.cache(1)], 1)
    # Free are, in this order: one never used, one unhashed, one unhashed, the hashed one.
    assert budget.take(3)
    assert found(budget, 1) == [1]
    assert budget.take(1)
    assert found(budget, 1) == []


def test_the_version_grows_when_waiting_may_be_over() -> None:
    budget = KVBlockBudget(blocks=4)
    start = budget.version
    budget.take(2)
    assert budget.version == start
    block = budget.cache(1)
    cached = budget.version
    assert cached > start
    budget.release([block], 1)
    assert budget.version > cached


@pytest.mark.parametrize("wrong", [{"blocks": 0}, {"block_size": 0}, {"watermark": 1.0}])
def test_arguments_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        KVBlockBudget(**{"blocks": 1, **wrong})  # type: ignore[arg-type]
