"""Units, and where a figure comes from.

Energy is counted in whole micro-joules, so that sums are exact; carbon in grams of
CO2 equivalent; carbon intensity in grams of CO2 equivalent per kilowatt-hour.
1 kWh = 3.6e6 J = 3.6e12 µJ.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NewType

MicroJoules = NewType("MicroJoules", int)
GramsCO2e = NewType("GramsCO2e", float)

MICRO_JOULES_PER_JOULE = 1e6
JOULES_PER_KWH = 3.6e6


class Quality(StrEnum):
    """Where a figure comes from, best first."""

    MEASURED = "measured"
    """A sensor read it: NVML, RAPL, a power meter."""
    ESTIMATED = "estimated"
    """A model computed it from other figures."""
    DECLARED = "declared"
    """Somebody wrote it down: a command line, a configuration file, a data sheet."""

    ascii: bytes
    """The name as bytes."""
    rank: int
    """Place from best to worst, from 0: a sum is as good as its worst part."""


for _rank, _quality in enumerate(Quality):
    _quality.ascii = _quality.value.encode("ascii")
    _quality.rank = _rank


def worst(first: Quality, second: Quality) -> Quality:
    """Return the quality of a figure computed from two others."""
    return first if first is second or first.rank >= second.rank else second


def grams_co2e(micro_joules: int, g_per_kwh: float) -> GramsCO2e:
    """Return the emissions of `micro_joules` at an intensity, in gCO2e.

    Source: operational part of the Software Carbon Intensity, ISO/IEC 21031:2024, E x I.
    """
    return GramsCO2e(micro_joules / MICRO_JOULES_PER_JOULE / JOULES_PER_KWH * g_per_kwh)
