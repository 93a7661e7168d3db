"""What the next request costs on a worker, beside what its batch costs already.

The energy of a forward pass grows slowly with its sequences: E(n) = fixed + n x marginal, so a
token of a batch of n costs fixed / n + marginal. On a worker that runs anyway one more sequence
adds the marginal part alone; on one without work it brings the fixed part too (`energy.curve`
learns both). So requests gather
where the batch is cheapest to widen, up to the latency objective, and what is left without work
can be drained. Of equal prices the fuller worker comes first, or the last requests of an evening
would keep a whole fleet awake.

Source: ML.ENERGY leaderboard, February 2026: energy of a token falls 6 to 15 times from 8
sequences to a full batch, and follows the form above within 4 % (Llama 3.1 8B on one H100).
"""

from __future__ import annotations

from typing import Final

from eoc_distributed.worker import Capability, Load

from .objective import FIGURE_MISSING, HOLDS
from .ranking import Key

_FULLER_FIRST: Final = 1e-3
"""Taken off the price for each request in flight, µJ: less than any price is known to."""


def next_token_micro_joules(load: Load) -> float | None:
    """Return the energy that one more token would add on a worker, µJ; None if it is not known."""
    marginal = load.marginal_micro_joules_per_token
    opening = load.opening_micro_joules_per_token
    if marginal is None or opening is None:
        return None
    return marginal if load.in_flight else marginal + opening


def marginal_energy(_capability: Capability, load: Load) -> Key:
    """Key: the energy of the next token, the fuller first."""
    price = next_token_micro_joules(load)
    if price is None:
        return (FIGURE_MISSING, load.busyness())
    return (HOLDS, price - _FULLER_FIRST * load.in_flight)


def marginal_carbon(_capability: Capability, load: Load) -> Key:
    """Key: the emissions of the next token, the fuller first."""
    price, intensity = next_token_micro_joules(load), load.g_co2e_per_kwh
    if price is None or intensity is None:
        return (FIGURE_MISSING, load.busyness())
    return (HOLDS, price * intensity - _FULLER_FIRST * load.in_flight)
