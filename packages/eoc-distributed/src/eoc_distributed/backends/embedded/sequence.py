"""One request inside the engine."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where a sequence stands."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Sequence:
    """A prompt and the answer that grows behind it; changed by its engine only.

    Attributes:
        prompt_tokens: Length of the prompt.
        output_tokens: Tokens after which the answer is complete.
        submitted_s: When it came.
        status: Where it stands.
        computed: Tokens whose keys and values are in the cache.
        generated: Tokens of the answer so far.
        table: KV blocks that it holds.
        micro_joules: Its share of the energy so far, µJ; recomputation after a preemption
            is charged to the sequence that was preempted.
        preemptions: How often it lost its cache.
        first_token_s: When the first token of the answer was there.
        ended_s: When it finished or was taken out.
    """

    __slots__ = (
        "computed",
        "ended_s",
        "first_token_s",
        "generated",
        "micro_joules",
        "output_tokens",
        "preemptions",
        "prompt_tokens",
        "status",
        "submitted_s",
        "table",
    )

    def __init__(self, *, prompt_tokens: int, output_tokens: int, submitted_s: float) -> None:
        self.prompt_tokens = prompt_tokens
        self.output_tokens = output_tokens
        self.submitted_s = submitted_s
        self.status = Status.WAITING
        self.computed = 0
        self.generated = 0
        self.table: list[int] = []
        self.micro_joules = 0
        self.preemptions = 0
        self.first_token_s: float | None = None
        self.ended_s: float | None = None

    @property
    def tokens(self) -> int:
        """Tokens of prompt and answer so far."""
        return self.prompt_tokens + self.generated

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in (Status.FINISHED, Status.CANCELLED)
