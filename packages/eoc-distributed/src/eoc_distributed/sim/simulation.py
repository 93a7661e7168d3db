"""A trace through a fleet, by discrete events over the production code.

Events are arrivals, ends of passes, ticks of the autoscaler, starts of workers, looks at the
meters and new hours of the carbon intensity. Between them nothing happens, so the clock jumps.
The same trace, fleet, policy and seed give the same result to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random
from typing import Final

from eoc_distributed.autoscaling import (
    Autoscaler,
    AutoscalingPolicy,
    DrainCandidate,
    choose_to_drain,
    choose_to_restore,
)
from eoc_distributed.clock import ManualClock
from eoc_distributed.cluster import Cluster
from eoc_distributed.errors import NoWorkerAvailable, QueueFull, TooLarge
from eoc_distributed.locality import StickySessions
from eoc_distributed.request import Request
from eoc_distributed.routing import Router, create
from eoc_distributed.scheduling import QueuedRequest, WorkStealingScheduler
from eoc_distributed.units import Quality

from .fleet import Site
from .lane import Flight, Lane
from .policy import Policy
from .tally import HOUR_S, Tally
from .traces.base import TracedRequest

MODEL: Final = "simulated"
_LOOK_S: Final = 10.0
_PROGRESS_EVERY: Final = 512
_FIRST_GUESS: Final = 200.0
"""Tokens that an answer is expected to have before any has ended."""
_LEARNING: Final = 0.01

Intensities = Callable[[str, int], float]
"""Carbon intensity of a zone in an hour of the simulation, gCO2e/kWh."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """All that is alike for the policies of one comparison.

    Attributes:
        fleet: The workers.
        intensities: Of their zones, by hour.
        ttft_objective_ms: Longest time to first token that is in time, ms.
        context_tokens: Longer prompts are cut so that prompt and answer fit into this.
        block_tokens: Tokens in a block of the KV cache; that of the trace where it tells blocks.
        autoscaling: How the autoscaler decides.
        tick_s: Between two of its decisions, s.
        start_s: How long a worker takes to start, s; it draws idle power meanwhile.
        seed: Of every random choice.
    """

    fleet: tuple[Site, ...]
    intensities: Intensities
    ttft_objective_ms: float = 2000.0
    context_tokens: int = 32_768
    block_tokens: int = 16
    autoscaling: AutoscalingPolicy | None = None
    tick_s: float = 5.0
    start_s: float = 60.0
    seed: int = 1

    def scaling(self) -> AutoscalingPolicy:
        """Return the autoscaler's policy: the one given, or one that suits engines that batch."""
        if self.autoscaling is not None:
            return self.autoscaling
        return AutoscalingPolicy(
            min_workers=1,
            max_workers=len(self.fleet),
            target_ongoing_requests=24.0,
            look_back_period_s=30.0,
            upscale_delay_s=10.0,
            downscale_delay_s=120.0,
        )


Progress = Callable[[int], None]
"""Is told how many requests have arrived since it was told last."""


def simulate(
    trace: Iterable[TracedRequest],
    policy: Policy,
    conditions: Conditions,
    *,
    progress: Progress | None = None,
) -> Tally:
    """Run a trace through a fleet and return what it came to.

    Memory does not grow with the trace, beside what is in flight.

    Raises:
        ConfigError: The policy's router does not exist.
    """
    return _Run(policy, conditions).through(iter(trace), progress)


