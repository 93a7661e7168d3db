"""Sticky routing on a recorded trace of conversations.

Requests occupy their worker for 50 µs for each prompt token that is not cached and 20 ms
for each answer token: a stand-in for an engine, enough to make loads bind.
"""

from __future__ import annotations

import gzip
import heapq
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import pytest

from eoc_distributed import Capability, Cluster, InMemoryWorker, LeastBusy, Request
from eoc_distributed.cluster import Ticket
from eoc_distributed.locality import PrefixIndex, StickySessions

PREFILL_S, DECODE_S = 5e-5, 0.02
BLOCK_TOKENS = 512


class Row(msgspec.Struct):
    timestamp: int
    input_length: int
    output_length: int
    hash_ids: tuple[int, ...]


@pytest.mark.parametrize("workers", [8, 16])
def test_nine_tenths_of_an_infinite_caches_hits_without_a_hot_spot(
    shared: Path, workers: int
) -> None:
    trace = shared / "data" / "inference" / "mooncake_conversation_trace.jsonl.gz"
    capability = Capability({"m"}, max_concurrency=1000)
    cluster = Cluster(InMemoryWorker(f"w{number}", capability) for number in range(workers))
    index = PrefixIndex(blocks_per_worker=1_000_000)
    router = StickySessions(LeastBusy(rng=Random(1)), rng=Random(2), index=index)
    seen: set[int] = set()
    loads: Counter[str] = Counter()
    ideal = hits = 0
    ends: list[tuple[float, int, Ticket]] = []
    with gzip.open(trace) as lines:
        for number, line in enumerate(lines):
            row = msgspec.json.decode(line, type=Row)
            now_s = row.timestamp / 1000
            while ends and ends[0][0] <= now_s:
                heapq.heappop(ends)[2].end()
            blocks = row.hash_ids
            ideal += next((d for d, h in enumerate(blocks) if h not in seen), len(blocks))
            seen.update(blocks)
            held = {member.id: index.depth(member.id, blocks) for member in cluster}
            request = Request(model="m", prompt_tokens=row.input_length, prompt_blocks=blocks)
            worker_id = router.choose(request, cluster).id
            hits += held[worker_id]
            loads[worker_id] += 1
            uncached = max(0, row.input_length - BLOCK_TOKENS * held[worker_id])
            end_s = now_s + PREFILL_S * uncached + DECODE_S * row.output_length
            ticket = cluster.begin(worker_id, tokens=row.input_length)
            heapq.heappush(ends, (end_s, number, ticket))
    assert hits >= 0.9 * ideal
    assert max(loads.values()) <= 1.3 * sum(loads.values()) / workers
