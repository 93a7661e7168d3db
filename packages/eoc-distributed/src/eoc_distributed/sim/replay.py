"""A trace through a fleet in virtual time: the engines and routers of the real thing, no sockets.

Events are arrivals and the ends of steps. The clock jumps from one to the next, so that an
hour of traffic takes a second, and the same seed gives the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence as Ordered
from itertools import islice

from eoc_distributed.backends.embedded.accelerators import MODEL
from eoc_distributed.backends.embedded.engine import Engine
from eoc_distributed.backends.embedded.engine_load import load_of
from eoc_distributed.backends.embedded.sequence import Sequence
from eoc_distributed.clock import ManualClock
from eoc_distributed.cluster import Cluster, Ticket
from eoc_distributed.errors import NoWorkerAvailable, SequenceRefused
from eoc_distributed.request import Request
from eoc_distributed.routing import Router
from eoc_distributed.worker import Capability, InMemoryWorker

from .fleet import Site
from .report import RunReport, worker_report
from .traces.base import TracedRequest

CONTEXT_TOKENS = 8192
"""Longer prompts and answers are cut to this, so that each fits on every machine."""


def clipped(requests: Iterable[TracedRequest], count: int) -> Iterator[TracedRequest]:
    """Yield the first `count` requests, none longer than `CONTEXT_TOKENS` in prompt or answer."""
    for request in islice(requests, count):
        yield TracedRequest(
            request.arrival_s,
            min(request.prompt_tokens, CONTEXT_TOKENS),
            min(request.output_tokens, CONTEXT_TOKENS),
        )


class _Lane:
    """One worker of the fleet: its engine, and what routing sees of it."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.engine = Engine(site.profile)
        self.tickets: dict[Sequence, Ticket] = {}
        self.sequences: list[Sequence] = []
        self.worker = InMemoryWorker(
            site.id,
            Capability(
                {MODEL}, site.profile.accelerator, site.profile.max_sequences, zone=site.zone
            ),
            load_of(self.engine),
        )


class Replay:
    """Runs one trace under one router.

    Args:
        fleet: The workers.
        router: Chooses among them; it must not have served another cluster.
        g_per_kwh: Carbon intensity of each zone.
    """

    def __init__(
        self, fleet: Ordered[Site], *, router: Router, g_per_kwh: Mapping[str, float]
    ) -> None:
        self._router = router
        self._g_per_kwh = g_per_kwh
        self._clock = ManualClock()
        self._lanes = {site.id: _Lane(site) for site in fleet}
        self._cluster = Cluster((lane.worker for lane in self._lanes.values()), clock=self._clock)
        for zone, intensity in g_per_kwh.items():
            self._cluster.set_intensity(zone, intensity)
        self._failed = 0

    def run(self, requests: Iterable[TracedRequest]) -> float:
        """Replay all requests to their end; return when the last one ended, s."""
        for request in requests:
            self._advance(request.arrival_s)
            self._arrive(request)
        changed = [(lane, lane.engine.drain()) for lane in self._lanes.values()]
        self._tell(changed)
        return max((lane.engine.now_s for lane in self._lanes.values()), default=0.0)

    def report(self, horizon_s: float) -> RunReport:
        """Return what was used, idle energy counted up to `horizon_s`."""
        for lane in self._lanes.values():
            lane.engine.advance(horizon_s)
        return RunReport(
            router=self._router.name,
            over_http=False,
            workers=tuple(
                worker_report(
                    lane.site,
                    lane.sequences,
                    g_per_kwh=self._g_per_kwh[lane.site.zone],
                    idle_micro_joules=lane.engine.idle_micro_joules,
                )
                for lane in self._lanes.values()
            ),
            failed=self._failed,
            seconds=horizon_s,
        )

    def _advance(self, until_s: float) -> None:
        changed = [(lane, lane.engine.advance(until_s)) for lane in self._lanes.values()]
        self._tell(changed)
        self._move_clock(until_s)
        for lane, sequences in changed:
            if sequences:
                lane.worker.set_load(load_of(lane.engine))

    def _arrive(self, request: TracedRequest) -> None:
        asked = Request(
            model=MODEL, prompt_tokens=request.prompt_tokens, max_tokens=request.output_tokens
        )
        try:
            worker = self._router.choose(asked, self._cluster)
        except NoWorkerAvailable:
            self._failed += 1
            return
        lane = self._lanes[worker.id]
        ticket = self._cluster.begin(worker.id, tokens=request.prompt_tokens)
        try:
            sequence = lane.engine.submit(
                prompt_tokens=request.prompt_tokens,
                output_tokens=request.output_tokens,
                now_s=request.arrival_s,
            )
        except SequenceRefused:
            ticket.end()
            self._failed += 1
            return
        lane.tickets[sequence] = ticket
        lane.sequences.append(sequence)
        lane.worker.set_load(load_of(lane.engine))

    def _tell(self, changed: list[tuple[_Lane, list[Sequence]]]) -> None:
        """Tell the cluster of first tokens and ends, each at its time."""
        events: list[tuple[float, int, Ticket]] = []
        for lane, sequences in changed:
            for sequence in sequences:
                ticket = lane.tickets[sequence]
                if ticket.queued_tokens >= 0 and sequence.first_token_s is not None:
                    events.append((sequence.first_token_s, 0, ticket))
                if sequence.ended_s is not None:
                    events.append((sequence.ended_s, 1, ticket))
                    del lane.tickets[sequence]
        for at_s, kind, ticket in sorted(events, key=lambda event: event[:2]):
            self._move_clock(at_s)
            if kind:
                ticket.end()
            else:
                ticket.first_token()

    def _move_clock(self, at_s: float) -> None:
        self._clock.advance(max(0.0, at_s - self._clock.now_s()))
