"""Annual means for some zones: what is known of a zone when nothing better is.

Figures: consumption-based, lifecycle factors, year 2025, by Electricity Maps (Open Database
License 1.0); a small excerpt. Zone names are theirs: an ISO 3166 country or a bidding zone
or balancing authority within one.
"""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType

from eoc_distributed.units import Quality

from .base import Factors, Intensity

SOURCE = "Electricity Maps, annual mean of 2025"

G_PER_KWH_2025 = MappingProxyType(
    {
        "AU-NSW": 525.0,
        "BR-CS": 106.0,
        "CA-ON": 111.0,
        "CA-QC": 41.0,
        "CN": 485.0,
        "DE": 342.0,
        "DK-DK1": 112.0,
        "FR": 31.0,
        "GB": 176.0,
        "IN-WE": 653.0,
        "IT-NO": 275.0,
        "JP-TK": 535.0,
        "KR": 423.0,
        "NO": 30.0,
        "NO-NO1": 24.0,
        "PL": 565.0,
        "SE": 21.0,
        "SE-SE3": 20.0,
        "SG": 483.0,
        "TW": 519.0,
        "US-CAL-CISO": 208.0,
        "US-MIDA-PJM": 418.0,
        "US-MIDW-MISO": 501.0,
        "US-NE-ISNE": 309.0,
        "US-NW-BPAT": 129.0,
        "US-NY-NYIS": 314.0,
        "US-TEX-ERCO": 363.0,
        "ZA": 700.0,
    }
)
"""gCO2e/kWh by zone."""


class Annual:
    """Tells the annual mean of a zone, whatever the instant."""

    def intensity(self, zone: str, at: datetime) -> Intensity | None:  # noqa: ARG002 - a year is a year
        figure = G_PER_KWH_2025.get(zone)
        if figure is None:
            return None
        return Intensity(figure, Factors.LIFECYCLE, SOURCE, Quality.ESTIMATED)
