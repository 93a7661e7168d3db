"""Write docs/results.md: what each way to run a fleet costs on recorded traces.

    make results

Reads the traces and hourly intensities of ../shared/data/inference; everything is simulated, with
modelled engines and energy, and the same to the bit on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path

from eoc_distributed.backends.embedded.accelerators import B200, H100, Profile
from eoc_distributed.carbon.csv_file import read_hourly
from eoc_distributed.sim.comparison import Outcome, compare, faster, hourly
from eoc_distributed.sim.comparison_page import COLUMNS, cells
from eoc_distributed.sim.default_fleet import DEFAULT_FLEET
from eoc_distributed.sim.fleet import Site
from eoc_distributed.sim.policy import parse_policy
from eoc_distributed.sim.simulation import Conditions
from eoc_distributed.sim.traces import TracedRequest, block_tokens, read_trace

ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared" / "data" / "inference"
AZURE = DATA / "azure2023_conv.csv.gz"
MOONCAKE = DATA / "mooncake_conversation_trace.jsonl.gz"
CARBON = DATA / "carbon_hourly_2024_16zones.csv.gz"
PAGE = ROOT / "docs" / "results.md"
OBJECTIVE_MS = 2000.0
LEAST_SAVED, MOST_LATE, LEAST_HITS, MOST_LOAD = 0.3, 0.01, 0.9, 1.3
"""What was expected of the policies before anything was measured."""
CONTEXT = 131_072

ROUTERS = (
    "round-robin",
    "least-busy",
    "latency-weighted",
    "joule-weighted",
    "carbon-weighted",
    "marginal-joules",
    "marginal-carbon",
)
STICKY = ("round-robin", "least-busy", "sticky+least-busy", "sticky+marginal-joules")


INTRODUCTION = """# What each way to run a fleet costs

Made by `make results`; change `benchmarks/results.py` of the package instead.

