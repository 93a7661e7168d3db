"""Run this package's benchmarks and print their tables: `run.py [NAME…]`.

To add one: write `bench_NAME.py` beside this file with a function `rows()` that returns
dictionaries of one shape, and give it a line in `BENCHMARKS`. Nothing here judges a time.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

BENCHMARKS = {
    "routing": "Cost of one routing decision, µs",
    "gateway": "The gateway on one core before four mock engines",
    "batching": "Continuous batching: passes and requests a second",
    "simulation": "Simulated requests a second on one core",
    "scheduling": "Cost of a sticky choice and of a stealing round, µs",
}
"""Module behind `bench_`, and what it measures."""


_THOUSAND = 1000


def show(title: str, rows: Sequence[dict[str, object]], console: Console) -> None:
    """Print rows as a table, then what was left out and why."""
    measured = [row for row in rows if "skipped" not in row]
    columns = list(dict.fromkeys(column for row in measured for column in row))
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column)
    for row in measured:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    if measured:
        console.print(table)
    for row in rows:
        if "skipped" in row:
            console.print(f"skipped: {row['skipped']}", markup=False)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= _THOUSAND else f"{value:,.2f}"
    return str(value)


def main(names: Sequence[str]) -> int:
    """Run the benchmarks named, or all; return the exit status."""
    console = Console(width=max(Console().width, 110))
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        known = ", ".join(BENCHMARKS)
        console.print(f"unknown benchmark {', '.join(unknown)}; there are {known}", markup=False)
        return 2
    sys.path.insert(0, str(Path(__file__).parent))
    for name in names or BENCHMARKS:
        show(BENCHMARKS[name], importlib.import_module(f"bench_{name}").rows(), console)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
