"""What passes of any width cost, learnt from a meter.

The energy of a worker beside its idle power is taken as

    E = passes x per_pass + generated tokens x per_token + prompt tokens x per_prompt_token,

where a forward pass costs the same whatever runs in it, and each token adds to it. A gateway knows
the tokens; passes are told by the engine, or are generated tokens over mean sequences. The three
are fitted as multiples of a prior by recursive least squares that forget, so that what the traffic
does not tell apart keeps the prior's proportions; no multiple leaves 1/10 to 10.

Source: form as in `routing.marginal`; prior from the ML.ENERGY leaderboard by way of the profile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_FORGET: Final = 0.98
"""Weight that an observation keeps at the next one: about 50 count."""
_DOUBT: Final = 0.25
"""Variance of each multiple before anything is seen: the prior may be off by half."""
_NOISE: Final = 0.01
"""Variance of an observation over its prediction: a tenth."""
_LEAST, _MOST = 0.1, 10.0


@dataclass(frozen=True, slots=True)
class PassEnergy:
    """Energy of passes, µJ, idle power not counted.

    Attributes:
        per_pass: Part of a pass that does not depend on what runs in it.
        per_token: Part of each token generated.
        per_prompt_token: Part of each prompt token read.
    """

    per_pass: float
    per_token: float
    per_prompt_token: float

    def of(self, *, passes: float, tokens: float, prompt_tokens: float) -> float:
        """Return the energy of so much work, µJ."""
        return (
            passes * self.per_pass + tokens * self.per_token + prompt_tokens * self.per_prompt_token
        )


class EnergyCurve:
    """Keeps the estimate of one worker up to date.

    Args:
        prior: What is known before anything is measured; each part above 0.

    Attributes:
        estimate: The present one.
        prompt_share: Prompt tokens among all tokens of late, 0 to 1.
        observations: How many have been taken.

    Raises:
        ValueError: A part of the prior is not above 0.
    """

    __slots__ = ("_multiples", "_prior", "_spread", "estimate", "observations", "prompt_share")

    def __init__(self, prior: PassEnergy) -> None:
        if min(prior.per_pass, prior.per_token, prior.per_prompt_token) <= 0:
            raise ValueError(f"each part of a prior is above 0: {prior}")
        self._prior = prior
        self._multiples = [1.0, 1.0, 1.0]
        self._spread = [[_DOUBT * (row == column) for column in range(3)] for row in range(3)]
        self.estimate = prior
        self.prompt_share = 0.8
        self.observations = 0

    def observe(
        self, micro_joules: float, *, passes: float, tokens: int, prompt_tokens: int
    ) -> PassEnergy:
        """Take what a while has cost beside idle power; return the new estimate.

        A while without work, or with a figure that cannot be, says nothing.

        Args:
            micro_joules: Energy beside what the worker draws without work, µJ.
            passes: Forward passes, above 0.
            tokens: Tokens generated.
            prompt_tokens: Prompt tokens read.
        """
        prior = self._prior
        parts = (
            passes * prior.per_pass,
            tokens * prior.per_token,
            prompt_tokens * prior.per_prompt_token,
        )
        expected = sum(parts)
        if passes <= 0 or min(parts) < 0 or not 0 < micro_joules < float("inf"):
            return self.estimate
        x = [part / expected for part in parts]
        spread = self._spread
        seen = [sum(row[i] * x[i] for i in range(3)) for row in spread]
        weight = _NOISE + sum(x[i] * seen[i] for i in range(3))
        missed = micro_joules / expected - sum(x[i] * self._multiples[i] for i in range(3))
        for i in range(3):
            moved = self._multiples[i] + seen[i] / weight * missed
            self._multiples[i] = min(_MOST, max(_LEAST, moved))
        self._spread = spread = [
            [(spread[row][col] - seen[row] * seen[col] / weight) / _FORGET for col in range(3)]
            for row in range(3)
        ]
        # Forgetting must not let the doubt of what is never told apart grow for ever.
        doubt = max(spread[i][i] for i in range(3))
        if doubt > _DOUBT:
            self._spread = [[value * _DOUBT / doubt for value in row] for row in spread]
        a, b, c = self._multiples
        self.estimate = PassEnergy(
            a * prior.per_pass, b * prior.per_token, c * prior.per_prompt_token
        )
        if tokens + prompt_tokens > 0:
            share = prompt_tokens / (tokens + prompt_tokens)
            self.prompt_share += (share - self.prompt_share) / 8.0
        self.observations += 1
        return self.estimate

    def marginal(self) -> float:
        """Return the energy of one more token of the usual mix in passes that run anyway, µJ."""
        read, estimate = self.prompt_share, self.estimate
        return read * estimate.per_prompt_token + (1.0 - read) * estimate.per_token

    def opening(self) -> float:
        """Return what a token costs more where no pass would run without it, µJ."""
        return (1.0 - self.prompt_share) * self.estimate.per_pass
