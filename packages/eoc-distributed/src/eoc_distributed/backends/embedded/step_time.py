"""How long one forward pass takes.

T = fixed + prefill tokens x b + decoding sequences x c + context tokens read x d, in seconds.
`fixed` is the time to read the weights once plus the overhead of a step; `d` is the time to
read the KV cache of one token of context. Prompts and answers share a step.

Source: the linear form of max(compute, memory) + overhead that simulators of vLLM fit
(Vidur, MLSys 2024, goes further and splits it by operator).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class StepTime:
    """Coefficients of the model, all in seconds.

    Attributes:
        fixed_s: One pass over the weights, and what a step costs besides.
        prefill_token_s: For each prompt token computed.
        decode_sequence_s: For each sequence that generates one token.
        context_token_s: For each token of context that a generating sequence reads.
    """

    fixed_s: float
    prefill_token_s: float
    decode_sequence_s: float
    context_token_s: float

    def seconds(self, *, prefill_tokens: int, decode_sequences: int, context_tokens: int) -> float:
        """Return the duration of one step, s."""
        return (
            self.fixed_s
            + prefill_tokens * self.prefill_token_s
            + decode_sequences * self.decode_sequence_s
            + context_tokens * self.context_token_s
        )

    def decode_seconds(self, steps: int, *, sequences: int, context_tokens: int) -> float:
        """Return the duration of several steps in which the same sequences each grow by one.

        Args:
            steps: How many.
            sequences: Sequences in each step.
            context_tokens: Their context before the first step; it grows by `sequences`
                with each.
        """
        first_s = self.seconds(
            prefill_tokens=0, decode_sequences=sequences, context_tokens=context_tokens
        )
        growth_s = sequences * self.context_token_s
        return steps * first_s + growth_s * (steps * (steps - 1) // 2)

    def decode_steps_within(self, limit_s: float, *, sequences: int, context_tokens: int) -> int:
        """Return how many such steps end within `limit_s` seconds, at least 0."""
        first_s = self.seconds(
            prefill_tokens=0, decode_sequences=sequences, context_tokens=context_tokens
        )
        growth_s = sequences * self.context_token_s
        if limit_s < first_s:
            return 0
        # Root of growth/2 k^2 + (first - growth/2) k - limit, in the form that does not cancel.
        linear_s = first_s - growth_s / 2.0
        root = sqrt(linear_s * linear_s + 2.0 * growth_s * limit_s)
        steps = int(2.0 * limit_s / (linear_s + root))
        while steps > 1 and limit_s < self.decode_seconds(
            steps, sequences=sequences, context_tokens=context_tokens
        ):
            steps -= 1
        return max(1, steps)
