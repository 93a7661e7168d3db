from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from random import Random

import msgspec
import pytest

from eoc_distributed import Capability, Cluster, Energy, InMemoryWorker, Load, MicroJoules, Quality
from eoc_distributed.config import AdmissionConfig
from eoc_distributed.energy.accounting import RequestCost
from eoc_distributed.errors import StreamBroken, WorkerFailed, WorkerTimeout, WorkerUnreachable
from eoc_distributed.gateway import Gateway
from eoc_distributed.gateway.refusals import json_response
from eoc_distributed.http import HTTPRequest, HTTPResponse
from eoc_distributed.routing import create
from eoc_distributed.telemetry.record import RequestRecord

BODY = b'{"model":"m","messages":[{"role":"user","content":"12345678"}]}'
ANSWER = b'{"usage":{"prompt_tokens":2,"completion_tokens":3}}'
EVENT = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'


class Scripted(InMemoryWorker):
    """Answers with what it is given, the last for ever."""

    def __init__(self, name: str, micro_joules: int | None, *script: HTTPResponse | WorkerFailed):
        load = Load(micro_joules_per_token=micro_joules)
        super().__init__(name, Capability({"m"}, max_concurrency=2), load)
        self.script = list(script)
        self.asked = 0

    async def serve(self, request: HTTPRequest) -> HTTPResponse:
        self.asked += 1
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(step, WorkerFailed):
            raise step
        return step


def gateway(*workers: Scripted) -> tuple[Gateway, list[RequestRecord]]:
    records: list[RequestRecord] = []
    rng = Random(1)
    made = Gateway(
        Cluster(workers),
        new_router=lambda: create("joule-weighted", rng=rng),
        on_record=records.append,
        admission=AdmissionConfig(waiting=0),
    )
    return made, records


async def post(to: Gateway, body: bytes = BODY, path: str = "/v1/chat/completions") -> HTTPResponse:
    return await to(HTTPRequest("POST", path, (), body))


async def read(response: HTTPResponse) -> bytes:
    return b"".join([piece async for piece in response.body])


def sse(*pieces: bytes | Exception) -> HTTPResponse:
    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    return HTTPResponse(200, ((b"content-type", b"text/event-stream"),), body())


async def test_the_worker_with_the_least_energy_is_asked_and_charged() -> None:
    dear, cheap = (
        Scripted("dear", 9, json_response(ANSWER)),
        Scripted("cheap", 2, json_response(ANSWER)),
    )
    to, records = gateway(dear, cheap)
    response = await post(to)
    assert response.header(b"x-eoc-worker") == b"cheap"
    assert response.header(b"x-eoc-micro-joules") == b"10"
    assert response.header(b"x-eoc-g-co2e") is None
    assert to.ledger.workers["cheap"].micro_joules == 10
    assert [(record.status, record.tokens_exact) for record in records] == [(200, True)]
    assert to.cluster["cheap"].in_flight == 0


async def test_what_a_worker_says_of_its_energy_wins() -> None:
    response = json_response(ANSWER)
    told = Energy(MicroJoules(77), Quality.MEASURED)
    known = HTTPResponse(200, response.headers, response.body, lambda: told)
    to, _ = gateway(Scripted("w", 2, known))
    answer = await post(to)
    assert answer.header(b"x-eoc-micro-joules") == b"77"
    assert answer.header(b"x-eoc-energy-quality") == b"measured"


async def test_unknown_energy_is_counted_apart_and_has_no_header() -> None:
    to, _ = gateway(Scripted("w", None, json_response(ANSWER)))
    answer = await post(to)
    assert answer.header(b"x-eoc-micro-joules") is None
    assert to.ledger.workers["w"].unknown_energy == 1


async def test_a_stream_is_passed_and_charged_at_its_end() -> None:
    to, records = gateway(Scripted("w", 2, sse(EVENT[:9], EVENT[9:], EVENT, b"data: [DONE]\n\n")))
    response = await post(to)
    assert to.cluster["w"].in_flight == 1
    assert await read(response) == EVENT * 2 + b"data: [DONE]\n\n"
    assert to.cluster["w"].in_flight == 0
    assert to.ledger.workers["w"].micro_joules == (2 + 2) * 2
    assert records[0].ttft_ms is not None


