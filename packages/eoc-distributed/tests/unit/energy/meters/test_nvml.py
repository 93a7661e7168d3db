from __future__ import annotations

import pytest

from eoc_distributed.energy.meters import NVML
from eoc_distributed.errors import MeterFailed
from eoc_distributed.units import Quality


class Driver:
    """The four calls of NVML that the meter makes, over devices that are counters in mJ."""

    class NVMLError(Exception):
        pass

    def __init__(self, devices: dict[str, int] | None) -> None:
        self.devices = devices

    def nvmlInit(self) -> None:  # noqa: N802
        if self.devices is None:
            raise self.NVMLError("Driver Not Loaded")

    def nvmlDeviceGetHandleByIndex(self, index: int, /) -> str:  # noqa: N802
        assert self.devices is not None
        if index >= len(self.devices):
            raise self.NVMLError("Invalid Argument")
        return list(self.devices)[index]

    def nvmlDeviceGetHandleByUUID(self, uuid: str, /) -> str:  # noqa: N802
        assert self.devices is not None
        if uuid not in self.devices:
            raise self.NVMLError("Not Found")
        return uuid

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: object, /) -> int:  # noqa: N802
        assert self.devices is not None
        if self.devices[str(handle)] < 0:
            raise self.NVMLError("Not Supported")
        return self.devices[str(handle)]


def test_milli_joules_become_micro_joules() -> None:
    driver = Driver({"GPU-a": 1_234, "GPU-b": 9})
    assert NVML("0", library=driver).read_micro_joules() == 1_234_000
    meter = NVML("GPU-b", library=driver)
    assert meter.read_micro_joules() == 9_000
    assert meter.quality is Quality.MEASURED


@pytest.mark.parametrize(
    ("driver", "device", "what"),
    [
        (Driver(None), "0", "Driver Not Loaded"),
        (Driver({"GPU-a": 1}), "1", "Invalid Argument"),
        (Driver({"GPU-a": 1}), "GPU-x", "Not Found"),
        (Driver({"GPU-a": -1}), "0", "Not Supported"),
    ],
)
def test_what_cannot_be_read_is_a_missing_meter(driver: Driver, device: str, what: str) -> None:
    with pytest.raises(MeterFailed, match=what):
        NVML(device, library=driver)
