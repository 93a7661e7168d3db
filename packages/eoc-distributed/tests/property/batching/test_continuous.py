"""The batcher against a slow oracle that writes down every block and every token."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from eoc_distributed.batching import BatchLimits, ContinuousBatcher, KVBlockBudget, Step
from eoc_distributed.batching.kv_blocks import CachedBlock
from eoc_distributed.errors import TooLarge

# The oracle


@dataclass(eq=False)
class Block:
    number: int
    hash: int | None = None
    holders: int = 0


@dataclass(eq=False)
class Asked:
    key: int
    prompt: int
    output: int
    hashes: list[int]
    tokens: int = 0
    computed: int = 0
    table: list[Block] = field(default_factory=list)
    ran: bool = False
    decoding: bool = False


@dataclass
class Oracle:
    """One token at a time, one block at a time, lists searched from end to end."""

    limits: BatchLimits
    size: int
    blocks: list[Block]
    watermark: int
    free: list[Block] = field(default_factory=list)
    found_first: list[Block] = field(default_factory=list)
    waiting: list[Asked] = field(default_factory=list)
    running: list[Asked] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)

    def add(self, key: int, prompt: int, output: int, hashes: list[int]) -> None:
        output = min(output, self.limits.model_tokens - prompt)
        if not self.limits.prefix_caching:
            hashes = []
        self.waiting.append(Asked(key, prompt, output, hashes, tokens=prompt))

    def blocks_for(self, tokens: int) -> int:
        return (tokens + self.size - 1) // self.size

    def allocate(self, asked: Asked, tokens: int) -> bool:
        wanted = self.blocks_for(asked.computed + tokens) - len(asked.table)
        if wanted > len(self.free):
            return False
        for _ in range(wanted):
            block = self.free.pop(0)
            if block in self.found_first:
                self.found_first.remove(block)
            block.hash = None
            block.holders = 1
            asked.table.append(block)
        asked.computed += tokens
        for index in range(min(asked.computed // self.size, len(asked.hashes))):
            block = asked.table[index]
            if block.hash is None:
                block.hash = asked.hashes[index]
                self.found_first.append(block)
        return True

    def release(self, asked: Asked) -> None:
        for block in reversed(asked.table):
            block.holders -= 1
            if block.holders == 0:
                self.free.append(block)
        asked.table = []
        asked.computed = 0
        asked.decoding = False

    def hits(self, asked: Asked) -> list[Block]:
        found: list[Block] = []
        for block_hash in asked.hashes[: (asked.tokens - 1) // self.size]:
            match = [block for block in self.found_first if block.hash == block_hash]
            if not match:
                break
            found.append(match[0])
        return found

    def step(self) -> dict[str, object]:  # noqa: C901, PLR0912, PLR0915 - one page, top to bottom
        cancelled = self.cancelled
        self.cancelled = []
        for asked in [a for key in cancelled for a in self.running if a.key == key]:
            self.release(asked)
            self.running.remove(asked)
        self.waiting = [a for a in self.waiting if a.key not in cancelled]
        others = len(self.running) + len(self.waiting) > 1
        cap = self.limits.long_prefill_tokens if others else 0
        budget = self.limits.batched_tokens
        scheduled: list[tuple[Asked, int, bool]] = []
        preempted: list[Asked] = []
        index = 0
        while index < len(self.running) and budget > 0:
            asked = self.running[index]
            lacking = asked.tokens - asked.computed
            tokens = min(lacking, cap or lacking, budget)
            while asked in self.running and not self.allocate(asked, tokens):
                last = self.running.pop()
                self.release(last)
                self.waiting.insert(0, last)
                preempted.append(last)
            if asked not in self.running:
                break
            scheduled.append((asked, tokens, asked.decoding))
            budget -= tokens
            index += 1
        admitted: list[tuple[int, int, bool]] = []
        while not preempted and self.waiting and budget > 0:
            if len(self.running) == self.limits.sequences:
                break
            asked = self.waiting[0]
            found = self.hits(asked)
            lacking = asked.tokens - len(found) * self.size
            tokens = min(lacking, cap or lacking)
            if not self.limits.chunked_prefill and tokens > budget:
                break
            tokens = min(tokens, budget)
            reserved = asked.tokens if self.limits.whole_prompt else asked.tokens - lacking + tokens
            needed = self.blocks_for(reserved) - sum(block.holders > 0 for block in found)
            if needed + (self.watermark if self.running else 0) > len(self.free):
                break
            for block in found:
                if block.holders == 0:
                    self.free.remove(block)
                block.holders += 1
            asked.table = found
            asked.computed = len(found) * self.size
            self.waiting.pop(0)
            self.running.append(asked)
            admitted.append((asked.key, asked.computed, asked.ran))
            asked.ran = True
            assert self.allocate(asked, tokens)
            scheduled.append((asked, tokens, False))
            budget -= tokens
        first, finished = [], []
        context = sum(asked.computed for asked, _, _ in scheduled)
        for asked, _, _ in scheduled:
            if asked.computed == asked.tokens:
                if asked.tokens == asked.prompt:
                    first.append(asked.key)
                asked.tokens += 1
                asked.decoding = True
                if asked.tokens == asked.prompt + asked.output:
                    finished.append(asked.key)
                    self.release(asked)
                    self.running.remove(asked)
        return {
            "count": 1 if scheduled else 0,
            "decodes": sum(decodes for _, _, decodes in scheduled),
            "prefill_tokens": sum(tokens for _, tokens, decodes in scheduled if not decodes),
            "context_tokens": context,
            "admitted": admitted,
            "first_tokens": first,
            "preempted": [asked.key for asked in preempted],
            "finished": finished,
            "cancelled": cancelled,
        }


def plain(step: Step[int]) -> dict[str, object]:
    return {
        "count": step.count,
        "decodes": step.decodes,
        "prefill_tokens": step.prefill_tokens,
        "context_tokens": step.context_tokens,
        "admitted": [(a.key, a.cached_tokens, a.resumed) for a in step.admitted],
        "first_tokens": list(step.first_tokens),
        "preempted": list(step.preempted),
        "finished": list(step.finished),
        "cancelled": list(step.cancelled),
    }


# What both are given

sizes = st.sampled_from([1, 2, 4, 5])


@st.composite
def engines(draw: st.DrawFn) -> tuple[KVBlockBudget, BatchLimits]:
    size = draw(sizes)
    blocks = draw(st.integers(4, 40))
    sequences = draw(st.integers(1, 6))
    chunked = draw(st.booleans())
    model_tokens = draw(st.sampled_from([24, 60]))
    limits = BatchLimits(
        batched_tokens=draw(st.integers(sequences, 30)) + (0 if chunked else model_tokens),
        sequences=sequences,
        model_tokens=model_tokens,
        long_prefill_tokens=draw(st.sampled_from([0, 1, 2, 3, 7])),
        chunked_prefill=chunked,
        whole_prompt=draw(st.booleans()),
        prefix_caching=draw(st.sampled_from([True, True, False])),
    )
    watermark = draw(st.sampled_from([0.0, 0.0, 0.1]))
    return KVBlockBudget(blocks=blocks, block_size=size, watermark=watermark), limits


def oracle_of(budget: KVBlockBudget, limits: BatchLimits) -> Oracle:
    blocks = [Block(number) for number in range(budget.total)]
    return Oracle(limits, budget.block_size, blocks, budget.watermark_blocks, free=list(blocks))


def chain(family: int, prompt: int, output: int, size: int, known_answer: bool) -> list[int]:
    """Hashes of a sequence: families share their first half, then go apart."""
    full = (prompt + (output if known_answer else 0)) // size
    return [family % 2 * 1000 + i if i < 3 else family * 10_000 + i for i in range(full)]


class Batches(RuleBasedStateMachine):
    """Any history of requests and cancellations goes as the oracle says, and adds up."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = 0
        self.open: set[int] = set()

    @initialize(engine=engines())
    def start(self, engine: tuple[KVBlockBudget, BatchLimits]) -> None:
        self.budget, self.limits = engine
        self.batcher: ContinuousBatcher[int] = ContinuousBatcher(self.budget, self.limits)
        self.oracle = oracle_of(self.budget, self.limits)

    @rule(
        prompt=st.integers(1, 30),
        output=st.integers(1, 20),
        family=st.integers(0, 5),
        known_answer=st.booleans(),
    )
    def add(self, prompt: int, output: int, family: int, known_answer: bool) -> None:
        hashes = chain(family, prompt, output, self.budget.block_size, known_answer)
        key = self.keys
        try:
            self.batcher.add(key, prompt_tokens=prompt, output_tokens=output, hashes=hashes)
        except TooLarge:
            return
        self.keys += 1
        self.open.add(key)
        self.oracle.add(key, prompt, output, hashes)

    @rule(which=st.integers(0, 100))
    def cancel(self, which: int) -> None:
        if self.open:
            key = sorted(self.open)[which % len(self.open)]
            self.open.discard(key)
            assert self.batcher.cancel(key)
            assert not self.batcher.cancel(key)
            self.oracle.cancelled.append(key)

    @rule(times=st.integers(1, 6))
    def step(self, times: int) -> None:
        for _ in range(times):
            taken = self.batcher.step()
            assert plain(taken) == self.oracle.step()
            self.open -= set(taken.finished)

    @rule(at_most=st.integers(2, 40))
    def several(self, at_most: int) -> None:
        taken = self.batcher.step(at_most=at_most)
        assert taken.count <= at_most
        alone = [self.oracle.step() for _ in range(max(1, taken.count))]
        assert taken.total_context_tokens() == sum(int(str(s["context_tokens"])) for s in alone)
        assert all(step["decodes"] == taken.decodes for step in alone)
        whole = {**plain(taken), "count": alone[0]["count"]}
        merged = {**alone[0], "finished": alone[-1]["finished"]}
        assert whole == merged
        assert all(
            not step["finished"] and not step["admitted"] and not step["preempted"]
            for step in alone[1:-1]
        )
        self.open -= set(taken.finished)

    @invariant()
    def no_block_is_lost_or_used_twice(self) -> None:
        if not hasattr(self, "batcher"):
            return
        running = list(self.batcher._running)
        held: dict[CachedBlock, int] = {}
        unhashed = 0
        for sequence in running:
            computed = sequence.computed
            if sequence.stage.name == "DECODE":
                computed = sequence.base + self.batcher._tick
            assert computed <= sequence.last
            unhashed += self.budget.blocks_for(computed) - len(sequence.hashed)
            for block in sequence.hashed:
                held[block] = held.get(block, 0) + 1
        queue = list(self.budget._queue)
        free = sum(1 if isinstance(entry, CachedBlock) else entry.count for entry in queue)
        assert free == self.budget.free
        assert free + unhashed + len(held) == self.budget.total
        assert all(block.references == count for block, count in held.items())
        assert all(e.references == 0 for e in queue if isinstance(e, CachedBlock))

    @invariant()
    def counts_agree_with_the_oracle(self) -> None:
        if not hasattr(self, "batcher"):
            return
        assert self.budget.free == len(self.oracle.free)
        assert self.batcher.running == len(self.oracle.running) <= self.limits.sequences
        alive = [a for a in self.oracle.waiting if a.key not in self.oracle.cancelled]
        assert self.batcher.waiting == len(alive)

    def teardown(self) -> None:
        """Whatever is open ends, in a bounded number of steps: nobody starves."""
        if not hasattr(self, "batcher"):
            return
        steps = 0
        while self.open:
            taken = self.batcher.step()
            assert plain(taken) == self.oracle.step()
            assert taken.decodes + taken.prefill_tokens <= self.limits.batched_tokens
            assert taken.count == 1
            self.open -= set(taken.finished)
            steps += 1
            assert steps < 100_000
        self.batcher.step()
        assert self.budget.free == self.budget.total
        assert self.budget.usage() == 0.0


