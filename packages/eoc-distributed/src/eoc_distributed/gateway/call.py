"""One inference request: choose a worker, ask it, pass its answer on, account for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
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
from eoc_distributed.http import Headers, HTTPRequest, HTTPResponse, first_header
from eoc_distributed.member import Member
from eoc_distributed.request import Request
from eoc_distributed.telemetry.record import CLIENT_CLOSED, RequestRecord
from eoc_distributed.units import MicroJoules
from eoc_distributed.worker import ServingWorker, Worker

from .body import Whole
from .exchange import Exchange
from .framing import end_to_end
from .refusals import refusal
from .reroute import reroute
from .retry import MAX_EXTRA_ATTEMPTS, RETRIED, SERVER_ERRORS
from .stream import ERRORS_FROM, Chained, Metered
from .usage import Counted, count_answer

if TYPE_CHECKING:
    from .handler import Gateway

WHOLE_BYTES = 1 << 20
"""A longer answer is passed on as it comes, without its cost in the headers."""
_OURS = frozenset(
    {
        b"x-eoc-worker",
        b"x-eoc-micro-joules",
        b"x-eoc-g-co2e",
        b"x-eoc-energy-quality",
        b"x-eoc-carbon-quality",
    }
)


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
        try:
            worker = gateway.router.choose(self._routed, gateway.cluster)
        except NoWorkerAvailable as error:
            return self._refused(error)
        tried: list[str] = []
        while True:
            tried.append(worker.id)
            outcome = await self._ask(worker)
            if not isinstance(outcome, WorkerFailed) and not _retriable(outcome):
                return outcome
            another = self._another(tried, outcome)
            if another is None:
                return self._give_up(outcome)
            worker = another
            gateway.metrics.retries += 1

    async def _ask(self, worker: Worker) -> HTTPResponse | WorkerFailed:
        """Ask one worker; return its answer, or why there is none."""
        gateway = self._gateway
        self._attempts += 1
        ticket = self.ticket = gateway.cluster.begin(worker.id, tokens=self._routed.prompt_tokens)
        try:
            response = await cast(ServingWorker, worker).serve(self._request)
            return await self._answer(ticket, response)
        except WorkerFailed as error:
            ticket.end()
            self.blame(error)
            return error
        except asyncio.CancelledError:
            self.finish(CLIENT_CLOSED, None)
            raise
        except BaseException:
            ticket.end()
            raise

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

    async def _answer(self, ticket: Ticket, response: HTTPResponse) -> HTTPResponse:
        """Return what the client gets for a worker's answer.

        Raises:
            WorkerFailed: The answer broke off, and the client has seen nothing of it.
        """
        headers = end_to_end(response.headers, also_drop=_OURS)
        headers = (*headers, (b"x-eoc-worker", ticket.member.id.encode("latin-1", "replace")))
        kind = response.header(b"content-type") or b""
        if kind.startswith(b"text/event-stream"):
            if first_header(headers, b"x-accel-buffering") is None:
                headers = (*headers, (b"x-accel-buffering", b"no"))
            body = Metered(self, response, events=True)
            return HTTPResponse(response.status, headers, body, response.energy)
        whole = await _read_whole(response)
        if isinstance(whole, bytes):
            self.praise(response.status)
        else:
            return HTTPResponse(
                response.status,
                headers,
                Metered(self, response, events=False, body=whole),
                response.energy,
            )
        if response.status in RETRIED:
            # Not accounted yet: another worker may give the answer that counts.
            ticket.end()
            return self._whole(response.status, headers, whole)
        counted = count_answer(whole) if response.status < ERRORS_FROM else None
        energy = response.energy() if response.energy is not None else None
        cost = self.finish(response.status, counted, energy=energy)
        return self._whole(response.status, (*headers, *_cost_headers(cost)), whole)

    def _whole(self, status: int, headers: Headers, data: bytes) -> HTTPResponse:
        if first_header(headers, b"content-length") is None:
            headers = (*headers, (b"content-length", b"%d" % len(data)))
        return HTTPResponse(status, headers, Whole(data))

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
        elif any(m.healthy and not m.draining for m in gateway.cluster.serving(model)):
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


def _retriable(response: HTTPResponse) -> bool:
    return response.status in RETRIED and isinstance(response.body, Whole)


async def _read_whole(response: HTTPResponse) -> bytes | AsyncIterator[bytes]:
    """Return a body if it is short enough, else all of it as an iterator."""
    body = response.body
    if isinstance(body, Exchange):
        data = body.take_whole()
        if data is not None:
            return data
    length = response.header(b"content-length")
    if length is not None and length.isdigit() and int(length) > WHOLE_BYTES:
        return body
    pieces: list[bytes] = []
    size = 0
    async for piece in body:
        pieces.append(piece)
        size += len(piece)
        if size > WHOLE_BYTES:
            return Chained(pieces, body)
    return b"".join(pieces)


def _cost_headers(cost: RequestCost | None) -> Headers:
    if cost is None or cost.energy is None:
        return ()
    headers: Headers = (
        (b"x-eoc-micro-joules", b"%d" % cost.energy.micro_joules),
        (b"x-eoc-energy-quality", cost.energy.quality.value.encode("ascii")),
    )
    if cost.g_co2e is not None:
        headers = (*headers, (b"x-eoc-g-co2e", f"{cost.g_co2e:.6g}".encode("ascii")))
        if cost.carbon_quality is not None:
            carbon_quality = cost.carbon_quality.value.encode("ascii")
            headers = (*headers, (b"x-eoc-carbon-quality", carbon_quality))
    return headers