All figures are **simulated**: the production routers, batcher, stealing scheduler and autoscaler
over modelled engines and modelled energy (`eoc simulate --help`). Idle power is counted. Energy
and emissions are those of the accelerators for 1,000 generated tokens, prompts included;
intensities are hourly ones of January 2024 (Electricity Maps, ODbL). Objective: the first token
within {objective_ms:g} ms for 99 % of the requests; a policy that breaks it, or refuses more than
one request in 1,000, does not hold."""


def run(
    trace: Path, names: Iterable[str], fleet: Sequence[Site], *, speed: float = 1.0
) -> list[Outcome]:
    """Compare policies on a trace."""
    source = read_hourly(CARBON)
    conditions = Conditions(
        tuple(fleet),
        hourly(source, fleet, start=source.start) if source.start else lambda _zone, _hour: 0.0,
        ttft_objective_ms=OBJECTIVE_MS,
        context_tokens=CONTEXT if trace == MOONCAKE else 32_768,
        block_tokens=block_tokens(trace) or 16,
    )

    def told(policy: object) -> None:
        print(f"{trace.name} x{speed:g}: {policy}", file=sys.stderr, flush=True)

    outcomes = []
    for name in names:
        told(name)
        outcomes += compare(
            lambda: faster(read_trace(trace), speed), [parse_policy(name)], conditions
        )
    return sorted(outcomes, key=lambda one: (not one.holds, one.tally.micro_joules))


def alike(profile: Profile, count: int) -> tuple[Site, ...]:
    """Return a fleet of one kind over four zones."""
    zones = cycle(("CA-ON", "GB", "DE", "IN-WE"))
    return tuple(Site(f"{profile.name}-{number}", profile, next(zones)) for number in range(count))


def table(outcomes: Sequence[Outcome]) -> str:
    """Return outcomes as a table in Markdown."""
    lines = [
        "| " + " | ".join((*COLUMNS, "p99 waiting s", "load max / mean")) + " |",
        "|---" + "|---:" * (len(COLUMNS) + 1) + "|",
    ]
    for one in outcomes:
        waiting, load = one.tally.waiting_s.quantile(0.99), one.tally.load_imbalance
        extra = [f"{waiting or 0.0:.3f}", "-" if load is None else f"{load:.2f}"]
        lines.append("| " + " | ".join([*cells(one), *extra]) + " |")
    return "\n".join(lines)


def infinite_hit_rate(trace: Iterable[TracedRequest], block: int) -> float:
    """Return the share of prompt tokens that one cache without end would have."""
    seen: set[int] = set()
    hits = total = 0
    for request in trace:
        prompt = min(request.prompt_tokens, CONTEXT - 1)
        blocks = request.blocks[: prompt // block]
        found = 0
        while found < len(blocks) and blocks[found] in seen:
            found += 1
        hits += min(found, (prompt - 1) // block) * block
        total += prompt
        seen.update(blocks)
    return hits / total


def verdict(what: str, value: str, *, met: bool, why: str = "") -> str:
    """Return one expectation, what was measured, and why it is missed where it is."""
    return f"| {what} | {value} | {'met' if met else 'missed'} | {why if not met else ''} |"


def by_name(outcomes: Sequence[Outcome]) -> dict[str, Outcome]:
    """Return outcomes by the name of their policy."""
    return {one.policy.name: one for one in outcomes}


def main() -> int:
    """Write the page; return the exit status."""
    if not AZURE.is_file():
        print(f"no data in {DATA}", file=sys.stderr)
        return 1
    scaled = [f"{name}+autoscale" for name in ROUTERS]
    quiet = run(AZURE, [*ROUTERS, *scaled], DEFAULT_FLEET, speed=3)
    busy = run(AZURE, ROUTERS, DEFAULT_FLEET, speed=16)
    large, small = (run(MOONCAKE, STICKY, alike(profile, 16)) for profile in (B200, H100))
    stealing = run(AZURE, ["round-robin", "round-robin+stealing"], DEFAULT_FLEET, speed=16)
    ideal = infinite_hit_rate(read_trace(MOONCAKE), block_tokens(MOONCAKE) or 512)
    PAGE.write_text(page(quiet, busy, large, small, stealing, ideal), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


def expectations(
    quiet: Sequence[Outcome],
    large: Sequence[Outcome],
    small: Sequence[Outcome],
    stealing: Sequence[Outcome],
    ideal: float,
) -> list[str]:
    """Return the table of what was expected and what came."""
    found, steal = by_name(quiet), by_name(stealing)
    marginal, plain = found["marginal-joules+autoscale"], found["round-robin+autoscale"]
    saved = 1.0 - (marginal.joules_per_1k_tokens or 0.0) / (plain.joules_per_1k_tokens or 1.0)
    late = max(found[name].late_share for name in ("joule-weighted", "carbon-weighted"))
    sticky, tight = by_name(large)["sticky+least-busy"], by_name(small)["sticky+least-busy"]
    share = (sticky.tally.hit_rate or 0.0) / ideal
    tight_share = (tight.tally.hit_rate or 0.0) / ideal
    load = sticky.tally.load_imbalance or 0.0
    before = steal["round-robin"].tally.waiting_s.quantile(0.99) or 0.0
    after = steal["round-robin+stealing"].tally.waiting_s.quantile(0.99) or 0.0
    p99 = marginal.tally.ttft_s.quantile(0.99) or 0.0
    return [
        "| expected | measured | | why |",
        "|---|---|---|---|",
        verdict(
            "marginal-joules with autoscaler: at least 30 % less energy than round robin with it, "
            "p99 time to first token within the objective",
            f"{saved:.0%} less, p99 {p99:.2f} s",
            met=saved >= LEAST_SAVED and p99 <= OBJECTIVE_MS / 1e3,
        ),
        verdict(
            "joule-weighted and carbon-weighted with objective: at most 1 % late",
            f"{late:.2%}",
            met=late <= MOST_LATE,
        ),
        verdict(
            "sticky routing on Mooncake: at least 90 % of the hit rate of one infinite cache",
            f"{share:.0%} on 16 B200 ({tight_share:.0%} on 16 H100)",
            met=share >= LEAST_HITS,
            why="the fleet's caches hold less than the trace's working set",
        ),
        verdict(
            "the same with no worker above 1.3 times the mean load (tokens computed)",
            f"{load:.2f} on 16 B200",
            met=load <= MOST_LOAD,
            why="loads are bounded in requests in flight, and prompts differ in length",
        ),
        verdict(
            "stealing halves the p99 of waiting at 80 % load",
            f"{before:.2f} s before, {after:.2f} s after",
            met=after <= before / 2,
            why="routers see every worker's places and KV cache, so that a request is queued only "
            "where all are full: next to nothing waits at one worker while another idles",
        ),
    ]


def page(
    quiet: Sequence[Outcome],
    busy: Sequence[Outcome],
    large: Sequence[Outcome],
    small: Sequence[Outcome],
    stealing: Sequence[Outcome],
    ideal: float,
) -> str:
    """Return the page."""
    parts = [
        INTRODUCTION.format(objective_ms=OBJECTIVE_MS),
        "## Expectations",
        "\n".join(expectations(quiet, large, small, stealing, ideal)),
        "## Azure 2023 conversations, three times as fast (17 requests a second)",
        f"The default fleet of `eoc simulate`: {len(DEFAULT_FLEET)} workers in eight zones.",
        table(quiet),
        "## Azure 2023 conversations, sixteen times as fast (89 requests a second)",
        "The same fleet, near its limit.",
        table(busy),
        "## Mooncake conversations: sticky sessions",
        f"One cache without end would find {ideal:.1%} of the prompt tokens.",
        "16 B200 (1.1 million tokens of KV cache each):",
        table(large),
        "16 H100 (440 thousand tokens each):",
        table(small),
        "## Work stealing",
        "Azure conversations, sixteen times as fast, on the default fleet.",
        table(stealing),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
