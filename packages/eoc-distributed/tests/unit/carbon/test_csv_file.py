from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from eoc_distributed.carbon import Factors, read_hourly
from eoc_distributed.errors import ConfigError

TEXT = """zone,datetime_utc,gco2e_per_kwh_direct,gco2e_per_kwh_lifecycle
FR,2024-01-15T01:00:00Z,20.5,40.5
FR,2024-01-15 00:00:00,10.5,30.5
DE,2024-01-15T00:00:00+00:00,300,350
"""
MIDNIGHT = datetime(2024, 1, 15, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "hours.csv"
    file.write_text(TEXT)
    return file


def test_the_figure_is_that_of_the_hour(path: Path) -> None:
    hours = read_hourly(path)
    for minutes, expected in ((0, 30.5), (59, 30.5), (60, 40.5)):
        intensity = hours.intensity("FR", MIDNIGHT + timedelta(minutes=minutes))
        assert intensity is not None
        assert intensity.g_per_kwh == expected
        assert intensity.valid_from is not None
        assert intensity.valid_to == intensity.valid_from + timedelta(hours=1)
    assert hours.zones == ("DE", "FR")


@pytest.mark.parametrize("minutes", [-1, 120])
def test_outside_the_hours_nothing_is_known(path: Path, minutes: int) -> None:
    assert read_hourly(path).intensity("FR", MIDNIGHT + timedelta(minutes=minutes)) is None


def test_direct_factors_are_another_column(path: Path) -> None:
    intensity = read_hourly(path, factors=Factors.DIRECT).intensity("DE", MIDNIGHT)
    assert intensity is not None
    assert (intensity.g_per_kwh, intensity.factors) == (300.0, Factors.DIRECT)


def test_gzip_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "hours.csv.gz"
    file.write_bytes(gzip.compress(TEXT.encode()))
    assert read_hourly(file).zones == ("DE", "FR")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("FR,2024-13-15T01:00:00Z,1,2", "month"),
        ("FR,2024-01-15T01:00:00Z,1,much", "much"),
        ("FR,2024-01-15T01:00:00Z,1,-2", "at least 0"),
        ("FR,2024-01-15T01:00:00Z,1,nan", "at least 0"),
        ("FR,2024-01-15T01:00:00Z", "float"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, what: str) -> None:
    file = tmp_path / "hours.csv"
    file.write_text(TEXT + line + "\n")
    with pytest.raises(ConfigError, match=what) as refused:
        read_hourly(file)
    assert refused.value.where == f"{file}:5"


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    file = tmp_path / "hours.csv"
    file.write_text("zone,datetime_utc\nFR,2024-01-15T01:00:00Z\n")
    with pytest.raises(ConfigError, match="gco2e_per_kwh_lifecycle"):
        read_hourly(file)


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_hourly(tmp_path / "none.csv")
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(gzip.compress(TEXT.encode())[:30])
    with pytest.raises(ConfigError):
        read_hourly(broken)


@pytest.mark.conformance
def test_published_hours_are_read(shared: Path) -> None:
    hours = read_hourly(shared / "data/inference/carbon_hourly_2024_16zones.csv.gz")
    assert len(hours.zones) == 16
    assert hours.intensity("DE", datetime(2024, 7, 10, 12, 30, tzinfo=UTC)) is not None
