"""Steps a second of the continuous batcher.

`single` takes one pass at a call, `many` lets the batcher take all equal passes at once, as
a simulator does. The crowd has the mean lengths of the Azure conversation trace of 2023.
"""

from __future__ import annotations

import time

from eoc_distributed.batching import BatchLimits, ContinuousBatcher, KVBlockBudget

REQUESTS = 4_000
PROMPT, OUTPUT = 1155, 211
REPEATS = 3


def serve(*, sequences: int, blocks: int, at_most: int) -> tuple[int, float]:
    """Serve the crowd; return its passes and the seconds that scheduling them took."""
    budget = KVBlockBudget(blocks=blocks)
    batcher: ContinuousBatcher[int] = ContinuousBatcher(budget, BatchLimits(sequences=sequences))
    start = time.perf_counter()
    for key in range(REQUESTS):
        batcher.add(
            key,
            prompt_tokens=PROMPT - 50 + key * 37 % 100,
            output_tokens=OUTPUT - 100 + key * 53 % 200,
        )
    passes = 0
    while batcher.running or batcher.waiting:
        passes += batcher.step(at_most=at_most).count
    return passes, time.perf_counter() - start


def rows() -> list[dict[str, object]]:
    """Measure steady decoding, a full batch, and a batch that lacks blocks."""
    found: list[dict[str, object]] = []
    for name, sequences, blocks in (
        ("8 at a time", 8, 30_000),
        ("256 at a time", 256, 30_000),
        ("256, blocks for 45", 256, 4_000),
    ):
        for mode, at_most in (("single", 1), ("many", 100_000)):
            runs = [
                serve(sequences=sequences, blocks=blocks, at_most=at_most) for _ in range(REPEATS)
            ]
            passes, seconds = min(runs, key=lambda run: run[1])
            found.append(
                {
                    "batch": name,
                    "mode": mode,
                    "passes_per_s": round(passes / seconds),
                    "requests_per_s": round(REQUESTS / seconds),
                }
            )
    return found


if __name__ == "__main__":
    for row in rows():
        print(row)
