"""Power meters: sensors that count a device's energy.

To add a meter: write its file beside these with a class that fulfils `base.Meter` and a
function that opens it, give it a line in `REGISTRY`, add its test file and a line in the
CHANGELOG.
"""

from __future__ import annotations

from eoc_distributed.errors import UnknownPlugin

from .base import Meter, MeterFactory
from .nvml import NVML, open_nvml
from .rapl import RAPL, open_rapl

__all__ = ["NVML", "RAPL", "REGISTRY", "Meter", "MeterFactory", "open_meter"]

REGISTRY: dict[str, MeterFactory] = {"nvml": open_nvml, "rapl": open_rapl}
"""Every meter by its name; names are stable for ever."""


def open_meter(name: str) -> Meter:
    """Open a meter by name: `nvml`, `nvml:1`, `nvml:GPU-…`, `rapl`.

    Raises:
        UnknownPlugin: No meter has that name.
        ConfigError: An extra is missing; says which.
        MeterFailed: The device is not there or does not answer.
    """
    kind, _, rest = name.partition(":")
    try:
        factory = REGISTRY[kind]
    except KeyError:
        raise UnknownPlugin("meter", kind, REGISTRY) from None
    return factory(rest)
