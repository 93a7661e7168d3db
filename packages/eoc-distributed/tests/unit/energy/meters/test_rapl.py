from __future__ import annotations

from pathlib import Path

import pytest

from eoc_distributed.energy.meters import RAPL, open_meter
from eoc_distributed.errors import MeterFailed
from eoc_distributed.units import Quality


def zone(root: Path, folder: str, name: str, counter: int, limit: int = 999) -> Path:
    path = root / folder
    path.mkdir()
    (path / "name").write_text(name + "\n")
    (path / "max_energy_range_uj").write_text(f"{limit}\n")
    (path / "energy_uj").write_text(f"{counter}\n")
    return path / "energy_uj"


def test_packages_and_dram_are_summed_and_nothing_twice(tmp_path: Path) -> None:
    counters = [
        zone(tmp_path, "intel-rapl:0", "package-0", 100),
        zone(tmp_path, "intel-rapl:1", "package-1", 100),
        zone(tmp_path, "intel-rapl:0:0", "core", 100),
        zone(tmp_path, "intel-rapl:0:1", "dram", 100),
        zone(tmp_path, "intel-rapl:2", "psys", 100),
        zone(tmp_path, "intel-rapl-mmio:0", "package-0", 100),
    ]
    meter = RAPL(tmp_path)
    assert meter.quality is Quality.MEASURED
    assert meter.read_micro_joules() == 0
    for index, counter in enumerate(counters):
        counter.write_text(str(100 + 10**index % 997))
    assert meter.read_micro_joules() == 1 + 10 + 1000 % 997


def test_a_counter_that_wraps_goes_on(tmp_path: Path) -> None:
    counter = zone(tmp_path, "intel-rapl:0", "package-0", 990, limit=999)
    meter = RAPL(tmp_path)
    counter.write_text("5")
    assert meter.read_micro_joules() == 15
    counter.write_text("7")
    assert meter.read_micro_joules() == 17


def test_a_machine_without_counters_has_no_meter(tmp_path: Path) -> None:
    with pytest.raises(MeterFailed, match="no package counter"):
        open_meter(f"rapl:{tmp_path}")


def test_a_counter_that_vanishes_is_a_missing_reading(tmp_path: Path) -> None:
    counter = zone(tmp_path, "intel-rapl:0", "package-0", 1)
    meter = RAPL(tmp_path)
    counter.unlink()
    with pytest.raises(MeterFailed, match="energy_uj"):
        meter.read_micro_joules()
