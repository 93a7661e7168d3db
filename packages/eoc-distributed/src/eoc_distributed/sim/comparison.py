"""Policies side by side: the same trace, fleet and hours, and one order at equal service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from eoc_distributed.carbon import CarbonSource
from eoc_distributed.errors import ConfigError

from .fleet import Site
from .policy import Policy
from .simulation import Conditions, Intensities, Progress, simulate
from .tally import Tally
from .traces.base import TracedRequest

LATE_SHARE: Final = 0.01
"""Share of requests that may break the objective for a policy to hold it."""
REFUSED_SHARE: Final = 0.001
"""Share of requests that may be refused."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy came to.

    Attributes:
        policy: Which one.
        tally: All that was counted.
    """

    policy: Policy
    tally: Tally

    @property
    def late_share(self) -> float:
        """Share of the requests answered whose first token broke the objective."""
        return self.tally.late / self.tally.finished if self.tally.finished else 0.0

    @property
    def refused_share(self) -> float:
        """Share of the requests that were refused."""
        arrived = self.tally.arrived
        return sum(self.tally.refused.values()) / arrived if arrived else 0.0

    @property
    def holds(self) -> bool:
        """Whether it serves as it should: few late, next to none refused."""
        return self.late_share <= LATE_SHARE and self.refused_share <= REFUSED_SHARE

    @property
    def joules_per_1k_tokens(self) -> float | None:
        """Energy of 1,000 generated tokens, idle power and prompts included, J."""
        tokens = self.tally.output_tokens
        return self.tally.micro_joules / 1e3 / tokens if tokens else None

    @property
    def grams_per_1k_tokens(self) -> float | None:
        """Emissions of 1,000 generated tokens, gCO2e."""
        tokens = self.tally.output_tokens
        return self.tally.grams * 1e3 / tokens if tokens else None


def compare(
    trace: Callable[[], Iterable[TracedRequest]],
    policies: Sequence[Policy],
    conditions: Conditions,
    *,
    progress: Callable[[Policy], Progress] | None = None,
) -> list[Outcome]:
    """Run every policy and return them, best first.

    Those that hold the service level come first, the least energy first; then the others, the
    fewest late and refused first.

    Args:
        trace: Opens the trace anew for each policy.
        policies: What is compared.
        conditions: What is alike for all.
        progress: Makes what is told how far a policy is.
    """
    outcomes = [
        Outcome(
            policy,
            simulate(
                trace(),
                policy,
                conditions,
                progress=None if progress is None else progress(policy),
            ),
        )
        for policy in policies
    ]
    return sorted(outcomes, key=_place)


def _place(outcome: Outcome) -> tuple[bool, float]:
    if outcome.holds:
        return (False, outcome.tally.micro_joules)
    return (True, outcome.late_share + outcome.refused_share)


def hourly(source: CarbonSource, fleet: Iterable[Site], *, start: datetime) -> Intensities:
    """Return the intensities of a fleet's zones by hour from an instant.

    Raises:
        ConfigError: The source does not know a zone at the start; later hours that it does not
            know have the figure of the last one that it does.
    """
    known: dict[tuple[str, int], float] = {}

    def intensity(zone: str, hour: int) -> float:
        found = known.get((zone, hour))
        if found is None:
            figure = source.intensity(zone, start + timedelta(hours=hour))
            if figure is not None:
                found = figure.g_per_kwh
            elif hour > 0:
                found = intensity(zone, hour - 1)
            else:
                at = start.astimezone(UTC).isoformat(timespec="minutes")
                raise ConfigError(f"zone {zone}", f"no carbon intensity is known at {at}")
            known[zone, hour] = found
        return found

    for site in fleet:
        intensity(site.zone, 0)
    return intensity


def faster(trace: Iterable[TracedRequest], speed: float) -> Iterable[TracedRequest]:
    """Yield a trace with its arrivals `speed` times as close together."""
    for request in trace:
        yield TracedRequest(
            request.arrival_s / speed, request.prompt_tokens, request.output_tokens, request.blocks
        )
