"""Run every measurement beside its peers: `make bench-atproto`, or this file with `--json`.

A measurement is a file `bench_*.py` here with `measure()`, which yields case, library, value and
unit. The first library of a case is ours; `ratio` says how many times as fast ours is as the other.
A file may name targets: `TARGETS` maps (case, library) to the ratio to reach, `LIMITS` maps a case
to the most that ours may take. Names of files as arguments choose some of them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
LOWER_IS_BETTER = {"ns", "us", "ms", "s", "MB"}


def main() -> None:
    names = sorted(path.stem for path in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no such measurement: {', '.join(sorted(unknown))}")
    sys.path.insert(0, str(HERE))
    console = Console(stderr=True)
    rows = []
    for name in options.names or names:
        with console.status(name):
            rows += run(name)
    if options.json:
        print(json.dumps({"python": platform.python_version(), "rows": rows}, indent=1))
    else:
        Console().print(table(rows))


def run(name: str) -> list[dict[str, object]]:
    """Run one file; return a row for each value."""
    module = importlib.import_module(name)
    targets = getattr(module, "TARGETS", {})
    limits = getattr(module, "LIMITS", {})
    ours: dict[str, float] = {}
    rows = []
    for case, library, value, unit in module.measure():
        first = case not in ours
        base = ours.setdefault(case, value)
        ratio = None
        if not first:
            ratio = value / base if unit in LOWER_IS_BETTER else base / value
        target = limits.get(case) if first else targets.get((case, library))
        reached = None
        if target is not None:
            reached = value <= target if ratio is None else ratio >= target
        rows.append(
            {
                "case": case,
                "library": library,
                "value": value,
                "unit": unit,
                "ratio": ratio,
                "target": target,
                "reached": reached,
            }
        )
    return rows


def table(rows: list[dict[str, object]]) -> Table:
    shown = Table(
        title="smart-byte-atproto beside its peers; ratio: how many times as fast ours is"
    )
    for heading, justify in (
        ("case", "left"),
        ("library", "left"),
        ("value", "right"),
        ("ratio", "right"),
        ("target", "right"),
        ("", "left"),
    ):
        shown.add_column(heading, justify=justify)  # type: ignore[arg-type]
    last = None
    for row in rows:
        if last not in (None, row["case"]):
            shown.add_section()
        ratio, target, reached = row["ratio"], row["target"], row["reached"]
        shown.add_row(
            "" if last == row["case"] else str(row["case"]),
            str(row["library"]),
            f"{row['value']:,.4g} {row['unit']}",
            "" if ratio is None else f"{ratio:.2f}",
            "" if target is None else f"{target:g}" + (f" {row['unit']}" if ratio is None else ""),
            "" if reached is None else "reached" if reached else "[bold]missed[/bold]",
        )
        last = row["case"]
    return shown


if __name__ == "__main__":
    main()