class _Run:
    """One simulation under way."""

    def __init__(self, policy: Policy, conditions: Conditions) -> None:
        self._conditions = conditions
        self._policy = policy
        self._clock = ManualClock()
        rng = Random(conditions.seed)  # noqa: S311 - simulation
        self._lanes = {
            site.id: Lane(
                site.id,
                site.profile,
                site.zone,
                model=MODEL,
                context_tokens=conditions.context_tokens,
                block_tokens=conditions.block_tokens,
            )
            for site in conditions.fleet
        }
        workers = [lane.worker for lane in self._lanes.values()]
        self._cluster = Cluster(workers, clock=self._clock)
        router: Router = create(
            policy.router, rng=rng, ttft_objective_ms=conditions.ttft_objective_ms
        )
        if policy.sticky:
            router = StickySessions(router, rng=rng)
        self._router = router
        self._scheduler: WorkStealingScheduler | None = None
        if policy.stealing:
            self._scheduler = WorkStealingScheduler(self._cluster, router, rng=rng)
        self._queued: dict[QueuedRequest, tuple[Flight, tuple[int, ...]]] = {}
        self._autoscaler: Autoscaler | None = None
        if policy.autoscale:
            self._autoscaler = Autoscaler(conditions.scaling(), initial_workers=len(workers))
        self.tally = Tally({lane.id: lane.tally for lane in self._lanes.values()})
        self._events: list[tuple[float, int, Lane | None, int]] = []
        self._timers: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbers = 0
        self._flying = 0
        self._answer_tokens = _FIRST_GUESS
        self._objective_s = conditions.ttft_objective_ms / 1000.0
        self._limit = {lane.id: lane.batcher.limits.model_tokens for lane in self._lanes.values()}
        self._context = min(self._limit.values(), default=0)

    def through(self, trace: Iterator[TracedRequest], progress: Progress | None) -> Tally:
        tally = self.tally
        self._at(0.0, self._new_hour)
        self._at(_LOOK_S, self._look)
        if self._autoscaler is not None:
            self._at(self._conditions.tick_s, self._scale)
        coming = next(trace, None)
        told = 0
        while coming is not None or self._flying:
            now_s, what = self._next(None if coming is None else coming.arrival_s)
            self._clock.reach(now_s)
            if what is None and coming is not None:
                tally.arrived += 1
                self._arrive(coming, now_s)
                if progress is not None and tally.arrived - told >= _PROGRESS_EVERY:
                    progress(tally.arrived - told)
                    told = tally.arrived
                coming = next(trace, None)
            elif isinstance(what, Lane):
                self._boundary(what, now_s)
            elif what is not None:
                what(now_s)
        if progress is not None:
            progress(tally.arrived - told)
        return self._close()

    def _next(self, arrival_s: float | None) -> tuple[float, Lane | Callable[[float], None] | None]:
        """Take the earliest event; None for an arrival. Of equal times passes end first."""
        events, timers = self._events, self._timers
        while events and events[0][3] != events[0][2].version:  # type: ignore[union-attr]
            heappop(events)
        event_s = events[0][0] if events else None
        timer_s = timers[0][0] if timers else None
        if event_s is not None and (timer_s is None or event_s <= timer_s):
            if arrival_s is None or event_s <= arrival_s:
                _, _, lane, _ = heappop(events)
                return event_s, lane
        elif timer_s is not None and (arrival_s is None or timer_s <= arrival_s):
            _, _, call = heappop(timers)
            return timer_s, call
        return arrival_s if arrival_s is not None else self._clock.now_s(), None

    def _at(self, when_s: float, call: Callable[[float], None]) -> None:
        self._numbers += 1
        heappush(self._timers, (when_s, self._numbers, call))

    # Requests

    def _arrive(self, traced: TracedRequest, now_s: float) -> None:
        prompt, output = traced.prompt_tokens, traced.output_tokens
        if prompt + output > self._context:
            self.tally.clipped += 1
            output = min(output, self._context // 2)
            prompt = max(1, self._context - output)
        blocks = traced.blocks[: prompt // self._conditions.block_tokens]
        flight = Flight(now_s, prompt, output)
        request = Request(model=MODEL, prompt_tokens=prompt, prompt_blocks=blocks)
        if self._scheduler is None:
            try:
                worker = self._router.choose(request, self._cluster)
            except NoWorkerAvailable:
                self._refuse("no worker has a place")
                return
            flight.ticket = self._cluster.begin(
                worker.id, tokens=prompt, answer_tokens=round(self._answer_tokens)
            )
            self._flying += 1
            self._give(self._lanes[worker.id], flight, blocks, now_s)
            return
        try:
            queued = self._scheduler.submit(request, now_s=now_s)
        except (NoWorkerAvailable, QueueFull) as error:
            self._refuse(
                "the queue is full" if isinstance(error, QueueFull) else "no worker is well"
            )
            return
        flight.queued = queued
        self._queued[queued] = (flight, blocks)
        self._flying += 1
        self._dispatch(now_s)

    def _dispatch(self, now_s: float) -> None:
        """Give what the stealing scheduler starts to its workers."""
        scheduler = self._scheduler
        if scheduler is None:
            return
        for queued in scheduler.dispatch(now_s).started:
            flight, blocks = self._queued.pop(queued)
            flight.ticket = queued.ticket
            self._give(self._lanes[queued.worker_id], flight, blocks, now_s)

    def _give(self, lane: Lane, flight: Flight, blocks: tuple[int, ...], now_s: float) -> None:
        # Before it is added: the plan holds only while nothing waits.
        if lane.running and lane.interrupt(now_s):
            self._push(lane)
        try:
            lane.batcher.add(
                flight,
                prompt_tokens=flight.prompt_tokens,
                output_tokens=flight.output_tokens,
                hashes=blocks,
            )
        except TooLarge:
            self._end(flight)
            self._refuse("too large for its worker")
            return
        in_flight = lane.batcher.running + lane.batcher.waiting
        lane.tally.peak_in_flight = max(lane.tally.peak_in_flight, in_flight)
        if not lane.running:
            self._begin(lane, now_s)

    def _refuse(self, why: str) -> None:
        self.tally.refused[why] = self.tally.refused.get(why, 0) + 1

    def _end(self, flight: Flight) -> None:
        self._flying -= 1
        if flight.queued is not None and self._scheduler is not None:
            now_s = self._clock.now_s()
            self._scheduler.finish(flight.queued, now_s=now_s, answer_tokens=flight.output_tokens)
        elif flight.ticket is not None:
            flight.ticket.end()

    # Passes

    def _push(self, lane: Lane) -> None:
        self._numbers += 1
        heappush(self._events, (lane.boundary_s, self._numbers, lane, lane.version))

    def _begin(self, lane: Lane, now_s: float) -> None:
        if not lane.begin(now_s):
            return
        self._push(lane)
        if lane.admitted:
            for flight in lane.admitted:
                self.tally.waiting_s.add(now_s - flight.arrival_s)
            lane.admitted.clear()

    def _boundary(self, lane: Lane, now_s: float) -> None:
        lane.end()
        for flight in lane.first:
            self._first_token(flight, now_s)
        finished = lane.finished
        lane.first = lane.finished = ()
        if finished:
            hour = self.tally.hour(now_s)
            for flight in finished:
                self._finish(lane, flight, now_s)
                hour.requests += 1
                hour.tokens += flight.output_tokens
        self._begin(lane, now_s)
        if finished:
            self._dispatch(now_s)
            if not lane.running and not lane.ready:
                lane.switch(now_s, on=False)

    def _first_token(self, flight: Flight, now_s: float) -> None:
        flight.first_s = now_s
        if flight.ticket is not None:
            flight.ticket.first_token()
        ttft_s = now_s - flight.arrival_s
        tally = self.tally
        tally.ttft_s.add(ttft_s)
        tally.hour(now_s).ttft_s.add(ttft_s)
        tally.late += ttft_s > self._objective_s

    def _finish(self, lane: Lane, flight: Flight, now_s: float) -> None:
        self._end(flight)
        self.tally.finished += 1
        tally = lane.tally
        tally.requests += 1
        tally.prompt_tokens += flight.prompt_tokens
        tally.output_tokens += flight.output_tokens
        self._answer_tokens += (flight.output_tokens - self._answer_tokens) * _LEARNING
        if flight.output_tokens > 1:
            self.tally.token_s.add((now_s - flight.first_s) / (flight.output_tokens - 1))

    # Timers

    def _new_hour(self, now_s: float) -> None:
        hour = round(now_s / HOUR_S)
        for zone in sorted({lane.zone for lane in self._lanes.values()}):
            figure = self._conditions.intensities(zone, hour)
            self._cluster.set_intensity(zone, figure, quality=Quality.ESTIMATED)
        self._at((hour + 1) * HOUR_S, self._new_hour)

    def _look(self, now_s: float) -> None:
        for lane in self._lanes.values():
            # A meter shows what has been drawn by now, whatever was planned for later.
            if lane.running and lane.interrupt(now_s):
                self._push(lane)
            lane.look(now_s)
        self._at(now_s + _LOOK_S, self._look)

    def _scale(self, now_s: float) -> None:
        autoscaler = self._autoscaler
        if autoscaler is None:
            return
        self._at(now_s + self._conditions.tick_s, self._scale)
        there = [lane for lane in self._lanes.values() if lane.on and not self._draining(lane)]
        target = autoscaler.tick(now_s=now_s, running=len(there), ongoing=self._flying)
        if target < len(there):
            ready = [self._candidate(lane) for lane in there if lane.ready]
            for worker_id in choose_to_drain(ready, count=len(there) - target):
                self._drain(self._lanes[worker_id], now_s)
        elif target > len(there):
            away = [self._candidate(lane) for lane in self._lanes.values() if lane not in there]
            for worker_id in choose_to_restore(away, count=target - len(there)):
                self._restore(self._lanes[worker_id], now_s)

    def _draining(self, lane: Lane) -> bool:
        return lane.on and lane.running and not lane.ready

    def _candidate(self, lane: Lane) -> DrainCandidate:
        load = lane.worker.load
        return DrainCandidate(
            lane.id,
            models=(MODEL,),
            in_flight=lane.batcher.running + lane.batcher.waiting,
            tokens_per_s=lane.recent_tokens_per_s,
            idle_w=lane.profile.power.idle_w,
            micro_joules_per_token=load.micro_joules_per_token,
            g_co2e_per_kwh=self._cluster[lane.id].zone_g_per_kwh,
        )

    def _drain(self, lane: Lane, now_s: float) -> None:
        self._cluster.drain(lane.id)
        lane.ready = False
        if not lane.running:
            lane.switch(now_s, on=False)

    def _restore(self, lane: Lane, now_s: float) -> None:
        if lane.on:
            self._make_ready(lane)
            return
        lane.switch(now_s, on=True)

        def started(at_s: float) -> None:
            if lane.on:
                self._make_ready(lane)
                self._dispatch(at_s)

        self._at(now_s + self._conditions.start_s, started)

    def _make_ready(self, lane: Lane) -> None:
        lane.ready = True
        self._cluster.drain(lane.id, draining=False)

    def _close(self) -> Tally:
        tally = self.tally
        end_s = self._clock.now_s()
        tally.end_s = end_s
        for lane in self._lanes.values():
            lane.close(end_s)
            for hour, micro_joules in lane.tally.micro_joules.items():
                figure = self._conditions.intensities(lane.zone, hour)
                lane.tally.grams[hour] = micro_joules / 3.6e12 * figure
        if self._scheduler is not None:
            tally.stolen = self._scheduler.stolen
        return tally
