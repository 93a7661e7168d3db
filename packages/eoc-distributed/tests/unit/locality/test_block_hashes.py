from __future__ import annotations

import pytest

from eoc_distributed.locality import block_hashes


def test_only_full_blocks_are_hashed() -> None:
    assert [len(block_hashes(b"x" * size, block_bytes=8)) for size in (0, 7, 8, 17)] == [0, 0, 1, 2]


def test_equal_hashes_mean_equal_prefixes() -> None:
    first = block_hashes(b"aaaabbbbcccc", block_bytes=4)
    second = block_hashes(b"aaaabbbbdddd", block_bytes=4)
    other = block_hashes(b"eeeebbbbcccc", block_bytes=4)
    assert first[:2] == second[:2]
    assert first[2] != second[2]
    assert not set(first) & set(other)


def test_the_salt_keeps_caches_apart() -> None:
    assert block_hashes(b"x" * 64, salt=b"a") != block_hashes(b"x" * 64, salt=b"b")


def test_hashes_do_not_change_between_processes() -> None:
    assert block_hashes(b"x" * 64) == (0x854B96150CF6E2F,)


def test_a_long_prompt_is_hashed_up_to_the_limit() -> None:
    assert len(block_hashes(b"x" * 1000, block_bytes=1, limit=10)) == 10
    assert block_hashes(b"x" * 1000, block_bytes=1, limit=0) == ()


def test_lengths_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        block_hashes(b"x", block_bytes=0)
