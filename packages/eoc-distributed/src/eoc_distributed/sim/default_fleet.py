"""The fleet that `eoc simulate` takes without `--fleet`: sixteen workers, four kinds, eight zones.

Kinds and zones are mixed so that thrift and clean power do not go together: one of the two
thriftiest machines stands where power is among the dirtiest. Zones are those of which hourly
intensities of 2024 are published for all.
"""

from __future__ import annotations

from typing import Final

from eoc_distributed.backends.embedded.accelerators import A100, B200, H100, L4

from .fleet import Site

_PLACES: Final = (
    (B200, ("CA-ON", "IN-WE")),
    (H100, ("GB", "DE", "US-CAL-CISO", "KR", "BR-CS", "AU-NSW")),
    (A100, ("CA-ON", "GB", "DE", "US-CAL-CISO", "IN-WE", "KR")),
    (L4, ("BR-CS", "CA-ON")),
)

DEFAULT_FLEET: Final = tuple(
    Site(f"{zone.lower()}-{profile.name}", profile, zone)
    for profile, zones in _PLACES
    for zone in zones
)
