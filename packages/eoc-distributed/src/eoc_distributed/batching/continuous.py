"""Continuous batching as vLLM's V1 scheduler does it: which tokens a step computes.

One step is one forward pass. Running sequences come first, in the order of their admission:
each gets the tokens it lacks, at most what is left of the step's budget, and blocks for
them. Where no block is free, the sequence admitted last is preempted: it loses its blocks,
waits again at the front, and computes all its tokens anew. Then, if nothing was preempted,
waiting requests are admitted first come first served, until one does not fit. A sequence
all of whose tokens are computed samples one more; its last token frees its blocks.

How it stays quick. A sequence that decodes gets exactly one token in each step, so nothing
is written down for it: it knows the tick at which it began, and the batcher counts ticks.
Blocks needed by decoders at a tick are those of sequences whose count is a multiple of the
block size, which are counted by residue. Only steps in which order decides (the budget or
the blocks run out) walk the running sequences. A steady step so costs the same whatever
the batch, and `step(at_most=n)` takes many at once until something happens.

Source: vLLM V1 `Scheduler.schedule`, `update_from_output` and `KVCacheManager`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Generic

from eoc_distributed.errors import QueueFull, TooLarge

from .kv_blocks import BlockHash, CachedBlock, KVBlockBudget
from .sequence import RunningSequence, Stage
from .step import Admission, BatchLimits, K, Quiet, Step

_WAITING_RETRY_S = 1.0
"""Said to a caller whose request finds the queue full: the batcher knows no durations."""
_FOREVER = 1 << 30
_SLACK = 64
"""Outdated entries that a queue may hold beside as many good ones."""

_Event = tuple[int, int, RunningSequence[K]]
"""Tick at which it comes, number of the sequence's admission, the sequence."""
_Chunk = tuple[RunningSequence[K], int]
"""A sequence that reads prompt in a step, and how many tokens of it."""


