"""The demo's result for people (tables) and for programs (JSON)."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table

from eoc_distributed.sim.demo import DemoResult
from eoc_distributed.sim.replay import CONTEXT_TOKENS
from eoc_distributed.sim.report import RunReport, WorkerReport, percentile


def print_report(console: Console, result: DemoResult) -> None:
    """Print both tables and what to know of them."""
    run = result.run
    report = run.report
    console.print()
    console.print(workers_table(report))
    console.print()
    console.print(routers_table(result))
    seconds = report.seconds
    if result.trace.cut:
        console.print(
            f"{result.trace.cut} requests were longer than {CONTEXT_TOKENS:,} tokens and are cut "
            "to that, which every machine holds.",
            highlight=False,
        )
    agree = "agree" if run.consistent else "DO NOT AGREE"
    console.print(
        "All energy is modelled (simulated engines; no hosts), none of it measured.\n"
        f"Idle is what the fleet draws between steps; each row counts the same {seconds:.0f} s.\n"
        "TTFT: simulated time from arrival at the engine to the first token.\n"
        "Carbon: annual means of 2025 by Electricity Maps (ODbL), lifecycle factors.\n"
        f"Client, gateway and engines {agree} on requests, tokens and energy; "
        f"{report.failed} requests failed.",
        style="dim" if result.good else "bold red",
        highlight=False,
    )
    for failure in run.failures:
        console.print(f"failed: {failure}", style="red", markup=False, highlight=False)


def _table(title: str, *, show_footer: bool = False) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_footer=show_footer,
        padding=(0, 1, 0, 0),
    )


def workers_table(report: RunReport) -> Table:
    """Return a row for each worker of the run over HTTP."""
    table = _table(f"Served over HTTP, router {report.router}", show_footer=True)
    total = report.workers
    ttft = report.ttft_s
    columns = (
        ("worker", "all"),
        ("g/kWh", ""),
        ("requests", f"{report.requests:,}"),
        ("tokens in", f"{sum(worker.prompt_tokens for worker in total):,}"),
        ("tokens out", f"{sum(worker.completion_tokens for worker in total):,}"),
        ("J", _joules(report.micro_joules)),
        ("gCO2e", f"{report.g_co2e:,.3f}"),
        ("idle J", _joules(report.idle_micro_joules)),
        ("TTFT p50", _ms(percentile(ttft, 0.5))),
        ("p99", _ms(percentile(ttft, 0.99))),
    )
    for name, footer in columns:
        justify: JustifyMethod = "left" if name == "worker" else "right"
        table.add_column(name, footer=footer, justify=justify, no_wrap=True)
    for worker in total:
        table.add_row(
            worker.site.id,
            f"{worker.g_per_kwh:.0f}",
            f"{worker.requests:,}",
            f"{worker.prompt_tokens:,}",
            f"{worker.completion_tokens:,}",
            _joules(worker.micro_joules),
            f"{worker.g_co2e:,.3f}",
            _joules(worker.idle_micro_joules),
            _ms(percentile(worker.ttft_s, 0.5)),
            _ms(percentile(worker.ttft_s, 0.99)),
        )
    return table


def routers_table(result: DemoResult) -> Table:
    """Return a row for the run over HTTP and one for each router in virtual time."""
    actual = result.run.report
    table = _table("The same trace in virtual time under each router")
    table.add_column("router", no_wrap=True)
    for name in ("J", "vs used", "gCO2e", "vs used", "idle J", "idle gCO2e", "TTFT p50", "p99"):
        table.add_column(name, justify="right", no_wrap=True)
    for run in (actual, *result.what_if):
        used = run.router == actual.router
        name = f"{run.router} (HTTP)" if run.over_http else run.router
        table.add_row(
            name,
            _joules(run.micro_joules),
            _change(run.micro_joules, actual.micro_joules),
            f"{run.g_co2e:,.3f}",
            _change(run.g_co2e, actual.g_co2e),
            _joules(run.idle_micro_joules),
            f"{run.idle_g_co2e:,.2f}",
            _ms(percentile(run.ttft_s, 0.5)),
            _ms(percentile(run.ttft_s, 0.99)),
            style="bold" if used else None,
            end_section=run.over_http,
        )
    return table


def as_json(result: DemoResult) -> dict[str, object]:
    """Return the result as JSON values; units are in the names."""
    return {
        "energy_quality": "estimated",
        "trace": {
            "title": result.trace.title,
            "requests": len(result.trace.requests),
            "cut": result.trace.cut,
            "arrivals_s": result.trace.seconds,
        },
        "wall_s": round(result.run.wall_s, 3),
        "consistent": result.run.consistent,
        "failures": list(result.run.failures),
        "served": _run_json(result.run.report),
        "what_if": [_run_json(run) for run in result.what_if],
    }


def _run_json(run: RunReport) -> dict[str, object]:
    return {
        "router": run.router,
        "over_http": run.over_http,
        "requests": run.requests,
        "failed": run.failed,
        "simulated_s": run.seconds,
        "micro_joules": run.micro_joules,
        "idle_micro_joules": run.idle_micro_joules,
        "g_co2e": run.g_co2e,
        "idle_g_co2e": run.idle_g_co2e,
        "ttft_p50_s": percentile(run.ttft_s, 0.5),
        "ttft_p99_s": percentile(run.ttft_s, 0.99),
        "workers": [_worker_json(worker) for worker in run.workers],
    }


def _worker_json(worker: WorkerReport) -> dict[str, object]:
    return {
        "id": worker.site.id,
        "imitates": worker.site.profile.title,
        "zone": worker.site.zone,
        "g_co2e_per_kwh": worker.g_per_kwh,
        "requests": worker.requests,
        "prompt_tokens": worker.prompt_tokens,
        "completion_tokens": worker.completion_tokens,
        "micro_joules": worker.micro_joules,
        "idle_micro_joules": worker.idle_micro_joules,
        "g_co2e": worker.g_co2e,
        "ttft_p50_s": percentile(worker.ttft_s, 0.5),
        "ttft_p99_s": percentile(worker.ttft_s, 0.99),
    }


def _joules(micro_joules: int) -> str:
    return f"{micro_joules / 1e6:,.0f}"


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1000.0:,.0f} ms"


def _change(value: float, base: float) -> str:
    return "-" if base <= 0 else f"{round(100.0 * (value - base) / base):+d} %"
