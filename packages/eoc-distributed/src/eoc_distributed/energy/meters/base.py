"""What a power meter is, and how one is named in a configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from eoc_distributed.units import MicroJoules, Quality


class Meter(Protocol):
    """Counts the energy of a device."""

    @property
    def quality(self) -> Quality:
        """Where its figures come from."""
        ...

    def read_micro_joules(self) -> MicroJoules:
        """Return the energy since an arbitrary start, µJ; quick, without network.

        Raises:
            MeterFailed: There is no reading. It is missing then, not zero.
        """
        ...


MeterFactory = Callable[[str], Meter]
"""Opens a meter from what follows the colon of its name (`nvml:0` gives `0`)."""
