"""`eoc simulate`: what each way to run a fleet costs on a trace, in simulated time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from math import isfinite
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from eoc_distributed.errors import EOCError
from eoc_distributed.routing import REGISTRY

if TYPE_CHECKING:
    from eoc_distributed.sim.comparison import Outcome
    from eoc_distributed.sim.fleet import Site
    from eoc_distributed.sim.policy import Policy
    from eoc_distributed.sim.simulation import Conditions
    from eoc_distributed.sim.traces import TracedRequest

AZURE = Path("../shared/data/inference/azure2023_conv.csv.gz")
"""The recorded trace beside a checkout; a synthetic one of its shape stands in without it."""
_SYNTHETIC = 20_000
_START = datetime(2025, 1, 1, tzinfo=UTC)
_POLICIES = "round-robin,least-busy,joule-weighted,marginal-joules"
_BLOCK_TOKENS = 16


@click.command()
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    help="Azure CSV, Mooncake JSONL or BurstGPT CSV, plain or .gz.  [default: Azure 2023, "
    "or 20,000 synthetic requests like it]",
)
@click.option(
    "--fleet",
    "fleet_file",
    type=click.Path(path_type=Path),
    help="TOML with [[worker]] tables: id, profile, zone, count.  [default: 16 workers, B200, "
    "H100, A100 and L4, in eight zones]",
)
@click.option(
    "--policy",
    "names",
    default=_POLICIES,
    show_default=True,
    help="Policies, with commas between. Each is a router and any of sticky, stealing and "
    f"autoscale, joined by +. Routers: {', '.join(sorted(REGISTRY))}.",
)
@click.option(
    "--carbon",
    type=click.Path(path_type=Path),
    help="CSV of hourly intensities by zone; the trace starts in its first hour.  "
    "[default: annual means]",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True, max=10_000),
    default=1.0,
    show_default=True,
    help="How many times as fast requests arrive as in the trace.",
)
@click.option("--requests", "count", type=click.IntRange(min=1), help="Requests to take.")
@click.option(
    "--ttft-objective-ms",
    type=click.FloatRange(min=0, min_open=True),
    default=2000.0,
    show_default=True,
    help="Longest time to first token, ms; 1 % of the requests may break it.",
)
@click.option(
    "--context",
    type=click.IntRange(min=64, max=1 << 20),
    default=32_768,
    show_default=True,
    help="Tokens of the longest sequence; longer prompts are cut.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of every random choice.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--report", type=click.Path(path_type=Path), help="Write a page with plots to this file."
)
def command(
    *,
    trace: Path | None,
    fleet_file: Path | None,
    names: str,
    carbon: Path | None,
    speed: float,
    count: int | None,
    ttft_objective_ms: float,
    context: int,
    seed: int,
    as_json: bool,
    report: Path | None,
) -> None:
    """Compare ways to run a fleet on a trace, in simulated time.

    Routers, batcher, stealing and autoscaler are those of the gateway; engines and their energy
    are modelled, idle power counted. Policies that hold the objective for 99 % of the requests
    and refuse next to none come first, by energy; the others after them.
    """
    if not isfinite(ttft_objective_ms) or not isfinite(speed):
        raise click.BadParameter("is a finite number", param_hint="--ttft-objective-ms or --speed")
    from eoc_distributed.sim.policy import parse_policy  # noqa: PLC0415 - slow

    try:
        policies = [parse_policy(name.strip()) for name in dict.fromkeys(names.split(","))]
        if trace is None and AZURE.is_file():
            trace = AZURE
        conditions = _conditions(trace, fleet_file, carbon, ttft_objective_ms, context, seed)
        outcomes = _compare(
            lambda: _requests(trace, count, speed, seed), policies, conditions, count
        )
        if report is not None:
            _write(report, outcomes, conditions.fleet, _notes(trace, carbon, speed, conditions))
    except EOCError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        sys.exit(130)
    if as_json:
        import msgspec  # noqa: PLC0415 - slow

        rows = [row(outcome) for outcome in outcomes]
        click.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
    else:
        _print(outcomes, ttft_objective_ms)


def _conditions(
    trace: Path | None,
    fleet_file: Path | None,
    carbon: Path | None,
    ttft_objective_ms: float,
    context: int,
    seed: int,
) -> Conditions:
    from eoc_distributed.carbon import Annual, CarbonSource  # noqa: PLC0415 - slow
    from eoc_distributed.carbon.csv_file import read_hourly  # noqa: PLC0415
    from eoc_distributed.sim.comparison import hourly  # noqa: PLC0415
    from eoc_distributed.sim.default_fleet import DEFAULT_FLEET  # noqa: PLC0415
    from eoc_distributed.sim.fleet_file import read_fleet  # noqa: PLC0415
    from eoc_distributed.sim.simulation import Conditions  # noqa: PLC0415
    from eoc_distributed.sim.traces import block_tokens  # noqa: PLC0415

    fleet = read_fleet(fleet_file) if fleet_file is not None else DEFAULT_FLEET
    source: CarbonSource = Annual()
    start = _START
    if carbon is not None:
        source = figures = read_hourly(carbon)
        start = figures.start or _START
    return Conditions(
        fleet,
        hourly(source, fleet, start=start),
        ttft_objective_ms=ttft_objective_ms,
        context_tokens=context,
        block_tokens=_BLOCK_TOKENS if trace is None else block_tokens(trace) or _BLOCK_TOKENS,
        seed=seed,
    )


def _compare(
    requests: Callable[[], Iterator[TracedRequest]],
    policies: list[Policy],
    conditions: Conditions,
    count: int | None,
) -> list[Outcome]:
    from rich.console import Console  # noqa: PLC0415 - slow
    from rich.progress import Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    from eoc_distributed.sim.comparison import compare  # noqa: PLC0415

    errors = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}: {task.completed:,.0f} requests"),
        TimeElapsedColumn(),
        console=errors,
        disable=not errors.is_terminal,
        transient=True,
    ) as progress:

        def told(policy: Policy) -> Callable[[int], None]:
            task = progress.add_task(policy.name, total=count)
            return lambda arrived: progress.advance(task, arrived)

        return compare(requests, policies, conditions, progress=told)


def _requests(
    trace: Path | None, count: int | None, speed: float, seed: int
) -> Iterator[TracedRequest]:
    from eoc_distributed.sim.comparison import faster  # noqa: PLC0415 - slow
    from eoc_distributed.sim.traces import read_trace, synthetic  # noqa: PLC0415

    if trace is not None:
        return iter(faster(islice(read_trace(trace), count), speed))
    rng = Random(seed)  # noqa: S311 - simulation
    return iter(faster(islice(synthetic(rng), count or _SYNTHETIC), speed))


def row(outcome: Outcome) -> dict[str, object]:
    """Return what a policy came to as plain values."""
    tally = outcome.tally
    return {
        "policy": outcome.policy.name,
        "holds_objective": outcome.holds,
        "finished": tally.finished,
        "refused": tally.refused,
        "clipped": tally.clipped,
        "late_share": outcome.late_share,
        "joules_per_1k_tokens": outcome.joules_per_1k_tokens,
        "g_co2e_per_1k_tokens": outcome.grams_per_1k_tokens,
        "joules": tally.micro_joules / 1e6,
        "idle_joules": sum(w.idle_micro_joules for w in tally.workers.values()) / 1e6,
        "g_co2e": tally.grams,
        "ttft_s": {"p50": tally.ttft_s.quantile(0.5), "p99": tally.ttft_s.quantile(0.99)},
        "token_s": {"p50": tally.token_s.quantile(0.5), "p99": tally.token_s.quantile(0.99)},
        "waiting_s": {"p50": tally.waiting_s.quantile(0.5), "p99": tally.waiting_s.quantile(0.99)},
        "cache_hit_rate": tally.hit_rate,
        "load_imbalance": tally.load_imbalance,
        "preemptions": sum(worker.preemptions for worker in tally.workers.values()),
        "stolen": tally.stolen,
        "mean_workers_on": sum(w.on_s for w in tally.workers.values()) / (tally.end_s or 1.0),
        "seconds": tally.end_s,
        "workers": {
            name: {
                "requests": worker.requests,
                "output_tokens": worker.output_tokens,
                "joules": worker.total_micro_joules / 1e6,
                "g_co2e": worker.total_grams,
                "busy_s": worker.busy_s,
                "on_s": worker.on_s,
                "peak_in_flight": worker.peak_in_flight,
            }
            for name, worker in tally.workers.items()
        },
    }


def _notes(
    trace: Path | None, carbon: Path | None, speed: float, conditions: Conditions
) -> list[str]:
    return [
        f"trace: {trace.name if trace is not None else 'synthetic'}, {speed:g} times as fast",
        f"fleet: {len(conditions.fleet)} workers, modelled; idle power is counted",
        f"carbon: {carbon.name if carbon is not None else 'annual means'}",
        f"objective: first token within {conditions.ttft_objective_ms:g} ms for 99 %",
        f"seed {conditions.seed}",
    ]


def _write(file: Path, outcomes: list[Outcome], fleet: tuple[Site, ...], notes: list[str]) -> None:
    from eoc_distributed.errors import ConfigError  # noqa: PLC0415
    from eoc_distributed.sim.comparison_page import page  # noqa: PLC0415 - slow

    text = page(outcomes, fleet, title="Ways to run a fleet", notes=notes)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(str(file), error.strerror or str(error)) from error


def _print(outcomes: list[Outcome], ttft_objective_ms: float) -> None:
    from rich.console import Console  # noqa: PLC0415 - slow
    from rich.table import Table  # noqa: PLC0415

    from eoc_distributed.sim.comparison_page import COLUMNS, cells  # noqa: PLC0415

    table = Table(
        title=f"Best first; first token within {ttft_objective_ms:g} ms for 99 %; modelled energy",
        title_justify="left",
    )
    table.add_column(COLUMNS[0], no_wrap=True)
    for name in COLUMNS[1:]:
        table.add_column(name, justify="right")
    for outcome in outcomes:
        table.add_row(*cells(outcome), style=None if outcome.holds else "yellow")
    Console(width=None if sys.stdout.isatty() else 140).print(table)
