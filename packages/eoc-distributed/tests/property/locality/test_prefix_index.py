"""The index against one that keeps a plain list for each worker."""

from __future__ import annotations

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from eoc_distributed.locality import PrefixIndex

WORKERS = ["a", "b", "c"]
CAPACITY = 6
# A prompt is a path in a small tree; the hash of a node stands for the path to it.
paths = st.lists(st.integers(0, 2), min_size=1, max_size=8)


def hashes(path: list[int]) -> list[int]:
    return [hash((depth, *path[: depth + 1])) for depth in range(len(path))]


class Prefixes(RuleBasedStateMachine):
    """Any history leaves the index knowing what a list in order of use would know."""

    def __init__(self) -> None:
        super().__init__()
        self.index = PrefixIndex(blocks_per_worker=CAPACITY)
        self.lists: dict[str, list[int]] = {worker: [] for worker in WORKERS}

    @rule(worker=st.sampled_from(WORKERS), path=paths)
    def insert(self, worker: str, path: list[int]) -> None:
        self.index.insert(worker, hashes(path))
        known = self.lists[worker]
        for block in reversed(hashes(path)):
            if block in known:
                known.remove(block)
            known.append(block)
        del known[: max(0, len(known) - CAPACITY)]

    @rule(worker=st.sampled_from(WORKERS))
    def forget(self, worker: str) -> None:
        self.index.forget(worker)
        self.lists[worker] = []

    @rule(path=paths)
    def look_up(self, path: list[int]) -> None:
        chain = hashes(path)
        depths = {}
        for worker, known in self.lists.items():
            depth = 0
            while depth < len(chain) and chain[depth] in known:
                depth += 1
            depths[worker] = depth
            assert self.index.depth(worker, chain) == depth
        longest = max(depths.values())
        assert self.index.longest(chain) == longest
        for depth in range(1, longest + 1):
            holders = {worker for worker, deep in depths.items() if deep >= depth}
            assert self.index.holders(chain[depth - 1]) == holders

    @invariant()
    def it_is_bounded_and_holds_nothing_else(self) -> None:
        assert len(self.index) == sum(map(len, self.lists.values())) <= CAPACITY * len(WORKERS)
        assert self.index._holders.keys() == {h for known in self.lists.values() for h in known}


TestPrefixes = Prefixes.TestCase
TestPrefixes.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
