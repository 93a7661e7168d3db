"""The OpenAI API in front of a cluster, free of transport: a request in, a response out.

Requests under `/v1/` go to a worker by the `model` in their body, with the very bytes that
came; paths that are not known are passed on in the same way. Models, health, readiness,
metrics and the state of the fleet are answered here.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from urllib.parse import unquote

import msgspec

from eoc_distributed.cluster import Cluster, Ticket
from eoc_distributed.config import AdmissionConfig
from eoc_distributed.energy.accounting import Ledger
from eoc_distributed.http import HTTPRequest, HTTPResponse
from eoc_distributed.request import Request
from eoc_distributed.routing import Router
from eoc_distributed.telemetry.metrics import CONTENT_TYPE, Metrics
from eoc_distributed.telemetry.record import RequestRecord

from .admission import Admission
from .asked import MAX_ESTIMATE, PARSED_INLINE_BYTES, Asked, BodyRejected, read_asked
from .body import Whole
from .call import Call
from .fleet_view import fleet_json
from .passed import HEADS_KEPT, pass_on
from .passive import Health
from .refusals import json_response, refusal
from .retry import RetryBudget

_FORM_MODEL = re.compile(
    rb'name="model"(?:\r\nContent-Type:[^\r\n]*)?\r\n\r\n([^\r\n]{1,512})\r\n', re.IGNORECASE
)
_FORM_SEARCHED_BYTES = 1 << 20
_FIRST_GUESS = 200.0
"""Tokens that an answer is expected to have before any has ended."""
_LEARNING = 0.01


class Gateway:
    """Answers the OpenAI API with the workers of a cluster.

    Args:
        cluster: The workers; each must be able to serve.
        new_router: Makes a router of the policy wanted.
        on_record: Told of each request that has ended; must not raise.
        admission: How many requests may wait while all workers are full, and for how long.
        clock_s: Seconds since 1970, for the age of models.

    Attributes:
        admission: Requests that wait for a place.
        awaited: Engines that were named and whose models are not known yet, by URL, each with
            what it answered last.
        draining: Whether readiness says no because the gateway goes away.
        health: Verdict on each worker, from requests and probes.
        ledger: What each worker has used.
        pseudonym: Name of this gateway in the field `Via`; another for each.
        metrics: What is exposed at `/metrics`.
        pass_on: What of a worker's headers its clients get.
        retries: How many retries may be made.
        router: Chooses the worker of each request.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        new_router: Callable[[], Router],
        on_record: Callable[[RequestRecord], None] | None = None,
        admission: AdmissionConfig | None = None,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        self.cluster = cluster
        self.new_router = new_router
        self.router = new_router()
        self.health = Health(cluster)
        self.ledger = Ledger()
        self.admission = Admission(
            cluster,
            self.begin,
            admission if admission is not None else AdmissionConfig(),
        )
        self.metrics = Metrics(cluster)
        self.metrics.registry.register(self.admission)
        self.pass_on = lru_cache(HEADS_KEPT)(pass_on)
        self.retries = RetryBudget()
        self._usual_tokens = _FIRST_GUESS
        self.awaited: dict[str, str] = {}
        self.pseudonym = f"eoc-{secrets.token_hex(6)}"
        self._own_via = self.pseudonym.encode("ascii")
        self.draining = False
        self._on_record = on_record
        self._created_s = int(clock_s())
        self._routes: dict[str, tuple[str, Callable[[], HTTPResponse]]] = {
            "/health": ("GET", self._health),
            "/ready": ("GET", self._ready),
            "/metrics": ("GET", self._metrics),
            "/v1/models": ("GET", self._models),
            "/v1/eoc/workers": ("GET", self._workers),
        }

    def begin(self, request: Request) -> Ticket:
        """Take a place on a worker.

        Raises:
            NoWorkerAvailable: There is none.
        """
        return self.begin_on(self.router.choose(request, self.cluster).id, request)

    def begin_on(self, worker_id: str, request: Request) -> Ticket:
        """Take a place on this worker; its answer is expected to be as long as most are."""
        most, usual = request.max_tokens, int(self._usual_tokens)
        return self.cluster.begin(
            worker_id,
            tokens=request.prompt_tokens,
            answer_tokens=usual if most is None or most > usual else most,
        )

    def learn_tokens(self, completion_tokens: int) -> None:
        """Note how many tokens an answer had."""
        seen = min(MAX_ESTIMATE, completion_tokens)
        self._usual_tokens += (seen - self._usual_tokens) * _LEARNING

    def __call__(self, request: HTTPRequest) -> Awaitable[HTTPResponse]:
        """Answer a request; cancelling the call ends the work behind it."""
        path, _, _ = request.path.partition("?")
        if request.method != "POST" or not path.startswith("/v1/"):
            return _at_once(self._page(request, path))
        return self._infer(request, path)

    def _page(self, request: HTTPRequest, path: str) -> HTTPResponse:
        """Answer what no worker is needed for."""
        route = self._routes.get(path)
        if route is not None:
            if request.method in (route[0], "HEAD"):
                return route[1]()
            return refusal(
                405,
                f"{path} takes {route[0]}",
                code="method_not_allowed",
                headers=((b"allow", b"GET, HEAD"),),
            )
        if path.startswith("/v1/models/") and request.method in ("GET", "HEAD"):
            return self._model(unquote(path.removeprefix("/v1/models/"), errors="replace"))
        return refusal(404, f"nothing at {request.method} {path}", code="not_found")

    def record(self, record: RequestRecord) -> None:
        """Note a request that has ended."""
        self.metrics.observe(record)
        if self._on_record is not None:
            self._on_record(record)

    def _infer(self, request: HTTPRequest, path: str) -> Awaitable[HTTPResponse]:
        """Give a request to a worker."""
        self.health.readmit()
        self.retries.deposit()
        form = False
        for name, value in request.headers:
            if name == b"via" and self._own_via in value:
                loop = refusal(
                    508, "this gateway has sent the request itself", code="loop_detected"
                )
                return self._rejected(request, path, loop)
            if name == b"content-encoding" and value.lower() != b"identity":
                encoded = refusal(415, "the body is encoded", code="unsupported_encoding")
                return self._rejected(request, path, encoded)
            if name == b"content-type" and value.startswith(b"multipart/"):
                form = True
        if form:
            return self._route(request, path, _read_form(request))
        if len(request.body) > PARSED_INLINE_BYTES:
            return self._infer_large(request, path)
        return self._route(request, path, read_asked(request))

    async def _infer_large(self, request: HTTPRequest, path: str) -> HTTPResponse:
        """Give a request to a worker whose body takes long to read: not in the event loop."""
        return await self._route(request, path, await asyncio.to_thread(read_asked, request))

    def _route(
        self, request: HTTPRequest, path: str, asked: Asked | BodyRejected
    ) -> Awaitable[HTTPResponse]:
        if isinstance(asked, BodyRejected):
            return self._rejected(
                request, path, refusal(400, asked.message, code=asked.code, param=asked.param)
            )
        return Call(self, request, path, asked.request).run()

    def _rejected(
        self, request: HTTPRequest, path: str, response: HTTPResponse
    ) -> Awaitable[HTTPResponse]:
        """Note a request that named no model, and return its refusal."""
        self.record(
            RequestRecord(
                method=request.method,
                path=path,
                model="",
                worker_id="",
                status=response.status,
                ttft_ms=None,
                duration_ms=0.0,
                cost=None,
                tokens_exact=False,
                attempts=0,
            )
        )
        return _at_once(response)

    def _health(self) -> HTTPResponse:
        return json_response(b'{"status":"ok"}')

    def _ready(self) -> HTTPResponse:
        if self.draining:
            return refusal(503, "the gateway is going away", code="draining")
        if not any(member.healthy and not member.draining for member in self.cluster):
            return refusal(503, "no worker is healthy", code="no_worker_available")
        return json_response(b'{"status":"ready"}')

    def _metrics(self) -> HTTPResponse:
        data = self.metrics.exposition()
        headers = (
            (b"content-type", CONTENT_TYPE.encode("ascii")),
            (b"content-length", b"%d" % len(data)),
        )
        return HTTPResponse(200, headers, Whole(data))

    def _workers(self) -> HTTPResponse:
        return json_response(fleet_json(self.cluster, self.ledger))

    def _models(self) -> HTTPResponse:
        data = [self._model_card(model) for model in sorted(self.cluster.models)]
        return json_response(msgspec.json.encode({"object": "list", "data": data}))

    def _model(self, model: str) -> HTTPResponse:
        if not self.cluster.serving(model):
            return refusal(
                404,
                f"the model {model!r} does not exist here",
                code="model_not_found",
                param="model",
            )
        return json_response(msgspec.json.encode(self._model_card(model)))

    def _model_card(self, model: str) -> dict[str, object]:
        return {"id": model, "object": "model", "created": self._created_s, "owned_by": "eoc"}


async def _at_once(response: HTTPResponse) -> HTTPResponse:
    return response


def _read_form(request: HTTPRequest) -> Asked | BodyRejected:
    """Read the model that a form names, among the parts before any file."""
    form = _FORM_MODEL.search(request.body, 0, _FORM_SEARCHED_BYTES)
    if form is None:
        return BodyRejected("a model is needed", "missing_model", "model")
    return Asked(Request(model=form[1].decode("utf-8", "replace")), stream=False)