async def test_a_stream_given_up_is_a_499_and_frees_the_worker() -> None:
    to, records = gateway(Scripted("w", 2, sse(EVENT, EVENT)))
    response = await post(to)
    assert await anext(response.body) == EVENT
    await response.body.aclose()  # type: ignore[attr-defined]
    assert records[0].status == 499
    assert to.cluster["w"].in_flight == 0


async def test_a_stream_that_breaks_ends_with_an_error_event_and_is_not_sent_again() -> None:
    other = Scripted("other", 9, json_response(ANSWER))
    to, records = gateway(Scripted("w", 2, sse(EVENT, EVENT[:9], StreamBroken("w", "gone"))), other)
    response = await post(to)
    got = b""
    with pytest.raises(StreamBroken):  # noqa: PT012 - what came before counts
        async for piece in response.body:
            got += piece
    last = got.strip().split(b"\n\n")[-1].removeprefix(b"data: ")
    error = msgspec.json.decode(last)["error"]
    assert (error["type"], error["code"]) == ("upstream_error", 502)
    assert b"[DONE]" not in got
    assert (records[0].status, other.asked) == (502, 0)


@pytest.mark.parametrize(
    "first",
    [
        WorkerUnreachable("w", "refused"),
        json_response(b"{}", status=500),
        json_response(b"{}", status=503),
        json_response(b"{}", status=429),
    ],
    ids=["unreachable", "500", "503", "429"],
)
async def test_another_worker_is_asked_before_anything_is_said(
    first: HTTPResponse | WorkerFailed,
) -> None:
    to, records = gateway(Scripted("w", 1, first), Scripted("x", 2, json_response(ANSWER)))
    response = await post(to)
    assert response.header(b"x-eoc-worker") == b"x"
    assert [(record.status, record.attempts) for record in records] == [(200, 2)]
    assert to.metrics.retries == 1
    assert to.cluster["w"].in_flight == 0


async def test_at_most_three_workers_are_asked() -> None:
    workers = [Scripted(f"w{n}", n, WorkerUnreachable(f"w{n}", "refused")) for n in range(5)]
    to, records = gateway(*workers)
    response = await post(to)
    assert response.status == 502
    assert sum(worker.asked for worker in workers) == 3
    assert records[0].attempts == 3


async def test_retries_end_with_their_budget() -> None:
    workers = [Scripted(f"w{n}", n, json_response(b"{}", status=503)) for n in range(2)]
    to, _ = gateway(*workers)
    for _ in range(30):
        assert (await post(to)).status == 503
    assert 30 < sum(worker.asked for worker in workers) <= 30 + 10 + 30 * 0.2


async def test_a_timeout_is_not_tried_elsewhere() -> None:
    other = Scripted("x", 2, json_response(ANSWER))
    to, _ = gateway(Scripted("w", 1, WorkerTimeout("w", "late")), other)
    assert (await post(to)).status == 504
    assert other.asked == 0


async def test_a_refusal_of_the_only_worker_is_passed_on() -> None:
    to, records = gateway(Scripted("w", 1, json_response(b'{"error":1}', status=400)))
    response = await post(to)
    assert (response.status, await read(response)) == (400, b'{"error":1}')
    assert records[0].cost == RequestCost(None, None, None, None)
    totals = to.ledger.workers["w"]
    assert (totals.requests, totals.unknown_energy, totals.micro_joules) == (1, 1, 0)


async def test_full_workers_are_a_429_and_unhealthy_ones_a_503() -> None:
    to, _ = gateway(Scripted("w", 1, json_response(ANSWER)))
    tickets = [to.cluster.begin("w") for _ in range(2)]
    full = await post(to)
    assert (full.status, full.header(b"retry-after")) == (429, b"1")
    for ticket in tickets:
        ticket.end()
    to.cluster.set_health("w", healthy=False, reason="broken")
    down = await post(to)
    assert down.status == 503
    assert b"broken" in await read(down)


async def test_a_form_names_its_model_in_a_field() -> None:
    to, _ = gateway(Scripted("w", 1, json_response(ANSWER)))
    form = b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b--\r\n'
    kind = ((b"content-type", b"multipart/form-data; boundary=b"),)
    audio = "/v1/audio/transcriptions"
    assert (await to(HTTPRequest("POST", audio, kind, form))).status == 200
    assert (await to(HTTPRequest("POST", audio, kind, b"--b--"))).status == 400


