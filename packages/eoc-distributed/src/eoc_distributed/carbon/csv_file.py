"""Hourly intensities from a CSV file, plain or gzip.

The first line names the columns. Needed are `zone`, `datetime_utc` (start of the hour, ISO
8601, UTC) and a figure in gCO2e/kWh: `gco2e_per_kwh_lifecycle`, or `gco2e_per_kwh_direct`
with `factors=Factors.DIRECT`. Other columns are ignored.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO, cast

from eoc_distributed.errors import ConfigError
from eoc_distributed.units import Quality

from .base import Factors, Intensity

HOUR = timedelta(hours=1)


class Hourly:
    """Tells the figure of the hour in which an instant lies.

    Args:
        rows: (zone, start of the hour in UTC, gCO2e/kWh), in any order.
        factors: What the figures count.
        source: Who published them.
    """

    def __init__(
        self, rows: Iterable[tuple[str, datetime, float]], *, factors: Factors, source: str
    ) -> None:
        self._factors = factors
        self._source = source
        self._hours: dict[str, list[tuple[datetime, float]]] = {}
        for zone, start, figure in rows:
            self._hours.setdefault(zone, []).append((start, figure))
        for hours in self._hours.values():
            hours.sort()

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones of which something is known, sorted."""
        return tuple(sorted(self._hours))

    @property
    def start(self) -> datetime | None:
        """The first hour from which every zone is known; None without zones."""
        return max((hours[0][0] for hours in self._hours.values()), default=None)

    def intensity(self, zone: str, at: datetime) -> Intensity | None:
        hours = self._hours.get(zone, [])
        index = bisect_right(hours, at, key=lambda hour: hour[0]) - 1
        if index < 0:
            return None
        start, figure = hours[index]
        if at >= start + HOUR:
            return None
        return Intensity(
            figure, self._factors, self._source, Quality.ESTIMATED, start, start + HOUR
        )


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding="utf-8", newline=""))
    return path.open(encoding="utf-8", newline="")


def read_hourly(path: Path, *, factors: Factors = Factors.LIFECYCLE) -> Hourly:
    """Read a file of hourly intensities.

    Raises:
        ConfigError: The file cannot be read, or a line is not as it should be; says which.
    """
    column = f"gco2e_per_kwh_{factors.value}"
    rows: list[tuple[str, datetime, float]] = []
    line = 1
    try:
        with _open(path) as lines:
            for row in csv.DictReader(lines):
                line += 1
                rows.append((row["zone"], _utc(row["datetime_utc"]), _figure(row[column])))
    except OSError as error:
        raise ConfigError(str(path), error.strerror or str(error)) from error
    except KeyError as error:
        raise ConfigError(f"{path}:1", f"no column {error}") from error
    except (ValueError, TypeError, csv.Error, EOFError, zlib.error) as error:
        raise ConfigError(f"{path}:{line}", str(error)) from error
    return Hourly(rows, factors=factors, source=path.name)


def _utc(text: str) -> datetime:
    start = datetime.fromisoformat(text)
    return start.replace(tzinfo=UTC) if start.tzinfo is None else start.astimezone(UTC)


def _figure(text: str) -> float:
    figure = float(text)
    if not 0 <= figure < float("inf"):
        raise ValueError(f"an intensity is at least 0 and finite, not {figure}")
    return figure
