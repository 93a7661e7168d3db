"""Limits of the queues, and what moving a request costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eoc_distributed.locality import PrefixIndex
from eoc_distributed.member import Member

from .queued import QueuedRequest


@dataclass(frozen=True, slots=True)
class StealingPolicy:
    """Parameters of the scheduler.

    Attributes:
        worker_limit: Requests that wait for one worker at most, at least 1.
        total_limit: Requests that wait at most, at least 1.
        min_gain_s: Time that a request must gain to be stolen, s; above 0, so that what
            hardly matters stays.
        service_s: Time for which a request occupies a worker, s, until completions tell.
        max_retry_after_s: Longest wait that a refused caller is told, s.

    Raises:
        ValueError: A parameter is out of its range.
    """

    worker_limit: int = 64
    total_limit: int = 10_000
    min_gain_s: float = 0.05
    service_s: float = 5.0
    max_retry_after_s: float = 60.0

    def __post_init__(self) -> None:
        if min(self.worker_limit, self.total_limit) < 1:
            raise ValueError(f"limits are at least 1: {self}")
        if min(self.min_gain_s, self.service_s, self.max_retry_after_s) <= 0:
            raise ValueError(f"times are above 0: {self}")


class MoveCost(Protocol):
    """Says what is lost when a request leaves the worker that it waits for."""

    def cost_s(self, queued: QueuedRequest, *, victim_id: str, thief: Member) -> float:
        """Return the loss as time, s; energy or carbon are weighed in by the caller's rate."""
        ...


class PrefixLoss:
    """The time to read again what the first worker has in its cache.

    Args:
        index: Who holds which prefix.
        tokens_per_block: Tokens of one block of `Request.prompt_blocks`.
        prefill_tokens_per_s: Reading speed of a worker that does not report its own.
    """

    def __init__(
        self, index: PrefixIndex, *, tokens_per_block: int, prefill_tokens_per_s: float
    ) -> None:
        if tokens_per_block < 1 or not prefill_tokens_per_s > 0:
            raise ValueError(f"{tokens_per_block} tokens, {prefill_tokens_per_s} tokens/s")
        self._index = index
        self._tokens_per_block = tokens_per_block
        self._prefill_tokens_per_s = prefill_tokens_per_s

    def cost_s(self, queued: QueuedRequest, *, victim_id: str, thief: Member) -> float:
        blocks = queued.request.prompt_blocks
        lost = self._index.depth(victim_id, blocks) - self._index.depth(thief.id, blocks)
        speed = thief.reported.prefill_tokens_per_s or self._prefill_tokens_per_s
        return max(0, lost) * self._tokens_per_block / speed
