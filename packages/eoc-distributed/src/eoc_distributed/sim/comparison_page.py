"""A comparison as one HTML page that needs nothing else: a table, and plots as SVG.

Needs matplotlib (extra `report`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Final

from eoc_distributed.errors import ConfigError

from .comparison import Outcome
from .fleet import Site

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
tr.breaks td { color: #8a5a00 }
figure { margin: 2rem 0 } figcaption { font-weight: 600 } svg { max-width: 100%; height: auto }
"""
COLUMNS: Final = (
    "policy",
    "holds",
    "J / 1k tokens",
    "gCO2e / 1k tokens",
    "TTFT p50 s",
    "TTFT p99 s",
    "token p50 ms",
    "late",
    "refused",
    "cache hits",
    "workers on",
)


def page(
    outcomes: Sequence[Outcome], fleet: Sequence[Site], *, title: str, notes: Sequence[str]
) -> str:
    """Return the page.

    Args:
        outcomes: Policies, best first.
        fleet: Their workers.
        title: What was compared.
        notes: Conditions, a sentence each.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    zones = {site.id: site.zone for site in fleet}
    figures = [
        _figure("Energy by hour, MJ", lambda axes: _energy_by_hour(axes, outcomes)),
        _figure("Emissions by zone, gCO2e", lambda axes: _emissions_by_zone(axes, outcomes, zones)),
        _figure("Energy by zone, MJ", lambda axes: _energy_by_zone(axes, outcomes, zones)),
        _figure(
            "Time to first token, s: share of requests within",
            lambda axes: _shares(axes, outcomes, "ttft_s", "s"),
        ),
        _figure(
            "Time between tokens, s: share of requests within",
            lambda axes: _shares(axes, outcomes, "token_s", "s"),
        ),
        _figure("Prompt tokens found cached, %", lambda axes: _hits(axes, outcomes)),
    ]
    head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
    rows = "".join(_table_row(outcome) for outcome in outcomes)
    lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1><ul>{lines}</ul>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"{''.join(figures)}</html>\n"
    )


def cells(outcome: Outcome) -> list[str]:
    """Return the figures of a policy as text, in the order of the page's columns."""
    tally = outcome.tally
    token_s = tally.token_s.quantile(0.5)
    on = sum(worker.on_s for worker in tally.workers.values())
    return [
        outcome.policy.name,
        "yes" if outcome.holds else "no",
        _number(outcome.joules_per_1k_tokens, 1),
        _number(outcome.grams_per_1k_tokens, 4),
        _number(tally.ttft_s.quantile(0.5), 3),
        _number(tally.ttft_s.quantile(0.99), 3),
        _number(None if token_s is None else token_s * 1e3, 1),
        f"{outcome.late_share:.2%}",
        f"{outcome.refused_share:.2%}",
        "-" if tally.hit_rate is None else f"{tally.hit_rate:.1%}",
        _number(on / tally.end_s if tally.end_s else None, 1),
    ]


def _table_row(outcome: Outcome) -> str:
    kind = "holds" if outcome.holds else "breaks"
    return (
        f'<tr class="{kind}">{"".join(f"<td>{escape(cell)}</td>" for cell in cells(outcome))}</tr>'
    )


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _figure(caption: str, draw: Callable[[Axes], None]) -> str:
    try:
        from matplotlib import rc_context  # noqa: PLC0415 - an extra
        from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            "--report", "plots need matplotlib, in the extra eoc-distributed[report]"
        ) from error
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "eoc"}):
        figure = Figure(figsize=(10, 3.6), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        draw(axes)
        axes.spines[["top", "right"]].set_visible(False)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{caption}"', 1)
    return f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>"


def _energy_by_hour(axes: Axes, outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        hours: dict[int, float] = {}
        for worker in outcome.tally.workers.values():
            for hour, micro_joules in worker.micro_joules.items():
                hours[hour] = hours.get(hour, 0.0) + micro_joules / 1e12
        order = sorted(hours)
        axes.plot(order, [hours[h] for h in order], marker="o", label=outcome.policy.name)
    axes.set_xlabel("hour from the start")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)


def _by_zone(
    axes: Axes,
    outcomes: Sequence[Outcome],
    zones: dict[str, str],
    value: Callable[[Outcome, str], float],
) -> None:
    names = sorted(set(zones.values()))
    width = 0.8 / max(1, len(outcomes))
    for place, outcome in enumerate(outcomes):
        heights = [
            sum(value(outcome, worker) for worker, at in zones.items() if at == zone)
            for zone in names
        ]
        left = [n + (place - len(outcomes) / 2 + 0.5) * width for n in range(len(names))]
        axes.bar(left, heights, width, label=outcome.policy.name)
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.legend(fontsize=8)


def _emissions_by_zone(axes: Axes, outcomes: Sequence[Outcome], zones: dict[str, str]) -> None:
    _by_zone(axes, outcomes, zones, lambda one, worker: one.tally.workers[worker].total_grams)


def _energy_by_zone(axes: Axes, outcomes: Sequence[Outcome], zones: dict[str, str]) -> None:
    _by_zone(
        axes,
        outcomes,
        zones,
        lambda one, worker: one.tally.workers[worker].total_micro_joules / 1e12,
    )


def _shares(axes: Axes, outcomes: Sequence[Outcome], name: str, unit: str) -> None:
    shares = [number / 200 for number in range(1, 200)] + [0.999]
    for outcome in outcomes:
        sketch = getattr(outcome.tally, name)
        times = [sketch.quantile(share) for share in shares]
        if times[0] is not None:
            axes.plot(times, shares, label=outcome.policy.name)
    axes.set_xscale("log")
    axes.set_xlabel(unit)
    axes.legend(fontsize=8)


def _hits(axes: Axes, outcomes: Sequence[Outcome]) -> None:
    names = [outcome.policy.name for outcome in outcomes]
    axes.barh(names[::-1], [100 * (o.tally.hit_rate or 0.0) for o in reversed(outcomes)])
    axes.set_xlim(0, 100)
