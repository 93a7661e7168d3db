"""The fleet of the demo: accelerators of very different thrift, in zones of very different carbon.

The thriftiest machine draws coal power and the slowest draws nearly none, so that energy,
carbon and latency pull in different directions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from eoc_distributed.backends.embedded.accelerators import (
    A100,
    APPLE_M,
    B200,
    CPU_SERVER,
    H100,
    L4,
    Profile,
)
from eoc_distributed.carbon import Annual, CarbonSource
from eoc_distributed.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Site:
    """One simulated worker.

    Attributes:
        id: Name of the worker.
        profile: Its hardware.
        zone: Electricity zone where it draws its power.
    """

    id: str
    profile: Profile
    zone: str


DEMO_FLEET = (
    Site("pl-b200", B200, "PL"),
    Site("fr-h100", H100, "FR"),
    Site("us-h100", H100, "US-CAL-CISO"),
    Site("de-a100", A100, "DE"),
    Site("gb-a100", A100, "GB"),
    Site("se-l4", L4, "SE"),
    Site("fr-apple", APPLE_M, "FR"),
    Site("no-cpu", CPU_SERVER, "NO"),
)


def intensities(
    fleet: Iterable[Site], *, source: CarbonSource | None = None, at: datetime | None = None
) -> dict[str, float]:
    """Return gCO2e/kWh for each zone of a fleet; annual means by default.

    Raises:
        ConfigError: The source does not know a zone.
    """
    source = source if source is not None else Annual()
    at = at if at is not None else datetime.now(UTC)
    found: dict[str, float] = {}
    for site in fleet:
        intensity = source.intensity(site.zone, at)
        if intensity is None:
            raise ConfigError(site.id, f"no carbon intensity is known for zone {site.zone}")
        found[site.zone] = intensity.g_per_kwh
    return found
