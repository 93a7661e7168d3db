from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eoc_distributed import Capability, Cluster, InMemoryWorker
from eoc_distributed.carbon import Annual, read_hourly
from eoc_distributed.cli.gateway_process import _printer, set_intensities, unknown_zones
from eoc_distributed.config import WorkerConfig
from eoc_distributed.telemetry.record import RequestRecord

NOON = datetime(2026, 12, 1, 12, 30, tzinfo=UTC)


def test_zones_get_the_figure_of_the_hour_or_else_their_annual_mean(tmp_path: Path) -> None:
    file = tmp_path / "hours.csv"
    file.write_text("zone,datetime_utc,gco2e_per_kwh_lifecycle\nFR,2026-12-01T12:00:00Z,44.5\n")
    cluster = Cluster(
        InMemoryWorker(zone, Capability({"m"}, zone=zone)) for zone in ("FR", "PL", "ATLANTIS")
    )
    sources = (read_hourly(file), Annual())
    set_intensities(cluster, ["FR", "PL", "ATLANTIS"], sources, at=NOON)
    figures = {member.id: cluster.load_of(member.id).g_co2e_per_kwh for member in cluster}
    assert figures == {"FR": 44.5, "PL": 565.0, "ATLANTIS": None}


def test_a_worker_that_joins_later_has_its_zones_figure() -> None:
    cluster = Cluster()
    set_intensities(cluster, ["FR"], (Annual(),), at=NOON)
    cluster.add(InMemoryWorker("late", Capability({"m"}, zone="FR")))
    assert cluster.load_of("late").g_co2e_per_kwh == 31.0


def test_a_terminal_that_is_gone_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = 0

    class Gone:
        def write(self, _: str) -> int:
            nonlocal tries
            tries += 1
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("sys.stderr", Gone())
    printed = _printer()
    record = RequestRecord(
        method="GET",
        path="/",
        model="",
        worker_id="",
        status=200,
        ttft_ms=None,
        duration_ms=1.0,
        cost=None,
        tokens_exact=False,
        attempts=0,
    )
    printed(record)
    printed(record)
    assert tries == 1


def test_zones_whose_intensity_nobody_knows_are_named() -> None:
    workers = [
        WorkerConfig(url="http://a", zone="FR"),
        WorkerConfig(url="http://b", zone="XX"),
        WorkerConfig(url="http://c", zone="YY", g_co2e_per_kwh=5.0),
    ]
    assert unknown_zones(workers, (Annual(),), at=NOON) == ["XX"]
