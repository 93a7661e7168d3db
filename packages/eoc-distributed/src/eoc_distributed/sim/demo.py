"""The demo as a value: which trace, through which fleet, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from eoc_distributed.errors import TraceInvalid
from eoc_distributed.routing import REGISTRY, Router, create

from .fleet import DEMO_FLEET, intensities
from .http_replay import HTTPRun, replay_over_http
from .replay import Replay, clipped
from .report import RunReport
from .traces import TracedRequest, read_trace, synthetic

ARRIVALS_WALL_S = 15.0
"""Without a speed-up given, time runs so fast that all arrivals take that long."""
LIMIT_S = 240.0
"""Longest time that the run over HTTP may take beyond its arrivals, s."""
DEFAULT_TRACE = Path("data/inference/azure2023_conv.csv.gz")


@dataclass(frozen=True, slots=True)
class DemoTrace:
    """Requests to replay, and where they are from.

    Attributes:
        title: For people.
        requests: In order of arrival; none longer than the fleet's context.
        cut: How many were longer and are shortened.
    """

    title: str
    requests: tuple[TracedRequest, ...]
    cut: int

    @property
    def seconds(self) -> float:
        """Time from the first to the last arrival, s."""
        return self.requests[-1].arrival_s

    def speedup(self) -> float:
        """Return the speed-up at which the arrivals take 15 s, at least 1."""
        return max(1.0, self.seconds / ARRIVALS_WALL_S)


def find_trace(file: Path | None, *, shared: Path, count: int, seed: int) -> DemoTrace:
    """Take the file, or the Azure trace where it is there, or a synthetic one.

    Args:
        file: A trace that was asked for.
        shared: Folder with the reference data.
        count: Requests to take.
        seed: Of the synthetic trace.

    Raises:
        TraceInvalid: The file is not a trace, or is empty.
    """
    usual = shared / DEFAULT_TRACE
    if file is None and not usual.is_file():
        title = "synthetic trace, shaped like Azure's conversations of 2023"
        return _demo_trace(title, synthetic(Random(seed)), count)  # noqa: S311 - no secret
    path = file if file is not None else usual
    trace = _demo_trace(path.name, read_trace(path), count)
    if not trace.requests:
        raise TraceInvalid(str(path), 0, "there is no request in it")
    return trace


def _demo_trace(title: str, source: Iterable[TracedRequest], count: int) -> DemoTrace:
    whole = list(islice(source, count))
    requests = tuple(clipped(whole, count))
    cut = sum(1 for one, other in zip(whole, requests, strict=True) if one != other)
    return DemoTrace(title, requests, cut)


@dataclass(frozen=True, slots=True)
class DemoResult:
    """A finished demo.

    Attributes:
        trace: What was replayed.
        run: The run over HTTP.
        what_if: The same trace in virtual time, one report for each router.
    """

    trace: DemoTrace
    run: HTTPRun
    what_if: tuple[RunReport, ...]

    @property
    def good(self) -> bool:
        """Whether every request was answered and all accounts agree."""
        return not self.run.report.failed and self.run.consistent


async def run_demo(
    trace: DemoTrace,
    *,
    router: str,
    seed: int,
    speedup: float,
    ttft_objective_ms: float | None,
    on_done: Callable[[], None],
) -> DemoResult:
    """Replay a trace under every router in virtual time, and under one over HTTP.

    Raises:
        TimeoutError: The run over HTTP took too long.
    """

    def new_router(name: str) -> Router:
        rng = Random(seed)  # noqa: S311 - no secret
        return create(name, rng=rng, ttft_objective_ms=ttft_objective_ms)

    g_per_kwh = intensities(DEMO_FLEET)
    replays = [
        Replay(DEMO_FLEET, router=new_router(name), g_per_kwh=g_per_kwh) for name in REGISTRY
    ]
    # Idle energy is counted over the same time for all, that of the slowest.
    horizon_s = max(replay.run(trace.requests) for replay in replays)
    run = await replay_over_http(
        trace.requests,
        DEMO_FLEET,
        new_router=lambda: new_router(router),
        g_per_kwh=g_per_kwh,
        speedup=speedup,
        rng=Random(seed),  # noqa: S311 - no secret
        limit_s=trace.seconds / speedup + LIMIT_S,
        on_done=on_done,
        horizon_s=horizon_s,
    )
    horizon_s = max(horizon_s, run.report.seconds)
    return DemoResult(trace, run, tuple(replay.report(horizon_s) for replay in replays))
