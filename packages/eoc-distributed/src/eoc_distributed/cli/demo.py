"""`eoc demo`: a trace through a simulated fleet, over the gateway's real HTTP API."""

from __future__ import annotations

import asyncio
import re
import sys
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eoc_distributed.errors import EOCError
from eoc_distributed.routing import DEFAULT, REGISTRY

if TYPE_CHECKING:
    from eoc_distributed.sim.demo import DemoTrace

SHARED = Path("../shared")
"""Where the reference data lie beside a checkout; a synthetic trace stands in without them."""


@click.command()
@click.option(
    "--trace",
    "file",
    type=click.Path(path_type=Path),
    help="Azure CSV, Mooncake JSONL or BurstGPT CSV, plain or .gz.",
)
@click.option(
    "--requests",
    "count",
    type=click.IntRange(1, 20_000),
    default=400,
    show_default=True,
    help="Requests to take from the trace.",
)
@click.option(
    "--speedup",
    type=click.FloatRange(min=0, min_open=True, max=100_000),
    help="Simulated seconds in a second.  [default: all arrivals in 15 s]",
)
@click.option(
    "--router",
    type=click.Choice(sorted(REGISTRY)),
    default=DEFAULT,
    show_default=True,
    help="How the gateway chooses.",
)
@click.option(
    "--ttft-objective-ms",
    type=click.FloatRange(min=0, min_open=True),
    default=2000.0,
    show_default=True,
    help="Longest predicted time to first token, simulated ms, for routers that hold one.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of every random choice.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), help="Also draw it there.")
def command(
    file: Path | None,
    count: int,
    speedup: float | None,
    router: str,
    ttft_objective_ms: float,
    seed: int,
    as_json: bool,
    svg: Path | None,
) -> None:
    """Replay a trace through a simulated fleet and print what it cost.

    The gateway and the HTTP requests are real, the engines behind it are simulated: no model
    runs, and energy is modelled. The second table tells what the same trace would have cost
    under each router.

    Exit status: 0 if every request was answered and all accounts agree, 1 if not.
    """
    from eoc_distributed.sim.demo import find_trace  # noqa: PLC0415 - slow

    _check(speedup, ttft_objective_ms, svg)
    try:
        trace = find_trace(file, shared=SHARED, count=count, seed=seed)
        speed = speedup if speedup is not None else trace.speedup()
        good = _run(trace, router, ttft_objective_ms, seed, speed, as_json=as_json, svg=svg)
    except TimeoutError as error:
        raise click.ClickException("the demo did not end in time; try fewer requests") from error
    except EOCError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or 'the network'}: {error}") from error
    except KeyboardInterrupt:
        sys.exit(130)
    if not good:
        sys.exit(1)


def _check(speedup: float | None, ttft_objective_ms: float, svg: Path | None) -> None:
    """Refuse before the run what would fail in it or after it."""
    if speedup is not None and not isfinite(speedup):
        raise click.BadParameter("is a finite number", param_hint="--speedup")
    if not isfinite(ttft_objective_ms):
        raise click.BadParameter("is a finite number", param_hint="--ttft-objective-ms")
    if svg is not None and not svg.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {svg.parent}", param_hint="--svg")


def _run(
    trace: DemoTrace,
    router: str,
    ttft_objective_ms: float,
    seed: int,
    speedup: float,
    *,
    as_json: bool,
    svg: Path | None,
) -> bool:
    import msgspec  # noqa: PLC0415 - slow
    from rich.console import Console  # noqa: PLC0415 - slow
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn  # noqa: PLC0415

    from eoc_distributed.sim.demo import run_demo  # noqa: PLC0415 - slow

    from . import demo_report  # noqa: PLC0415 - slow

    errors = Console(stderr=True)
    console = Console(width=None if sys.stdout.isatty() else 100)
    if not as_json:
        console.print(
            f"{trace.title}: {len(trace.requests)} requests in {trace.seconds:.0f} s, "
            f"replayed {speedup:.3g} times as fast",
            highlight=False,
            markup=False,
        )
    with Progress(
        "answered",
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
        disable=not errors.is_terminal,
        transient=True,
    ) as progress:
        task = progress.add_task("", total=len(trace.requests))
        result = asyncio.run(
            run_demo(
                trace,
                router=router,
                seed=seed,
                speedup=speedup,
                ttft_objective_ms=ttft_objective_ms,
                on_done=lambda: progress.advance(task),
            )
        )
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(demo_report.as_json(result))).decode())
    else:
        demo_report.print_report(console, result)
    if svg is not None:
        drawing = Console(record=True, width=100, file=StringIO(), force_terminal=True)
        demo_report.print_report(drawing, result)
        text = drawing.export_svg(title="eoc demo (simulated workers, modelled energy)")
        # The picture is to be shown anywhere: without rich's fonts from another host.
        svg.write_text(
            re.sub(r"@font-face \{.*?\}\s*", "", text, flags=re.DOTALL), encoding="utf-8"
        )
    return result.good