class ContinuousBatcher(Generic[K]):
    """The scheduler of one engine. Not for several threads.

    Args:
        blocks: The engine's KV cache, used by nobody else.
        limits: Parameters of the scheduler.

    Attributes:
        cached_tokens: Prompt tokens found cached at first admissions; counts up.
        looked_up_tokens: Prompt tokens at first admissions; counts up.
        preemptions: Sequences preempted; counts up.
    """

    def __init__(self, blocks: KVBlockBudget, limits: BatchLimits | None = None) -> None:
        self.blocks = blocks
        self.limits = limits if limits is not None else BatchLimits()
        self.cached_tokens = 0
        self.looked_up_tokens = 0
        self.preemptions = 0
        self._known: dict[K, RunningSequence[K]] = {}
        self._waiting: deque[RunningSequence[K]] = deque()
        self._gone_waiting = 0
        self._blocked_at = -1
        self._running: dict[RunningSequence[K], None] = {}
        self._prefill: dict[RunningSequence[K], None] = {}
        self._cancelled: list[RunningSequence[K]] = []
        self._admissions = 0
        self._tick = 0
        self._decoding = 0
        self._base_sum = 0
        self._due = [0] * blocks.block_size
        self._ends: list[_Event[K]] = []
        self._fills: list[_Event[K]] = []

    @property
    def running(self) -> int:
        """Requests that run, those cancelled since the last step included."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Requests that wait, preempted ones included."""
        return len(self._waiting) - self._gone_waiting

    def add(
        self, key: K, *, prompt_tokens: int, output_tokens: int, hashes: Sequence[BlockHash] = ()
    ) -> None:
        """Put a request at the end of the waiting queue.

        Args:
            key: The caller's name for it.
            prompt_tokens: At least 1.
            output_tokens: Tokens after which it ends, at least 1; fewer where the model's
                length is reached before.
            hashes: Chained hashes of its first full blocks. Those past the prompt are of
                the answer, for callers that know it; the rest is never found again.

        Raises:
            ValueError: A count is below 1, or the key is in use.
            TooLarge: It exceeds the model's length or the whole KV cache.
            QueueFull: As many wait as may.
        """
        limits = self.limits
        if prompt_tokens < 1 or output_tokens < 1:
            raise ValueError(f"{prompt_tokens} + {output_tokens} tokens: each is at least 1")
        if key in self._known:
            raise ValueError(f"request {key!r} is in the batcher already")
        if prompt_tokens >= limits.model_tokens:
            raise TooLarge("prompt tokens", needed=prompt_tokens, limit=limits.model_tokens - 1)
        output_tokens = min(output_tokens, limits.model_tokens - prompt_tokens)
        needed = self.blocks.blocks_for(prompt_tokens + output_tokens - 1)
        if needed > self.blocks.total:
            raise TooLarge("KV blocks", needed=needed, limit=self.blocks.total)
        if limits.waiting is not None and self.waiting >= limits.waiting:
            raise QueueFull("the engine", limit=limits.waiting, retry_after_s=_WAITING_RETRY_S)
        if not limits.prefix_caching:
            hashes = ()
        sequence = RunningSequence(key, prompt_tokens, output_tokens, hashes)
        self._known[key] = sequence
        self._waiting.append(sequence)

    def cancel(self, key: K) -> bool:
        """Drop a request; its blocks become free at the next step. False if it is not here."""
        sequence = self._known.pop(key, None)
        if sequence is None:
            return False
        self._cancelled.append(sequence)
        if sequence.stage is Stage.WAITING:
            sequence.stage = Stage.GONE
            self._gone_waiting += 1
            self._blocked_at = -1
            if self._gone_waiting > _SLACK + len(self._waiting) // 2:
                self._waiting = deque(s for s in self._waiting if s.stage is not Stage.GONE)
                self._gone_waiting = 0
        return True

    def step(self, *, at_most: int = 1) -> Step[K]:
        """Schedule and account one pass, or up to `at_most` equal ones.

        More than one is taken only while nothing but decoding happens in all of them.
        """
        cancelled = self._drop_cancelled() if self._cancelled else ()
        if not self._prefill and (not self._waiting or self._head_waits()):
            count = self._steady_passes(at_most)
            if count:
                return self._decode(count, cancelled)
        return self._mixed(cancelled)

    def quiet(self) -> Quiet | None:
        """Say how long nothing but decoding will happen, if nothing is added meanwhile.

        Changes nothing: `step(at_most=n)` with n up to `passes` then takes n of those passes.
        None if the next pass is of another kind, or there is nothing to run.
        """
        if self._cancelled or self._prefill or (self._waiting and not self._head_waits()):
            return None
        passes = self._steady_passes(_FOREVER)
        if not passes:
            return None
        decodes = self._decoding
        return Quiet(passes, decodes, self._base_sum + decodes * (self._tick + 1))

    # Steps in which nothing but decoding happens

    def _head_waits(self) -> bool:
        """Return whether it is known, without looking, that nobody can be admitted."""
        return bool(self._running) and (
            self._blocked_at == self.blocks.version or len(self._running) >= self.limits.sequences
        )

    def _steady_passes(self, at_most: int) -> int:
        """Return how many passes decode only and find their blocks; 0 if the next does not."""
        if not self._decoding:
            return 0
        ends = self._ends
        while not self._ends_at(ends[0]):
            heappop(ends)
        count = min(at_most, ends[0][0] - self._tick)
        if self._fills:
            count = min(count, self._fills[0][0] - self._tick - 1)
        while count > 0 and self._due_blocks(count) > self.blocks.free:
            count //= 2
        return max(count, 0)

    def _due_blocks(self, count: int) -> int:
        """Return the blocks that decoders need in the next `count` passes."""
        due = self._due
        start = self._tick % len(due)
        if count == 1:
            return due[start]
        rounds, rest = divmod(count, len(due))
        needed = rounds * self._decoding
        for offset in range(start, start + rest):
            needed += due[offset % len(due)]
        return needed

    def _decode(self, count: int, cancelled: tuple[K, ...]) -> Step[K]:
        self.blocks.take(self._due_blocks(count))
        decodes = self._decoding
        context = self._base_sum + decodes * (self._tick + 1)
        self._tick += count
        finished: tuple[K, ...] = ()
        if self._ends[0][0] == self._tick:
            finished = tuple([self._finish(sequence) for sequence in self._pop_ended()])
        return Step(count, decodes, 0, context, (), (), (), finished, cancelled)

    # Any other step

    def _mixed(self, cancelled: tuple[K, ...]) -> Step[K]:
        others = len(self._running) + self.waiting > 1
        cap = (self.limits.long_prefill_tokens if others else 0) or self.limits.batched_tokens
        chunks: list[_Chunk[K]] = []
        preempted: list[K] = []
        budget = self._schedule_together(cap, chunks)
        if budget is None:
            budget = self._schedule_in_order(cap, chunks, preempted)
        admitted = () if preempted else self._admit(cap, budget, chunks)
        decodes = self._decoding
        context = self._base_sum + decodes * (self._tick + 1)
        self._tick += 1
        ended = self._pop_ended()
        first: list[K] = []
        prefill = 0
        for sequence, tokens in chunks:
            prefill += tokens
            context += sequence.computed
            if sequence.computed < sequence.tokens:
                continue
            if sequence.tokens == sequence.prompt:
                first.append(sequence.key)
            del self._prefill[sequence]
            if sequence.computed == sequence.last:
                ended.append(sequence)
            else:
                self._join_decoding(sequence)
        ended.sort(key=_order)
        finished = tuple([self._finish(sequence) for sequence in ended])
        count = 1 if decodes or chunks else 0
        return Step(
            count,
            decodes,
            prefill,
            context,
            admitted,
            tuple(first),
            tuple(preempted),
            finished,
            cancelled,
        )

    def _schedule_together(self, cap: int, chunks: list[_Chunk[K]]) -> int | None:
        """Serve all that run at once and return the budget left; None if order decides."""
        blocks_for = self.blocks.blocks_for
        budget = self.limits.batched_tokens - self._decoding
        needed = self._due[self._tick % len(self._due)]
        short = False
        for sequence in self._prefill:
            wanted = min(sequence.tokens - sequence.computed, cap)
            tokens = min(wanted, budget)
            short = short or tokens < wanted
            if tokens:
                budget -= tokens
                chunks.append((sequence, tokens))
                held = blocks_for(sequence.computed)
                needed += blocks_for(sequence.computed + tokens) - held
        if (short and not self._prefill_comes_last()) or not self.blocks.take(needed):
            chunks.clear()
            return None
        # Of two blocks with one hash the first is found, so they are cached in running order.
        filled = self._pop_filled() if self._fills else []
        for sequence, tokens in chunks:
            while filled and filled[-1].order < sequence.order:
                self._fill(filled.pop())
            self._compute(sequence, tokens)
        while filled:
            self._fill(filled.pop())
        return budget

    def _prefill_comes_last(self) -> bool:
        """Return whether all that decode were admitted before all that do not."""
        last = islice(reversed(self._running), len(self._prefill))
        return all(sequence.stage is Stage.PREFILL for sequence in last)

    def _schedule_in_order(self, cap: int, chunks: list[_Chunk[K]], preempted: list[K]) -> int:
        """Serve those that run one by one, preempting the last for want of blocks.

        Returns the budget left. It may leave those that read prompt without a token, but
        never one that decodes: when it was admitted, those before it left it some budget,
        and what each of them takes in a step does not grow afterwards.
        """
        blocks, budget = self.blocks, self.limits.batched_tokens
        order = list(self._running)
        served = 0
        while served < len(order) and budget > 0:
            sequence = order[served]
            decodes = sequence.stage is Stage.DECODE
            if decodes:
                tokens, computed = 1, sequence.base + self._tick
            else:
                computed = sequence.computed
                tokens = min(sequence.tokens - computed, cap, budget)
            needed = blocks.blocks_for(computed + tokens) - blocks.blocks_for(computed)
            while served < len(order) and not blocks.take(needed):
                preempted.append(self._preempt(order.pop()))
            if served == len(order):
                break
            if not decodes:
                chunks.append((sequence, tokens))
                self._compute(sequence, tokens)
            elif (computed + 1) % blocks.block_size == 0 and _unfilled(sequence):
                self._fill(sequence)
            budget -= tokens
            served += 1
        return budget

    def _admit(self, cap: int, budget: int, chunks: list[_Chunk[K]]) -> tuple[Admission[K], ...]:
        """Let waiting requests run while they fit, first come first served."""
        limits, blocks, waiting, running = self.limits, self.blocks, self._waiting, self._running
        admitted: list[Admission[K]] = []
        while waiting and budget > 0 and len(running) < limits.sequences:
            sequence = waiting[0]
            if sequence.stage is Stage.GONE:
                waiting.popleft()
                self._gone_waiting -= 1
                continue
            if running and self._blocked_at == blocks.version:
                break
            limit = (sequence.tokens - 1) // blocks.block_size
            hits = blocks.lookup(sequence.hashes, limit=limit)
            cached = len(hits) * blocks.block_size
            tokens = min(sequence.tokens - cached, cap)
            if tokens > budget and not limits.chunked_prefill:
                break
            tokens = min(tokens, budget)
            reserved = sequence.tokens if limits.whole_prompt else cached + tokens
            needed = blocks.blocks_for(reserved) - sum(block.references > 0 for block in hits)
            if needed + (blocks.watermark_blocks if running else 0) > blocks.free:
                if limits.whole_prompt:
                    self._blocked_at = blocks.version
                break
            waiting.popleft()
            blocks.share(hits)
            blocks.take(blocks.blocks_for(cached + tokens) - len(hits))
            self._start(sequence, hits)
            self._compute(sequence, tokens)
            chunks.append((sequence, tokens))
            admitted.append(Admission(sequence.key, cached, sequence.preempted))
            budget -= tokens
        return tuple(admitted)

    # What becomes of one sequence

    def _start(self, sequence: RunningSequence[K], hits: list[CachedBlock]) -> None:
        self._admissions += 1
        sequence.order = self._admissions
        sequence.stage = Stage.PREFILL
        sequence.hashed = hits
        sequence.computed = len(hits) * self.blocks.block_size
        self._running[sequence] = self._prefill[sequence] = None
        if not sequence.preempted:
            self.cached_tokens += sequence.computed
            self.looked_up_tokens += sequence.prompt

    def _compute(self, sequence: RunningSequence[K], tokens: int) -> None:
        """Account a chunk, and cache the blocks that it fills."""
        sequence.computed += tokens
        hashes, hashed = sequence.hashes, sequence.hashed
        full = min(sequence.computed // self.blocks.block_size, len(hashes))
        for index in range(len(hashed), full):
            hashed.append(self.blocks.cache(hashes[index]))

    def _fill(self, sequence: RunningSequence[K]) -> None:
        """Cache the block that a decoder fills in this step."""
        sequence.hashed.append(self.blocks.cache(sequence.hashes[len(sequence.hashed)]))
        self._expect_fill(sequence)

    def _expect_fill(self, sequence: RunningSequence[K]) -> None:
        if _unfilled(sequence):
            full = (len(sequence.hashed) + 1) * self.blocks.block_size
            heappush(self._fills, (full - sequence.base, sequence.order, sequence))
            if len(self._fills) > 2 * self._decoding + _SLACK:
                self._fills = [event for event in self._fills if self._fills_at(event)]
                heapify(self._fills)

    def _join_decoding(self, sequence: RunningSequence[K]) -> None:
        sequence.stage = Stage.DECODE
        base = sequence.base = sequence.computed - self._tick
        self._decoding += 1
        self._base_sum += base
        self._due[-base % len(self._due)] += 1
        heappush(self._ends, (sequence.last - base, sequence.order, sequence))
        if len(self._ends) > 2 * self._decoding + _SLACK:
            self._ends = [event for event in self._ends if self._ends_at(event)]
            heapify(self._ends)
        self._expect_fill(sequence)

    def _leave_decoding(self, sequence: RunningSequence[K]) -> None:
        base = sequence.base
        sequence.computed = base + self._tick
        sequence.tokens = sequence.computed + 1
        self._decoding -= 1
        self._base_sum -= base
        self._due[-base % len(self._due)] -= 1

    def _preempt(self, sequence: RunningSequence[K]) -> K:
        self._free(sequence)
        sequence.stage = Stage.WAITING
        sequence.computed = 0
        sequence.hashed = []
        sequence.preempted = True
        self._waiting.appendleft(sequence)
        self.preemptions += 1
        return sequence.key

    def _finish(self, sequence: RunningSequence[K]) -> K:
        self._free(sequence)
        sequence.stage = Stage.GONE
        del self._known[sequence.key]
        return sequence.key

    def _drop_cancelled(self) -> tuple[K, ...]:
        dropped = self._cancelled
        self._cancelled = []
        for sequence in dropped:
            if sequence.stage is not Stage.GONE:
                self._free(sequence)
                sequence.stage = Stage.GONE
        return tuple([sequence.key for sequence in dropped])

    def _free(self, sequence: RunningSequence[K]) -> None:
        """Take a sequence out of those that run, and its blocks from it."""
        del self._running[sequence]
        if sequence.stage is Stage.DECODE:
            self._leave_decoding(sequence)
        else:
            self._prefill.pop(sequence, None)
        held = self.blocks.blocks_for(sequence.computed)
        self.blocks.release(sequence.hashed, held - len(sequence.hashed))

    # Events

    def _pop_ended(self) -> list[RunningSequence[K]]:
        """Take the decoders whose last token this tick has brought, first admitted first."""
        ended: list[RunningSequence[K]] = []
        ends = self._ends
        while ends and ends[0][0] <= self._tick:
            event = heappop(ends)
            if self._ends_at(event):
                ended.append(event[2])
        return ended

    def _pop_filled(self) -> list[RunningSequence[K]]:
        """Take the decoders that fill a block in the next tick, last admitted first."""
        filled: list[RunningSequence[K]] = []
        fills = self._fills
        while fills and fills[0][0] <= self._tick + 1:
            event = heappop(fills)
            if self._fills_at(event):
                filled.append(event[2])
        filled.reverse()
        return filled

    def _ends_at(self, event: _Event[K]) -> bool:
        """Return whether the sequence's end is still expected then."""
        tick, order, sequence = event
        return (
            sequence.stage is Stage.DECODE
            and sequence.order == order
            and sequence.last - sequence.base == tick
        )

    def _fills_at(self, event: _Event[K]) -> bool:
        """Return whether the sequence is still expected to fill a block then."""
        tick, order, sequence = event
        full = (len(sequence.hashed) + 1) * self.blocks.block_size
        return (
            sequence.stage is Stage.DECODE
            and sequence.order == order
            and full - sequence.base == tick
        )


def _order(sequence: RunningSequence[K]) -> int:
    return sequence.order


def _unfilled(sequence: RunningSequence[K]) -> bool:
    """Return whether more blocks of a sequence have a hash than are full."""
    return len(sequence.hashed) < len(sequence.hashes)
