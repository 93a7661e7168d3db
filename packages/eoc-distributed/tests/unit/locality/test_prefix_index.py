from __future__ import annotations

import pytest

from eoc_distributed.locality import PrefixIndex


def test_the_longest_prefix_of_each_worker_is_known() -> None:
    index = PrefixIndex()
    index.insert("a", [1, 2, 3])
    index.insert("b", [1, 2])
    assert index.longest([1, 2, 3, 4]) == 3
    assert (index.depth("a", [1, 2, 9]), index.depth("b", [1, 2, 3])) == (2, 2)
    assert index.holders(2) == {"a", "b"}
    assert index.holders(3) == {"a"}
    assert index.longest([7, 8, 9]) == 0
    assert index.depth("nobody", [1]) == 0


def test_the_tail_of_the_oldest_prompt_is_dropped_first() -> None:
    index = PrefixIndex(blocks_per_worker=4)
    index.insert("a", [1, 2, 3])
    index.insert("a", [1, 8])
    assert len(index) == 4
    index.insert("a", [1, 9])
    assert index.depth("a", [1, 2, 3]) == 2
    index.insert("a", [5, 6])
    assert index.depth("a", [1, 2, 3]) == 1


def test_a_restart_forgets_one_worker_only() -> None:
    index = PrefixIndex()
    index.insert("a", [1, 2])
    index.insert("b", [1])
    index.forget("a")
    index.forget("a")
    assert (index.longest([1, 2]), index.holders(1), len(index)) == (1, {"b"}, 1)


def test_a_prompt_longer_than_the_capacity_keeps_its_head() -> None:
    index = PrefixIndex(blocks_per_worker=3)
    index.insert("a", list(range(100)))
    assert index.depth("a", list(range(100))) == 3


def test_a_capacity_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        PrefixIndex(blocks_per_worker=0)
