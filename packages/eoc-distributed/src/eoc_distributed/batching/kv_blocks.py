"""The KV cache of one worker, in blocks: who holds them, and which may be reused.

A block is free, or held by one sequence, or, if it is full and its hash is known, shared by
all sequences whose prompt starts with the same chain of hashes. A free block keeps its hash,
so that a later prefix finds it, until it is given out again: then the hash is forgotten
(eviction). Free blocks are given out in the order in which they became free; a sequence
returns its blocks last one first, so that the tail of a prefix is evicted before its head.

Blocks without a hash differ in nothing but their place in the free queue. The queue
therefore holds them as runs with a count, and a sequence knows its unhashed blocks by
their number alone: taking and returning a thousand of them costs as much as one.

Source: vLLM V1, `KVCacheManager` and `BlockPool`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence

BlockHash = Hashable
"""Hash of a full block and, by chaining, of all blocks before it."""


class CachedBlock:
    """A full block whose hash is known.

    Attributes:
        hash: Its hash.
        references: Sequences that hold it; 0 while it is in the free queue.
    """

    __slots__ = ("hash", "references")

    def __init__(self, block_hash: BlockHash) -> None:
        self.hash = block_hash
        self.references = 1


class _Run:
    """Free blocks without a hash that lie side by side in the free queue."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = count


class KVBlockBudget:
    """A pool of blocks. Not for several threads.

    Args:
        blocks: Usable blocks, at least 1. Of vLLM's `num_gpu_blocks` one is reserved.
        block_size: Tokens in a block, at least 1.
        watermark: Share of the blocks, 0 to below 1, that is kept free when a sequence is
            admitted beside others.

    Attributes:
        total: Usable blocks.
        free: Blocks that nobody holds, those with a hash included.
        block_size: Tokens in a block.
        watermark_blocks: Blocks that the watermark keeps free.
        version: Grows whenever a block becomes free or is given a hash: a sequence that was
            refused need not ask again before.

    Raises:
        ValueError: An argument is out of its range.
    """

    def __init__(self, *, blocks: int, block_size: int = 16, watermark: float = 0.0) -> None:
        if blocks < 1 or block_size < 1 or not 0.0 <= watermark < 1.0:
            raise ValueError(
                f"{blocks} blocks of {block_size} tokens with watermark {watermark}: "
                "at least 1, at least 1, and 0 to below 1"
            )
        self.total = self.free = blocks
        self.block_size = block_size
        self.watermark_blocks = int(watermark * blocks)
        self.version = 0
        self._queue: OrderedDict[_Run | CachedBlock, None] = OrderedDict([(_Run(blocks), None)])
        self._cached: dict[BlockHash, CachedBlock] = {}
        # Blocks with the hash of another one, oldest first: a prompt that is cached to its
        # last token has its last block computed, and so cached, once more.
        self._twins: dict[BlockHash, OrderedDict[CachedBlock, None]] = {}

    def blocks_for(self, tokens: int) -> int:
        """Return the blocks that so many tokens occupy."""
        return -(-tokens // self.block_size)

    def usage(self) -> float:
        """Return the share of the blocks that is held, 0 to 1."""
        return 1.0 - self.free / self.total

    def lookup(self, hashes: Sequence[BlockHash], *, limit: int) -> list[CachedBlock]:
        """Return the longest cached chain, at most `limit` blocks, without holding it."""
        found: list[CachedBlock] = []
        cached = self._cached
        for index in range(min(limit, len(hashes))):
            block = cached.get(hashes[index])
            if block is None:
                break
            found.append(block)
        return found

    def take(self, count: int) -> bool:
        """Give out `count` blocks, forgetting the hashes they had; False if too few are free."""
        if count > self.free:
            return False
        self.free -= count
        queue = self._queue
        while count > 0:
            head = next(iter(queue))
            if isinstance(head, _Run):
                if head.count > count:
                    head.count -= count
                    return True
                count -= head.count
            else:
                self._forget(head)
                count -= 1
            del queue[head]
        return True

    def share(self, blocks: Sequence[CachedBlock]) -> None:
        """Hold blocks that `lookup` has found; free ones leave the free queue."""
        for block in blocks:
            if block.references == 0:
                del self._queue[block]
                self.free -= 1
            block.references += 1

    def cache(self, block_hash: BlockHash) -> CachedBlock:
        """Give a hash to one of the blocks that the caller has taken, as it is full."""
        block = CachedBlock(block_hash)
        if self._cached.setdefault(block_hash, block) is not block:
            self._twins.setdefault(block_hash, OrderedDict())[block] = None
        self.version += 1
        return block

    def release(self, hashed: Sequence[CachedBlock], unhashed: int) -> None:
        """Return a sequence's blocks: `hashed` from its start, then `unhashed` ones."""
        self.version += 1
        self._append_run(unhashed)
        for block in reversed(hashed):
            block.references -= 1
            if block.references == 0:
                self._queue[block] = None
                self.free += 1

    def _append_run(self, count: int) -> None:
        if count == 0:
            return
        self.free += count
        last = next(reversed(self._queue), None)
        if isinstance(last, _Run):
            last.count += count
        else:
            self._queue[_Run(count)] = None

    def _forget(self, block: CachedBlock) -> None:
        block_hash = block.hash
        twins = self._twins.get(block_hash)
        if twins is None:
            del self._cached[block_hash]
            return
        if self._cached[block_hash] is block:
            self._cached[block_hash], _ = twins.popitem(last=False)
        else:
            del twins[block]
        if not twins:
            del self._twins[block_hash]
