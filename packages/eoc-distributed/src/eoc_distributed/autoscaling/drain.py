"""Which worker to drain first: the one whose absence saves the most.

A drained worker no longer draws its idle power, and its tokens are served by the others, at
what a token costs there:

    saving (W) = idle power + tokens/s x (its J/token - J/token of the others)

In grams of CO2 equivalent each term is weighed by the intensity of the place where the
energy is drawn. Energy of the others is their mean, weighed by their tokens. The J/token of
a worker here is the marginal one, without its idle share, which is counted on its own.

The last worker of a model is never drained. A worker of which a figure is missing comes
after those of which all are known, with the least to finish first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from eoc_distributed.units import JOULES_PER_KWH, MICRO_JOULES_PER_JOULE


class Saving(StrEnum):
    """What is to be saved."""

    ENERGY = "energy"
    CARBON = "carbon"


@dataclass(frozen=True, slots=True)
class DrainCandidate:
    """A worker that could be drained, or restored.

    Attributes:
        worker_id: Which worker.
        models: Models it serves.
        in_flight: Requests that it would have to finish.
        tokens_per_s: Tokens that it serves, 1/s.
        idle_w: Power that it draws without work, W; None if not known.
        micro_joules_per_token: Energy of a token beside the idle power, µJ; None likewise.
        g_co2e_per_kwh: Carbon intensity of its electricity, gCO2e/kWh; None likewise.
    """

    worker_id: str
    models: Collection[str]
    in_flight: int = 0
    tokens_per_s: float = 0.0
    idle_w: float | None = None
    micro_joules_per_token: float | None = None
    g_co2e_per_kwh: float | None = None


def choose_to_drain(
    candidates: Sequence[DrainCandidate], *, count: int, saving: Saving = Saving.ENERGY
) -> tuple[str, ...]:
    """Return up to `count` workers to drain, in order.

    Args:
        candidates: All workers that serve at the moment.
        count: How many are to go.
        saving: What is to be saved.
    """
    left = list(candidates)
    chosen: list[str] = []
    while len(chosen) < count:
        serving = Counter(model for candidate in left for model in set(candidate.models))
        spare = [c for c in left if all(serving[model] > 1 for model in c.models)]
        if not spare:
            break
        best = max(spare, key=lambda candidate: _key(candidate, left, saving))
        chosen.append(best.worker_id)
        left.remove(best)
    return tuple(chosen)


def choose_to_restore(
    candidates: Sequence[DrainCandidate], *, count: int, saving: Saving = Saving.ENERGY
) -> tuple[str, ...]:
    """Return up to `count` drained workers to take back: the cheapest tokens first.

    Of equals the one with the least idle power; those with a missing figure come last.
    """

    def key(candidate: DrainCandidate) -> tuple[bool, float, float, str]:
        price, weight = _price(candidate, saving), _weight(candidate, saving)
        if price is None or weight is None or candidate.idle_w is None:
            return (True, 0.0, 0.0, candidate.worker_id)
        return (False, price, candidate.idle_w * weight, candidate.worker_id)

    return tuple(candidate.worker_id for candidate in sorted(candidates, key=key)[:count])


def _key(
    candidate: DrainCandidate, fleet: Sequence[DrainCandidate], saving: Saving
) -> tuple[bool, float, int, str]:
    """Order by: known, what is saved, little to finish, id."""
    saved = _saved_per_s(candidate, fleet, saving)
    return (
        saved is not None,
        saved if saved is not None else 0.0,
        -candidate.in_flight,
        candidate.worker_id,
    )


def _saved_per_s(
    candidate: DrainCandidate, fleet: Sequence[DrainCandidate], saving: Saving
) -> float | None:
    """Return what is saved each second, J or gCO2e; None if it is not known."""
    price = _price(candidate, saving)
    weight = _weight(candidate, saving)
    if price is None or weight is None or candidate.idle_w is None:
        return None
    others = [
        (other.tokens_per_s, elsewhere)
        for other in fleet
        if other is not candidate and (elsewhere := _price(other, saving)) is not None
    ]
    saved = candidate.idle_w * weight
    if not others:
        return saved
    tokens = math.fsum(tokens for tokens, _ in others)
    if tokens > 0:
        mean = math.fsum(tokens * elsewhere for tokens, elsewhere in others) / tokens
    else:
        mean = math.fsum(elsewhere for _, elsewhere in others) / len(others)
    return saved + candidate.tokens_per_s * (price - mean)


def _price(candidate: DrainCandidate, saving: Saving) -> float | None:
    """Return the cost of a token, J or gCO2e."""
    weight = _weight(candidate, saving)
    if candidate.micro_joules_per_token is None or weight is None:
        return None
    return candidate.micro_joules_per_token / MICRO_JOULES_PER_JOULE * weight


def _weight(candidate: DrainCandidate, saving: Saving) -> float | None:
    """Return what a joule counts for."""
    if saving is Saving.ENERGY:
        return 1.0
    if candidate.g_co2e_per_kwh is None:
        return None
    return candidate.g_co2e_per_kwh / JOULES_PER_KWH
