"""Carbon intensity: what a figure says, and where one can be had."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from eoc_distributed.units import Quality


class Factors(StrEnum):
    """What an emission factor counts. Figures of different kinds are not comparable."""

    LIFECYCLE = "lifecycle"
    """Building, fuel supply and operation of the plants (IPCC 2014 medians and their like)."""
    DIRECT = "direct"
    """What leaves the chimney."""


@dataclass(frozen=True, slots=True)
class Intensity:
    """A zone's carbon intensity over a period.

    Attributes:
        g_per_kwh: gCO2e for each kWh drawn.
        factors: What the figure counts.
        source: Who published it.
        quality: Measured, estimated or declared.
        valid_from: Start of the period, UTC; None if the figure is an annual mean.
        valid_to: End of the period, UTC.
    """

    g_per_kwh: float
    factors: Factors
    source: str
    quality: Quality
    valid_from: datetime | None = None
    valid_to: datetime | None = None


class CarbonSource(Protocol):
    """Tells the carbon intensity of zones."""

    def intensity(self, zone: str, at: datetime) -> Intensity | None:
        """Return a zone's intensity at an instant (aware), or None if it is not known here."""
        ...
