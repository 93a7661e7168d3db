"""How much power an accelerator draws.

P(n) = busy + (peak - busy) x (1 - exp(-n / n0)) during a step of n tokens: a step of few
tokens waits for memory and draws `busy`, a wide one computes and draws `peak`, near the
accelerator's limit. Between steps, with the weights resident, it draws `idle`.

The curve was chosen because it follows the 11 points that ML.ENERGY gives for Llama 3.1 8B
on one H100 (486 W at 8 sequences, 610 W at 64, 690 W at 256); a hyperbola does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp


@dataclass(frozen=True, slots=True)
class Power:
    """Coefficients of the model.

    Attributes:
        idle_w: Draw while nothing runs, W.
        busy_w: Draw of the narrowest step, W.
        peak_w: Draw of the widest step, W.
        width_tokens: Tokens in a step (n0) at which 63 % of the way to `peak_w` is gone.
    """

    idle_w: float
    busy_w: float
    peak_w: float
    width_tokens: float

    def watts(self, tokens: int) -> float:
        """Return the draw during a step of `tokens` tokens (at least 1), W."""
        return self.busy_w + (self.peak_w - self.busy_w) * (1.0 - exp(-tokens / self.width_tokens))

    def idle_micro_joules(self, seconds: float) -> int:
        """Return the energy of `seconds` seconds without work, µJ."""
        return round(self.idle_w * seconds * 1e6)
