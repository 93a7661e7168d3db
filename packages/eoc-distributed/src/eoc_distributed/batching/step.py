"""The limits of a batch, and what one step of it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import msgspec

K = TypeVar("K")
"""What the caller names its requests by; hashable, unique among those in the batcher."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Parameters of the engine's scheduler; the defaults are vLLM's on 80 GB devices.

    Attributes:
        batched_tokens: Tokens of one step, at least `sequences` (`max_num_batched_tokens`).
        sequences: Sequences that run at a time, at least 1 (`max_num_seqs`).
        model_tokens: Tokens of the longest sequence, at least 2 (`max_model_len`).
        long_prefill_tokens: Most tokens of one request in a step while there are others;
            0 for no such limit (`long_prefill_token_threshold`).
        chunked_prefill: Whether a prompt may be read over several steps. Without it
            `batched_tokens` is at least `model_tokens`.
        whole_prompt: Whether a sequence is admitted only if all of its prompt fits in the
            free blocks, and not its first chunk alone (`scheduler_reserve_full_isl`).
        prefix_caching: Whether blocks are found again by their hash.
        waiting: Requests that wait at most; None for any number (`max_num_queued_reqs`).

    Raises:
        ValueError: A limit is out of its range.

    Source: vLLM `SchedulerConfig`.
    """

    batched_tokens: int = 8192
    sequences: int = 1024
    model_tokens: int = 131_072
    long_prefill_tokens: int = 0
    chunked_prefill: bool = True
    whole_prompt: bool = True
    prefix_caching: bool = True
    waiting: int | None = None

    def __post_init__(self) -> None:
        if self.sequences < 1 or self.model_tokens < 2 or self.long_prefill_tokens < 0:  # noqa: PLR2004
            raise ValueError(f"a limit is out of its range: {self}")
        if self.batched_tokens < self.sequences:
            raise ValueError(
                f"batched_tokens {self.batched_tokens} is below sequences {self.sequences}: "
                "some would get no token in a step"
            )
        if not self.chunked_prefill and self.batched_tokens < self.model_tokens:
            raise ValueError(
                f"without chunked prefill, batched_tokens {self.batched_tokens} is at least "
                f"model_tokens {self.model_tokens}"
            )
        if self.waiting is not None and self.waiting < 1:
            raise ValueError(f"waiting is at least 1, or None: {self.waiting}")


class Quiet(NamedTuple):
    """Passes ahead in which nothing but decoding happens.

    Attributes:
        passes: How many, at least 1; at the end of the last one a sequence may finish.
        decodes: Sequences that get one token in each.
        context_tokens: Tokens that they attend to in the first, as in `Step`.
    """

    passes: int
    decodes: int
    context_tokens: int


class Admission(msgspec.Struct, Generic[K], frozen=True):
    """A request that has begun to run.

    Attributes:
        key: Which request.
        cached_tokens: Tokens that need no computing, as their blocks were cached.
        resumed: Whether it ran before and was preempted.
    """

    key: K
    cached_tokens: int
    resumed: bool


class Step(msgspec.Struct, Generic[K], frozen=True):
    """What one forward pass does, or `count` equal ones in a row.

    Figures are those of the first pass. Each further pass decodes the same sequences,
    whose contexts are one token longer each time; what is listed as first token or
    finished happens at the end of the last pass.

    Attributes:
        count: Passes, at least 1; 0 where there is nothing to run.
        decodes: Sequences that get one token each without reading prompt.
        prefill_tokens: Tokens of prompts, and of preempted sequences, read in the pass.
        context_tokens: Tokens that the scheduled sequences attend to, their new ones
            included, summed over them.
        admitted: Requests that begin to run, in order.
        first_tokens: Requests whose first token this is, in the order in which they run.
        preempted: Requests that lost their blocks and wait again, in order.
        finished: Requests that got their last token, in the order in which they run.
        cancelled: Cancelled requests whose blocks became free before the pass.
    """

    count: int
    decodes: int
    prefill_tokens: int
    context_tokens: int
    admitted: tuple[Admission[K], ...] = ()
    first_tokens: tuple[K, ...] = ()
    preempted: tuple[K, ...] = ()
    finished: tuple[K, ...] = ()
    cancelled: tuple[K, ...] = ()

    def total_context_tokens(self) -> int:
        """Return `context_tokens` summed over all passes."""
        return self.count * self.context_tokens + self.decodes * (
            self.count * (self.count - 1) // 2
        )
