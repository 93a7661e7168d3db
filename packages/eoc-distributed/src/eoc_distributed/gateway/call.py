"""One inference request: choose a worker, ask it, pass its answer on, account for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, cast

from eoc_distributed.cluster import Ticket
from eoc_distributed.energy.accounting import Energy, RequestCost, cost_of
from eoc_distributed.errors import (
    NoWorkerAvailable,
    StreamBroken,
    UnknownModel,
    WorkerFailed,
    WorkerTimeout,
    WorkerUnreachable,
)
from eoc_distributed.http import Headers, HTTPRequest, HTTPResponse
from eoc_distributed.member import Member
from eoc_distributed.request import Request
from eoc_distributed.telemetry.record import CLIENT_CLOSED, RequestRecord
from eoc_distributed.units import MicroJoules
from eoc_distributed.worker import ServingWorker, Worker

from .body import Whole
from .exchange import Exchange
from .framing import Fields
from .passed import Passed
from .refusals import refusal
from .reroute import reroute
from .retry import MAX_EXTRA_ATTEMPTS, RETRIED, SERVER_ERRORS
from .stream import ERRORS_FROM, Chained, Metered
from .usage import Counted, count_answer

if TYPE_CHECKING:
    from .handler import Gateway

WHOLE_BYTES = 1 << 20
"""A longer answer is passed on as it comes, without its cost in the headers."""
_BLAMED = (WorkerUnreachable, WorkerTimeout, StreamBroken)
"""Failures that speak against a worker; others are those of the request."""


class Call:
    """One request on its way through the gateway.

    Attributes:
        ticket: Its place on the worker that answers; None before one is asked.
    """

    __slots__ = (
        "_attempts",
        "_blamed",
        "_gateway",
        "_path",
        "_request",
        "_routed",
        "_started_s",
        "_ttft_ms",
        "ticket",
    )

    def __init__(self, gateway: Gateway, request: HTTPRequest, path: str, routed: Request) -> None:
        self._gateway = gateway
        self._request = request
        self._path = path
        self._routed = routed
        self._started_s = gateway.cluster.clock.now_s()
        self._attempts = 0
        self._blamed = False
        self._ttft_ms: float | None = None
        self.ticket: Ticket | None = None

    async def run(self) -> HTTPResponse:
        """Return the answer of a worker, or a refusal."""
        gateway = self._gateway
        ticket = self._begin() or await self._wait()
        if isinstance(ticket, NoWorkerAvailable):
            return self._refused(ticket)
        tried: list[str] = []
        outcome: HTTPResponse | WorkerFailed
        while True:
            worker = ticket.member.worker
            tried.append(worker.id)
            self._attempts += 1
            self.ticket = ticket
            try:
                response = await cast(ServingWorker, worker).serve(self._request)
                passed = gateway.pass_on(response.headers, worker.id)
                outcome = self._at_once(response, passed) or await self._read(response, passed)
                if outcome.status not in RETRIED or not isinstance(outcome.body, Whole):
                    return outcome
                ticket.end()
            except WorkerFailed as error:
                ticket.end()
                self.blame(error)
                outcome = error
            except asyncio.CancelledError:
                self.finish(CLIENT_CLOSED, None)
                raise
            except BaseException:
                ticket.end()
                raise
            another = self._another(tried, outcome)
            if another is None:
                return self._give_up(outcome)
            ticket = gateway.begin_on(another.id, self._routed)
            gateway.metrics.retries += 1

    def _begin(self) -> Ticket | NoWorkerAvailable | None:
        """Take a place on a worker; None if one must be waited for."""
        gateway, routed = self._gateway, self._routed
        if routed.model in gateway.admission.queues:
            return None  # others were here before
        try:
            return gateway.begin(routed)
        except NoWorkerAvailable as error:
            return None if self._is_busy() else error

    async def _wait(self) -> Ticket | NoWorkerAvailable:
        """Wait for a place on a worker."""
        gateway, routed = self._gateway, self._routed
        try:
            ticket = await gateway.admission.wait(routed)
        except asyncio.CancelledError:
            self.finish(CLIENT_CLOSED, None)
            raise
        if ticket is not None:
            return ticket
        return NoWorkerAvailable(routed.model, partial(gateway.cluster.refusals, routed.model))

    def _is_busy(self) -> bool:
        """Tell if there are workers of the model that only have too much to do."""
        serving = self._gateway.cluster.serving(self._routed.model)
        return any(member.healthy and not member.draining for member in serving)

    def praise(self, status: int) -> None:
        """Tell of an answer that came to its end, which may still be a server error."""
        if self.ticket is None:
            return
        health, worker_id = self._gateway.health, self.ticket.member.id
        if status not in SERVER_ERRORS:
            health.answered(worker_id)
        elif not self._blamed:
            self._blamed = True
            health.server_error(worker_id, status)

    def blame(self, error: WorkerFailed) -> None:
        """Tell of an answer that did not come, or not to its end; one for each request."""
        if not self._blamed and isinstance(error, _BLAMED):
            self._blamed = True
            self._gateway.health.unreachable(error.worker_id, str(error))

    def _another(self, tried: list[str], outcome: HTTPResponse | WorkerFailed) -> Worker | None:
        if len(tried) > MAX_EXTRA_ATTEMPTS or isinstance(outcome, WorkerTimeout):
            return None  # after a time-out the first worker may still be at it
        gateway = self._gateway
        worker = reroute(self._routed, gateway.cluster, gateway.new_router, tried=tried)
        if worker is None or not gateway.retries.withdraw():
            return None
        return worker

    def _at_once(self, response: HTTPResponse, passed: Passed) -> HTTPResponse | None:
        """Return what the client gets, if nothing need be waited for."""
        if passed.events:
            return self._stream(response, passed)
        body = response.body
        data = body.take_whole() if isinstance(body, Exchange) else None
        return None if data is None else self._whole(response, passed, data)

    async def _read(self, response: HTTPResponse, passed: Passed) -> HTTPResponse:
        """Wait for an answer; return what the client gets.

        Raises:
            WorkerFailed: The answer broke off, and the client has seen nothing of it.
        """
        body = response.body
        if passed.length is not None and passed.length > WHOLE_BYTES:
            return self._long(response, passed, body)
        pieces: list[bytes] = []
        size = 0
        async for piece in body:
            pieces.append(piece)
            size += len(piece)
            if size > WHOLE_BYTES:
                return self._long(response, passed, Chained(pieces, body))
        return self._whole(response, passed, b"".join(pieces))

    def _stream(self, response: HTTPResponse, passed: Passed) -> HTTPResponse:
        """Pass a stream of events on; it is accounted for at its end."""
        added = passed.length_field
        if not passed.paced:
            added = (*added, (b"x-accel-buffering", b"no"))
        body = Metered(self, response, events=True)
        return HTTPResponse(response.status, passed.fields, body, response.energy, added)

    def _long(
        self, response: HTTPResponse, passed: Passed, body: AsyncIterator[bytes]
    ) -> HTTPResponse:
        """Pass a long answer on as it comes; it is accounted for at its end."""
        rest = Metered(self, response, events=False, body=body)
        return HTTPResponse(
            response.status, passed.fields, rest, response.energy, passed.length_field
        )

    def _whole(self, response: HTTPResponse, passed: Passed, data: bytes) -> HTTPResponse:
        """Account for an answer that is here, and return it with what it cost.

        One that may be asked of another worker is not accounted for yet: that worker may give
        the answer that counts.
        """
        status = response.status
        self.praise(status)
        if status in RETRIED:
            return HTTPResponse(status, passed.fields, Whole(data))
        counted = count_answer(data) if status < ERRORS_FROM else None
        energy = response.energy() if response.energy is not None else None
        cost = self.finish(status, counted, energy=energy)
        return HTTPResponse(status, passed.fields, Whole(data), None, _cost_headers(cost))

    def first_token(self) -> None:
        """Note that the first content has come."""
        if self._ttft_ms is None and self.ticket is not None:
            self.ticket.first_token()
            self._ttft_ms = (self._gateway.cluster.clock.now_s() - self._started_s) * 1000.0

    def finish(
        self, status: int, counted: Counted | None, *, energy: Energy | None = None
    ) -> RequestCost | None:
        """Account for the request, once.

        Args:
            status: What the client saw; 499 if it went away.
            counted: Tokens, as far as they are known; None where nothing is.
            energy: What the worker says that it cost.
        """
        ticket = self.ticket
        cost: RequestCost | None = None
        worker_id = ""
        if ticket is not None:
            ticket.end()
            member = ticket.member
            worker_id = member.id
            cost = self._cost(member, counted, energy)
            self._gateway.ledger.charge(worker_id, cost)
        self._gateway.record(
            RequestRecord(
                method=self._request.method,
                path=self._path,
                model=self._routed.model,
                worker_id=worker_id,
                status=status,
                ttft_ms=self._ttft_ms,
                duration_ms=(self._gateway.cluster.clock.now_s() - self._started_s) * 1000.0,
                cost=cost,
                tokens_exact=counted is not None and counted.exact,
                attempts=self._attempts,
            )
        )
        return cost

    def _cost(self, member: Member, counted: Counted | None, energy: Energy | None) -> RequestCost:
        """Return what the request cost; what nobody has counted is unknown."""
        load = member.reported
        figure = load.micro_joules_per_token
        intensity, carbon_quality = load.g_co2e_per_kwh, load.carbon_quality
        if intensity is None:
            intensity, carbon_quality = member.zone_g_per_kwh, member.zone_quality
        prompt = completion = None
        if counted is not None and counted.completion_tokens is not None:
            completion = counted.completion_tokens
            if completion:  # embeddings have none, and say nothing of answers
                self._gateway.learn_tokens(completion)
            prompt = counted.prompt_tokens
            if prompt is None:
                prompt = self._routed.prompt_tokens
        return cost_of(
            prompt_tokens=prompt,
            completion_tokens=completion,
            exact=counted is not None and counted.exact,
            reported=energy,
            per_token=None if figure is None else Energy(MicroJoules(figure), load.energy_quality),
            g_per_kwh=intensity,
            carbon_quality=carbon_quality,
        )

    def _refused(self, error: NoWorkerAvailable) -> HTTPResponse:
        """Say why no worker could be asked."""
        gateway = self._gateway
        model = error.model
        if isinstance(error, UnknownModel) and not gateway.awaited:
            response = refusal(
                404,
                f"the model {model!r} does not exist here",
                code="model_not_found",
                param="model",
            )
        elif self._is_busy():
            response = refusal(
                429, f"all workers of model {model!r} are busy", code="overloaded", retry_after_s=1
            )
        else:
            awaited = "".join(
                f"; waiting for {url}: {why}" for url, why in sorted(gateway.awaited.items())[:8]
            )
            response = refusal(
                503, f"{error}{awaited}", code="no_worker_available", retry_after_s=5
            )
        self.finish(response.status, None)
        return response

    def _give_up(self, outcome: HTTPResponse | WorkerFailed) -> HTTPResponse:
        """Return the last worker's answer, or say that there was none."""
        if isinstance(outcome, HTTPResponse):
            self.finish(outcome.status, None)
            return outcome
        status, code = (502, "upstream_error")
        if isinstance(outcome, WorkerTimeout):
            status, code = (504, "upstream_timeout")
        self.finish(status, None)
        worker = outcome.worker_id.encode("latin-1", "replace")
        return refusal(status, str(outcome), code=code, headers=((b"x-eoc-worker", worker),))


def _cost_headers(cost: RequestCost | None) -> Headers:
    if cost is None or cost.energy is None:
        return ()
    energy = cost.energy
    headers: Headers = (
        (b"x-eoc-micro-joules", b"%d" % energy.micro_joules),
        (b"x-eoc-energy-quality", energy.quality.ascii),
    )
    grams, carbon_quality = cost.g_co2e, cost.carbon_quality
    if grams is not None and carbon_quality is not None:
        headers += (
            (b"x-eoc-g-co2e", b"%.6g" % grams),
            (b"x-eoc-carbon-quality", carbon_quality.ascii),
        )
    return Fields.of(headers)
