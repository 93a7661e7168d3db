"""Which workers hold which prefix: a bounded guess at their KV caches.

The hashes of a prompt's blocks are chained, so a hash stands for a whole prefix and the
radix tree of all prompts is a plain table from hash to workers. For each worker the
hashes are kept in the order of their last use, a prompt's last block first, and the oldest
is dropped beyond the worker's capacity: the order in which engines evict. So a worker that
is known for a block is known for all blocks before it, and the longest match is found by
bisection.

The guess errs where the engine evicts for other reasons; a wrong guess costs a prefill.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence, Set as AbstractSet

BLOCKS_PER_WORKER = 31_250
"""Default capacity: half a million tokens in blocks of 16, an 8B model on 80 GB."""
MAX_PREFIX_BLOCKS = 2048
"""Blocks of one prompt that are remembered."""

_NOBODY: AbstractSet[str] = frozenset()


class PrefixIndex:
    """Prefixes of many prompts on many workers.

    Args:
        blocks_per_worker: Blocks remembered for each worker, at least 1.

    Raises:
        ValueError: The capacity is below 1.
    """

    def __init__(self, *, blocks_per_worker: int = BLOCKS_PER_WORKER) -> None:
        if blocks_per_worker < 1:
            raise ValueError(f"blocks_per_worker is at least 1, not {blocks_per_worker}")
        self._capacity = blocks_per_worker
        self._used: dict[str, OrderedDict[int, None]] = {}
        self._holders: dict[int, set[str]] = {}

    def __len__(self) -> int:
        """Return the blocks remembered, each once for each of its workers."""
        return sum(map(len, self._used.values()))

    def insert(self, worker_id: str, hashes: Sequence[int]) -> None:
        """Note that a worker reads, or has read, a prompt with these blocks."""
        used = self._used.get(worker_id)
        if used is None:
            used = self._used[worker_id] = OrderedDict()
        holders = self._holders
        for block_hash in reversed(hashes[:MAX_PREFIX_BLOCKS]):
            if block_hash in used:
                used.move_to_end(block_hash)
                continue
            used[block_hash] = None
            known = holders.get(block_hash)
            if known is None:
                holders[block_hash] = {worker_id}
            else:
                known.add(worker_id)
        while len(used) > self._capacity:
            oldest, _ = used.popitem(last=False)
            self._drop(oldest, worker_id)

    def forget(self, worker_id: str) -> None:
        """Forget all of a worker, which has restarted or gone."""
        for block_hash in self._used.pop(worker_id, ()):
            self._drop(block_hash, worker_id)

    def depth(self, worker_id: str, hashes: Sequence[int]) -> int:
        """Return how many blocks of the prompt, from its start, a worker holds."""
        used = self._used.get(worker_id)
        if not used:
            return 0
        low, high = 0, min(len(hashes), MAX_PREFIX_BLOCKS)
        while low < high:
            middle = (low + high) // 2
            if hashes[middle] in used:
                low = middle + 1
            else:
                high = middle
        return low

    def longest(self, hashes: Sequence[int]) -> int:
        """Return how many blocks of the prompt, from its start, some worker holds."""
        holders = self._holders
        low, high = 0, min(len(hashes), MAX_PREFIX_BLOCKS)
        while low < high:
            middle = (low + high) // 2
            if hashes[middle] in holders:
                low = middle + 1
            else:
                high = middle
        return low

    def holders(self, block_hash: int) -> AbstractSet[str]:
        """Return the workers that hold a block and so all blocks before it."""
        return self._holders.get(block_hash, _NOBODY)

    def _drop(self, block_hash: int, worker_id: str) -> None:
        known = self._holders[block_hash]
        known.discard(worker_id)
        if not known:
            del self._holders[block_hash]
