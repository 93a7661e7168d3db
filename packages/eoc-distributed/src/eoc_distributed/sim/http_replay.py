"""A trace through the gateway over real HTTP on loopback, in accelerated time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence as Ordered
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random

import msgspec

from eoc_distributed.backends.address import parse_address
from eoc_distributed.backends.embedded.accelerators import MODEL
from eoc_distributed.backends.embedded.scaled_clock import ScaledClock
from eoc_distributed.backends.embedded.sequence import Sequence
from eoc_distributed.backends.embedded.worker import EmbeddedWorker
from eoc_distributed.backends.http_worker import HTTPWorker
from eoc_distributed.cluster import Cluster
from eoc_distributed.errors import WorkerFailed
from eoc_distributed.gateway import Gateway, Server
from eoc_distributed.gateway.body import close_body
from eoc_distributed.gateway.usage import StreamCount
from eoc_distributed.http import HTTPRequest
from eoc_distributed.routing import Router
from eoc_distributed.worker import Capability

from .fleet import Site
from .report import RunReport, worker_report
from .traces.base import TracedRequest

MAX_OPEN = 512
"""Requests on the way at a time; later ones wait for a place, and come late."""
_HEADERS = ((b"content-type", b"application/json"),)
_OK = 200


@dataclass(slots=True)
class Seen:
    """What the client saw of one worker's answers.

    Attributes:
        requests: Complete answers.
        prompt_tokens: As their usage tells.
        completion_tokens: As their usage tells.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class HTTPRun:
    """A finished run over HTTP.

    Attributes:
        report: Figures from the engines.
        seen: What the client saw, by worker.
        charged_micro_joules: What the gateway's ledger charged to each worker, µJ.
        failures: First reasons of requests without a complete answer.
        wall_s: How long it took.
    """

    report: RunReport
    seen: Mapping[str, Seen]
    charged_micro_joules: Mapping[str, int]
    failures: tuple[str, ...]
    wall_s: float

    @property
    def consistent(self) -> bool:
        """Whether client, gateway and engines agree on requests, tokens and energy."""
        return all(
            (worker.requests, worker.prompt_tokens, worker.completion_tokens)
            == (seen.requests, seen.prompt_tokens, seen.completion_tokens)
            and worker.micro_joules == self.charged_micro_joules.get(worker.site.id, 0)
            for worker in self.report.workers
            for seen in (self.seen.get(worker.site.id, Seen()),)
        )


@dataclass(slots=True)
class _Client:
    """Sends requests and notes what comes back."""

    worker: HTTPWorker
    done: Callable[[], None]
    seen: dict[str, Seen] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_OPEN))

    async def ask(self, request: TracedRequest) -> None:
        """Ask once; a failure is noted, not raised."""
        body = msgspec.json.encode(
            {
                "model": MODEL,
                "messages": [{"role": "user", "content": "abc " * request.prompt_tokens}],
                "max_tokens": request.output_tokens,
                "ignore_eos": True,
                "stream": True,
                "stream_options": {"include_usage": True},
            }
        )
        async with self.places:
            try:
                failure = await self._ask(
                    HTTPRequest("POST", "/v1/chat/completions", _HEADERS, body)
                )
            except WorkerFailed as error:
                failure = str(error)
        if failure:
            self.failures.append(failure)
        self.done()

    async def _ask(self, request: HTTPRequest) -> str:
        response = await self.worker.serve(request)
        try:
            if response.status != _OK:
                pieces = [piece async for piece in response.body]
                return f"{response.status} {b''.join(pieces)[:200].decode(errors='replace')}"
            count = StreamCount()
            async for piece in response.body:
                count.feed(piece)
        finally:
            await close_body(response)
        counted = count.result()
        if not (count.done and counted.exact):
            return "the stream ended early"
        if counted.completion_tokens != count.events:
            return f"{count.events} tokens came of {counted.completion_tokens}"
        worker_id = (response.header(b"x-eoc-worker") or b"").decode("latin-1")
        seen = self.seen.setdefault(worker_id, Seen())
        seen.requests += 1
        seen.prompt_tokens += counted.prompt_tokens or 0
        seen.completion_tokens += counted.completion_tokens
        return ""


async def replay_over_http(
    requests: Ordered[TracedRequest],
    fleet: Ordered[Site],
    *,
    new_router: Callable[[], Router],
    g_per_kwh: Mapping[str, float],
    speedup: float,
    rng: Random,
    limit_s: float,
    on_done: Callable[[], None] = lambda: None,
    horizon_s: float = 0.0,
) -> HTTPRun:
    """Start a gateway and a fleet of embedded workers, and send a trace through them.

    Args:
        requests: The trace.
        fleet: The workers.
        new_router: Makes the gateway's router.
        g_per_kwh: Carbon intensity of each zone.
        speedup: Simulated seconds in a second.
        rng: Random source of the workers.
        limit_s: Longest time that it may take, s.
        on_done: Called after each request.
        horizon_s: Idle energy is counted up to there at least, simulated s.

    Raises:
        TimeoutError: It took longer than `limit_s`.
    """
    loop = asyncio.get_running_loop()
    wall_s = loop.time()
    clock = ScaledClock(speedup=speedup)
    cluster = Cluster(clock=clock)
    ended: dict[str, list[Sequence]] = {site.id: [] for site in fleet}
    async with asyncio.timeout(limit_s), AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(
                EmbeddedWorker(
                    site.id,
                    profile=site.profile,
                    clock=clock,
                    rng=rng,
                    zone=site.zone,
                    on_ended=ended[site.id].append,
                )
            )
            for site in fleet
        ]
        for worker in workers:
            cluster.add(worker)
        for zone, intensity in g_per_kwh.items():
            cluster.set_intensity(zone, intensity)
        gateway = Gateway(cluster, new_router=new_router)
        server = await stack.enter_async_context(Server(gateway))
        connection = HTTPWorker(
            "gateway", address=parse_address(server.url), capability=Capability({MODEL})
        )
        stack.callback(connection.close)
        client = _Client(connection, on_done)
        start_s = clock.now_s()
        for worker in workers:
            worker.engine.advance(start_s)
        idle_before = [worker.engine.idle_micro_joules for worker in workers]
        async with asyncio.TaskGroup() as group:
            for request in requests:
                await asyncio.sleep(clock.until(start_s + request.arrival_s))
                group.create_task(client.ask(request))
        end_s = max(clock.now_s(), start_s + horizon_s)
        for worker in workers:
            worker.engine.advance(end_s)
        report = RunReport(
            router=gateway.router.name,
            over_http=True,
            workers=tuple(
                worker_report(
                    site,
                    ended[site.id],
                    g_per_kwh=g_per_kwh[site.zone],
                    idle_micro_joules=worker.engine.idle_micro_joules - before,
                )
                for site, worker, before in zip(fleet, workers, idle_before, strict=True)
            ),
            failed=len(client.failures),
            seconds=end_s - start_s,
        )
    return HTTPRun(
        report,
        client.seen,
        {name: totals.micro_joules for name, totals in gateway.ledger.workers.items()},
        tuple(client.failures[:5]),
        loop.time() - wall_s,
    )