async def test_large_bodies_are_read_too() -> None:
    to, _ = gateway(Scripted("w", 1, json_response(ANSWER)))
    assert (await post(to, b'{"x":"' + b"y" * 300_000 + b'",' + BODY[1:])).status == 200


async def test_answers_longer_than_the_bound_pass_as_they_come() -> None:
    async def long() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield bytes(65536)

    to, records = gateway(Scripted("w", 1, HTTPResponse(200, (), long())))
    response = await post(to)
    assert len(await read(response)) == 40 * 65536
    assert records[0].status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health", 200),
        ("HEAD", "/health", 200),
        ("GET", "/ready", 200),
        ("GET", "/metrics", 200),
        ("GET", "/v1/models", 200),
        ("GET", "/v1/models/m", 200),
        ("GET", "/v1/models/a%2Fb", 404),
        ("GET", "/v1/eoc/workers?x", 200),
        ("DELETE", "/v1/models", 405),
        ("GET", "/nothing", 404),
        ("POST", "/v1/anything", 200),
    ],
)
async def test_paths(method: str, path: str, status: int) -> None:
    to, _ = gateway(Scripted("w", 1, json_response(ANSWER)))
    assert (await to(HTTPRequest(method, path, (), BODY))).status == status


async def test_readiness_ends_with_draining_and_without_workers() -> None:
    to, _ = gateway(Scripted("w", 1, json_response(ANSWER)))
    to.draining = True
    assert (await to(HTTPRequest("GET", "/ready"))).status == 503
    assert (await to(HTTPRequest("GET", "/health"))).status == 200
    assert (await gateway()[0](HTTPRequest("GET", "/ready"))).status == 503


async def test_clients_cannot_make_metric_series() -> None:
    to, _ = gateway(Scripted("w", 1, json_response(ANSWER)))
    for number in range(50):
        await post(to, BODY.replace(b'"m"', b'"x%d"' % number))
    text = (await read(await to(HTTPRequest("GET", "/metrics")))).decode()
    assert 'eoc_requests_total{model="unknown",status="404",worker=""} 50.0' in text
    assert "x49" not in text


@pytest.mark.parametrize(
    "answer",
    [b'{"choices":[]}', b"\x1f\x8b packed", b"", b'{"usage":{"prompt_tokens":', b"[]"],
    ids=["no usage", "packed", "empty", "cut", "a list"],
)
async def test_what_nobody_counted_has_no_price(answer: bytes) -> None:
    to, records = gateway(Scripted("w", 2, json_response(answer)))
    response = await post(to)
    assert response.status == 200
    assert response.header(b"x-eoc-micro-joules") is None
    totals = to.ledger.workers["w"]
    assert (totals.requests, totals.unknown_energy, totals.micro_joules) == (1, 1, 0)
    assert records[0].ttft_ms is None


async def test_monstrous_usage_is_no_usage() -> None:
    answer = b'{"usage":{"prompt_tokens":1,"completion_tokens":1%s}}' % (b"0" * 400)
    to, _ = gateway(Scripted("w", 2, json_response(answer)))
    response = await post(to)
    assert (response.status, await read(response)) == (200, answer)
    assert to.ledger.workers["w"].unknown_energy == 1


async def test_tokens_that_were_estimated_make_an_estimate_at_best() -> None:
    worker = Scripted("w", None, sse(EVENT, b"data: [DONE]\n\n"))
    worker.set_load(Load(micro_joules_per_token=2, energy_quality=Quality.MEASURED))
    to, records = gateway(worker)
    await read(await post(to))
    cost = records[0].cost
    assert cost is not None
    assert cost.energy == Energy(MicroJoules((2 + 1) * 2), Quality.ESTIMATED)


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_a_streamed_refusal_is_counted_and_not_charged(status: int) -> None:
    refused = sse(b'data: {"error":{}}\n\n')
    refused = HTTPResponse(status, refused.headers, refused.body)
    to, records = gateway(Scripted("w", 2, refused))
    await read(await post(to))
    totals = to.ledger.workers["w"]
    assert (totals.requests, totals.unknown_energy, totals.micro_joules) == (1, 1, 0)
    assert records[0].ttft_ms is None