TestBatches = Batches.TestCase
TestBatches.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


@given(engine=engines(), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_a_crowd_is_served_as_the_oracle_says_whatever_the_pressure(
    engine: tuple[KVBlockBudget, BatchLimits], seed: int
) -> None:
    budget, limits = engine
    assume(budget.total * budget.block_size >= 20)
    rng = Random(seed)
    batcher: ContinuousBatcher[int] = ContinuousBatcher(budget, limits)
    oracle = oracle_of(budget, limits)
    open_keys = set(range(25))
    for key in sorted(open_keys):
        prompt, output = rng.randint(1, 12), rng.randint(1, 8)
        hashes = chain(rng.randrange(4), prompt, output, budget.block_size, rng.random() < 0.5)
        batcher.add(key, prompt_tokens=prompt, output_tokens=output, hashes=hashes)
        oracle.add(key, prompt, output, hashes)
    first_tokens: list[int] = []
    while open_keys:
        taken = batcher.step()
        assert plain(taken) == oracle.step()
        assert taken.count == 1
        first_tokens += taken.first_tokens
        open_keys -= set(taken.finished)
    assert sorted(first_tokens) == list(range(25))


@pytest.mark.parametrize("seed", range(3))
def test_many_passes_at_once_end_where_single_passes_end(seed: int) -> None:
    def run(at_most: int) -> tuple[list[int], int, int, int]:
        rng = Random(seed)
        budget = KVBlockBudget(blocks=120, block_size=4)
        batcher: ContinuousBatcher[int] = ContinuousBatcher(
            budget, BatchLimits(batched_tokens=64, sequences=8, model_tokens=400)
        )
        for key in range(60):
            batcher.add(key, prompt_tokens=rng.randint(1, 60), output_tokens=rng.randint(1, 90))
        finished: list[int] = []
        passes = context = 0
        while batcher.running or batcher.waiting:
            taken = batcher.step(at_most=at_most)
            passes += taken.count
            context += taken.total_context_tokens()
            finished += taken.finished
        return finished, passes, context, batcher.preemptions

    assert run(1) == run(7) == run(1000)
