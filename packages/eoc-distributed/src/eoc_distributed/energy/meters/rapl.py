"""CPU packages and DRAM by RAPL, through Linux powercap.

Top-level package zones and their dram subzones are summed; core and uncore lie within the
package and psys contains it. Counters wrap at `max_energy_range_uj` (about 262 kJ, less
than an hour of a busy server), so they have to be read more often than that.

Source: Linux kernel documentation, power/powercap. Since CVE-2020-8694 the counters are
readable by root alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eoc_distributed.errors import MeterFailed
from eoc_distributed.units import MicroJoules, Quality

from .base import Meter

POWERCAP = Path("/sys/class/powercap")


@dataclass(slots=True)
class _Zone:
    counter: Path
    range_uj: int
    last_uj: int


class RAPL:
    """The sum of a machine's package and DRAM counters since it was opened.

    Args:
        root: The powercap folder.

    Raises:
        MeterFailed: There is no such counter, or it may not be read.
    """

    quality = Quality.MEASURED

    def __init__(self, root: Path = POWERCAP) -> None:
        self._total_uj = 0
        self._zones: list[_Zone] = []
        try:
            for zone in sorted(root.glob("intel-rapl:*")):
                name = (zone / "name").read_text().strip()
                top_level = zone.name.count(":") == 1
                if (top_level and name.startswith("package")) or (not top_level and name == "dram"):
                    counter = zone / "energy_uj"
                    range_uj = int((zone / "max_energy_range_uj").read_text())
                    self._zones.append(_Zone(counter, range_uj, int(counter.read_text())))
        except (OSError, ValueError) as error:
            raise MeterFailed("rapl", str(error)) from error
        if not self._zones:
            raise MeterFailed("rapl", f"no package counter in {root}")

    def read_micro_joules(self) -> MicroJoules:
        for zone in self._zones:
            try:
                now_uj = int(zone.counter.read_text())
            except (OSError, ValueError) as error:
                raise MeterFailed("rapl", str(error)) from error
            self._total_uj += (now_uj - zone.last_uj) % (zone.range_uj + 1)
            zone.last_uj = now_uj
        return MicroJoules(self._total_uj)


def open_rapl(rest: str) -> Meter:
    """Open the counters of this machine; `rest` may name another powercap folder."""
    return RAPL(Path(rest) if rest else POWERCAP)