async def test_a_stream_given_up_before_its_first_token_has_no_price() -> None:
    start = b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
    to, _ = gateway(Scripted("w", 2, sse(start, EVENT)))
    response = await post(to)
    assert await anext(response.body) == start
    await response.body.aclose()  # type: ignore[attr-defined]
    totals = to.ledger.workers["w"]
    assert (totals.requests, totals.unknown_energy, totals.micro_joules) == (1, 1, 0)


async def test_a_stream_given_up_later_is_charged_for_what_had_come() -> None:
    to, _ = gateway(Scripted("w", 2, sse(EVENT, EVENT, EVENT)))
    response = await post(to)
    await anext(response.body)
    await anext(response.body)
    await response.body.aclose()  # type: ignore[attr-defined]
    assert to.ledger.workers["w"].micro_joules == (2 + 2) * 2


async def test_whole_answers_are_no_sample_of_the_time_to_first_token() -> None:
    to, _ = gateway(Scripted("w", 2, json_response(ANSWER)))
    await post(to)
    assert to.cluster.load_of("w").p50_latency_ms is None
    assert to.cluster.load_of("w").idle()


async def test_emissions_say_where_they_come_from() -> None:
    worker = InFrance("w", 2, json_response(ANSWER), json_response(ANSWER))
    to, records = gateway(worker)
    to.cluster.set_intensity("FR", 31.0)
    response = await post(to)
    assert response.header(b"x-eoc-energy-quality") == b"declared"
    assert response.header(b"x-eoc-carbon-quality") == b"declared"
    worker.set_load(Load(micro_joules_per_token=2, energy_quality=Quality.MEASURED))
    response = await post(to)
    assert response.header(b"x-eoc-energy-quality") == b"measured"
    assert response.header(b"x-eoc-carbon-quality") == b"estimated"
    assert records[1].cost is not None
    assert records[1].cost.carbon_quality is Quality.ESTIMATED


async def test_a_request_that_this_gateway_has_sent_is_refused() -> None:
    to, _ = gateway(Scripted("w", 2, json_response(ANSWER)))
    via = ((b"via", b"1.1 other, 1.1 " + to.pseudonym.encode()),)
    response = await to(HTTPRequest("POST", "/v1/chat/completions", via, BODY))
    assert response.status == 508
    other = ((b"via", b"1.1 other"),)
    assert (await to(HTTPRequest("POST", "/v1/chat/completions", other, BODY))).status == 200


async def test_a_worker_whose_answers_break_off_is_left_alone() -> None:
    def breaking() -> HTTPResponse:
        return sse(EVENT, StreamBroken("bad", "gone"))

    bad = Scripted("bad", 1, *[breaking() for _ in range(5)])
    good = Scripted("good", 9, *[sse(EVENT, b"data: [DONE]\n\n") for _ in range(5)])
    to, _ = gateway(bad, good)
    for _ in range(3):
        with pytest.raises(StreamBroken):
            await read(await post(to))
    assert not to.cluster["bad"].healthy
    assert (await read(await post(to))).endswith(b"[DONE]\n\n")


async def test_one_poisoned_prompt_speaks_against_one_worker() -> None:
    workers = [
        Scripted(name, i + 1, WorkerUnreachable(name, "cut")) for i, name in enumerate("abc")
    ]
    to, _ = gateway(*workers)
    for _ in range(3):
        await post(to)
    assert [to.cluster[name].healthy for name in "abc"] == [False, True, True]
    for _ in range(20):
        await post(to)
    assert any(to.cluster[name].healthy for name in "abc")


async def test_retries_of_a_router_that_takes_turns_are_spread() -> None:
    asked = Counter[str]()
    names = [f"w{i}" for i in range(4)]
    first = Scripted("first", 1, json_response(b"{}", status=500))
    others = [Scripted(name, 9, json_response(ANSWER)) for name in names]
    made = Gateway(
        Cluster([first, *others]), new_router=lambda: create("round-robin", rng=Random(1))
    )
    for _ in range(40):
        made.retries.deposit()
        response = await post(made)
        asked[(response.header(b"x-eoc-worker") or b"").decode()] += 1
    assert set(asked) >= set(names)


class InFrance(Scripted):
    def __init__(self, name: str, micro_joules: int | None, *script: HTTPResponse) -> None:
        super().__init__(name, micro_joules, *script)
        self.capability = Capability({"m"}, zone="FR")
