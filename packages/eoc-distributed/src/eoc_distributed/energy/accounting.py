"""Energy and carbon of each request, summed for each worker.

A request's energy is what the worker itself reports for it, or its tokens times the
worker's figure per token. Where neither is known the energy is unknown: such requests
are counted apart and never as zero. Sums are whole micro-joules, hence exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from eoc_distributed.units import GramsCO2e, MicroJoules, Quality, grams_co2e, worst


class Energy(msgspec.Struct, frozen=True):
    """An amount of energy and where the figure comes from."""

    micro_joules: MicroJoules
    quality: Quality


class RequestCost(msgspec.Struct, frozen=True):
    """What one request used; None where it is not known.

    Attributes:
        prompt_tokens: Tokens read.
        completion_tokens: Tokens generated.
        energy: Energy of the request.
        g_co2e: Emissions, operational only.
        carbon_quality: Where `g_co2e` comes from: the worse of energy and intensity.
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    energy: Energy | None
    g_co2e: GramsCO2e | None
    carbon_quality: Quality | None = None


def cost_of(
    *,
    prompt_tokens: int | None,
    completion_tokens: int | None,
    reported: Energy | None,
    per_token: Energy | None,
    g_per_kwh: float | None,
    exact: bool = True,
    carbon_quality: Quality = Quality.DECLARED,
) -> RequestCost:
    """Return what a request cost.

    Args:
        prompt_tokens: Tokens read; None if nobody counted them.
        completion_tokens: Tokens generated; None likewise.
        reported: What the worker says that the request cost; it wins.
        per_token: The worker's energy per token; it counts every token of the request.
        g_per_kwh: Carbon intensity where the worker runs.
        exact: Whether the engine counted the tokens; the energy of estimated tokens is an
            estimate at best.
        carbon_quality: Where the intensity comes from.
    """
    energy = reported
    if (
        energy is None
        and per_token is not None
        and prompt_tokens is not None
        and completion_tokens is not None
    ):
        micro_joules = (prompt_tokens + completion_tokens) * per_token.micro_joules
        quality = per_token.quality if exact else worst(per_token.quality, Quality.ESTIMATED)
        energy = Energy(MicroJoules(micro_joules), quality)
    if energy is None or g_per_kwh is None:
        return RequestCost(prompt_tokens, completion_tokens, energy, None)
    return RequestCost(
        prompt_tokens,
        completion_tokens,
        energy,
        grams_co2e(energy.micro_joules, g_per_kwh),
        worst(energy.quality, carbon_quality),
    )


@dataclass(slots=True)
class WorkerTotals:
    """Sums over the requests of one worker.

    Attributes:
        requests: Requests that ended, in whatever way: cancelled and refused ones too.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens generated.
        micro_joules: Energy of the requests whose energy is known.
        g_co2e: Emissions of the requests whose emissions are known.
        unknown_energy: Requests whose energy is not known.
        unknown_carbon: Requests whose emissions are not known.
        quality: The worst quality among the energies summed; None before the first.
        carbon_quality: The worst quality among the emissions summed; None before the first.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    micro_joules: int = 0
    g_co2e: float = 0.0
    unknown_energy: int = 0
    unknown_carbon: int = 0
    quality: Quality | None = None
    carbon_quality: Quality | None = None

    def add(self, cost: RequestCost) -> None:
        """Count one more request."""
        self.requests += 1
        self.prompt_tokens += cost.prompt_tokens or 0
        self.completion_tokens += cost.completion_tokens or 0
        if cost.energy is None:
            self.unknown_energy += 1
        else:
            self.micro_joules += cost.energy.micro_joules
            quality = cost.energy.quality
            self.quality = quality if self.quality is None else worst(self.quality, quality)
        if cost.g_co2e is None:
            self.unknown_carbon += 1
        else:
            self.g_co2e += cost.g_co2e
            quality = cost.carbon_quality or Quality.DECLARED
            known = self.carbon_quality
            self.carbon_quality = quality if known is None else worst(known, quality)


@dataclass(slots=True)
class Ledger:
    """Totals for each worker, by worker id; one entry for each worker ever charged."""

    workers: dict[str, WorkerTotals] = field(default_factory=dict)

    def charge(self, worker_id: str, cost: RequestCost) -> None:
        """Add one request to its worker's totals."""
        totals = self.workers.get(worker_id)
        if totals is None:
            totals = self.workers[worker_id] = WorkerTotals()
        totals.add(cost)
