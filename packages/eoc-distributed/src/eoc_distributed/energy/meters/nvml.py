"""NVIDIA GPUs by NVML: the energy counter, or power over time where there is none.

`nvmlDeviceGetTotalEnergyConsumption` counts mJ since the driver was loaded (Volta and
newer). It is of the whole GPU, MIG slices and other processes included. NVML does not
follow CUDA_VISIBLE_DEVICES: name the GPU by its UUID where the order matters.

Source: NVML API reference, device queries.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from eoc_distributed.errors import ConfigError, MeterFailed
from eoc_distributed.units import MicroJoules, Quality

from .base import Meter


class Library(Protocol):
    """What the meter calls of `pynvml`."""

    @property
    def NVMLError(self) -> type[Exception]: ...  # noqa: N802

    def nvmlInit(self) -> object: ...  # noqa: N802
    def nvmlDeviceGetHandleByIndex(self, index: int, /) -> object: ...  # noqa: N802
    def nvmlDeviceGetHandleByUUID(self, uuid: str, /) -> object: ...  # noqa: N802
    def nvmlDeviceGetTotalEnergyConsumption(self, handle: object, /) -> int: ...  # noqa: N802


class NVML:
    """The energy counter of one GPU.

    Args:
        device: Index (`0`) or UUID (`GPU-…`).
        library: The `pynvml` module, or what stands for it.

    Raises:
        ConfigError: The library is not installed.
        MeterFailed: There is no driver, no such device, or no counter.
    """

    quality = Quality.MEASURED

    def __init__(self, device: str, *, library: Library) -> None:
        self._library = library
        self._name = f"nvml:{device}"
        try:
            library.nvmlInit()
            if device.isdigit():
                self._handle = library.nvmlDeviceGetHandleByIndex(int(device))
            else:
                self._handle = library.nvmlDeviceGetHandleByUUID(device)
        except library.NVMLError as error:
            raise MeterFailed(self._name, str(error)) from error
        self.read_micro_joules()

    def read_micro_joules(self) -> MicroJoules:
        try:
            milli_joules = self._library.nvmlDeviceGetTotalEnergyConsumption(self._handle)
        except self._library.NVMLError as error:
            raise MeterFailed(self._name, str(error)) from error
        return MicroJoules(int(milli_joules) * 1000)


def open_nvml(device: str) -> Meter:
    """Open the counter of a GPU, by index or UUID; the first one by default."""
    try:
        library = cast(Library, import_module("pynvml"))
    except ImportError as error:
        raise ConfigError("meter nvml", "install eoc-distributed[gpu]") from error
    return NVML(device or "0", library=library)
