from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
import openai
import pytest

from eoc_distributed.gateway import Server
from eoc_distributed.testing.engine import MockEngine

pytestmark = pytest.mark.end_to_end

Start = Callable[..., AbstractAsyncContextManager[Any]]
HELLO: Any = [{"role": "user", "content": "Hello, how are you?"}]


def client_of(url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=30)


@pytest.fixture
async def served(
    engine: tuple[MockEngine, str], start_gateway: Start
) -> AsyncIterator[tuple[MockEngine, Any, openai.AsyncOpenAI]]:
    mock, url = engine
    worker = f"{url},id=w1,zone=FR,model=tiny,model=org/tiny,uj_per_token=2000"
    async with (
        start_gateway("--worker", worker, "--body-limit", "4096") as gateway,
        client_of(gateway.url) as client,
    ):
        yield mock, gateway, client


async def test_a_plain_answer_says_what_it_cost(served: Any) -> None:
    mock, _, client = served
    raw = await client.chat.completions.with_raw_response.create(model="tiny", messages=HELLO)
    assert raw.http_response.content == mock.answer(5)
    assert raw.headers["x-eoc-worker"] == "w1"
    assert raw.headers["x-eoc-micro-joules"] == str(15 * 2000)
    assert raw.headers["x-eoc-energy-quality"] == "declared"
    assert float(raw.headers["x-eoc-g-co2e"]) == pytest.approx(0.03 / 3.6e6 * 31.0)
    assert raw.parse().usage.total_tokens == 15


async def test_the_engine_gets_the_very_bytes_of_the_client(served: Any) -> None:
    mock, gateway, _ = served
    body = b'{ "model" : "tiny",\t"messages":[{"role":"user","content":"\\u00e9"}], "x": 1e2 }'
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(
        b"POST /v1/chat/completions?a=b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\n"
        b"Connection: close, X-Hop\r\nX-Hop: 1\r\nX-Keep: 2\r\nContent-Length: %d\r\n\r\n%b"
        % (len(body), body)
    )
    await reader.read()
    writer.close()
    await writer.wait_closed()
    got = mock.requests[-1]
    assert got.body == body
    assert got.path == "/v1/chat/completions?a=b"
    assert got.header(b"authorization") == b"Bearer k"
    assert got.header(b"x-keep") == b"2"
    assert got.header(b"x-hop") is None


async def test_a_stream_passes_byte_for_byte(served: Any) -> None:
    mock, _, client = served
    async with client.chat.completions.with_streaming_response.create(
        model="tiny",
        messages=HELLO,
        stream=True,
        max_tokens=20,
        stream_options={"include_usage": True},
    ) as response:
        got = b"".join([piece async for piece in response.iter_bytes()])
        assert response.headers["x-eoc-worker"] == "w1"
        assert "x-eoc-micro-joules" not in response.headers
    assert got == b"".join(mock.events(20, usage=True))


async def test_a_stream_is_read_by_the_client_and_counted(served: Any) -> None:
    _, _, client = served
    stream = await client.chat.completions.create(
        model="org/tiny", messages=HELLO, stream=True, max_tokens=7
    )
    text = "".join([event.choices[0].delta.content or "" async for event in stream])
    assert text == " wörd" * 7
    workers = await client.get("/eoc/workers", cast_to=dict[str, Any])
    totals = workers["workers"][0]["totals"]
    assert (totals["requests"], totals["completion_tokens"]) == (1, 7)
    assert totals["micro_joules"] == (totals["prompt_tokens"] + 7) * 2000


async def test_the_engine_sees_that_a_client_cancels_in_mid_stream(served: Any) -> None:
    mock, _, client = served
    mock.token_s = 0.01
    stream = await client.chat.completions.create(
        model="tiny", messages=HELLO, stream=True, max_tokens=100_000
    )
    async for _ in stream:
        break
    mock.ended.clear()
    await stream.close()
    async with asyncio.timeout(20):
        await mock.ended.wait()
    assert mock.aborted == 1
    assert mock.running == 0


async def test_the_engine_sees_that_a_client_cancels_before_the_answer(served: Any) -> None:
    mock, _, client = served
    mock.token_s = 100.0
    asking = asyncio.ensure_future(client.chat.completions.create(model="tiny", messages=HELLO))
    async with asyncio.timeout(20):
        while not mock.running:  # noqa: ASYNC110 - the engine is in this process
            await asyncio.sleep(0)
        asking.cancel()
        await mock.ended.wait()
    assert mock.aborted == 1
    metrics = await client.get("../metrics", cast_to=str)
    assert 'eoc_requests_total{model="tiny",status="499",worker="w1"} 1.0' in metrics


async def test_models_are_listed_and_found_by_names_with_a_slash(served: Any) -> None:
    _, _, client = served
    assert [model.id async for model in client.models.list()] == ["org/tiny", "tiny"]
    assert (await client.models.retrieve("org/tiny")).id == "org/tiny"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("other")


async def test_embeddings_pass(served: Any) -> None:
    _, _, client = served
    answer = await client.embeddings.create(model="tiny", input="text", encoding_format="float")
    assert answer.data[0].embedding == [0.25, -0.5, 1.0]


async def test_an_unknown_model_is_not_found(served: Any) -> None:
    _, _, client = served
    with pytest.raises(openai.NotFoundError) as caught:
        await client.chat.completions.create(model="nope", messages=HELLO)
    assert caught.value.code == "model_not_found"
    assert caught.value.param == "model"


async def test_a_body_too_large_is_refused(served: Any) -> None:
    _, _, client = served
    long: Any = [{"role": "user", "content": "x" * 5000}]
    with pytest.raises(openai.APIStatusError) as caught:
        await client.chat.completions.create(model="tiny", messages=long)
    assert caught.value.status_code == 413
    assert caught.value.code == "request_too_large"


async def test_invalid_json_is_refused(served: Any) -> None:
    _, _, client = served
    with pytest.raises(openai.BadRequestError) as caught:
        await client.post("/chat/completions", cast_to=object, content=b'{"model": ')
    assert caught.value.code == "invalid_json"


async def test_two_hundred_requests_at_once_are_answered(served: Any) -> None:
    mock, _, client = served
    mock.token_s = 0.01
    answers = await asyncio.gather(
        *(
            client.chat.completions.create(model="tiny", messages=HELLO, max_tokens=1 + n % 5)
            for n in range(200)
        )
    )
    assert [answer.usage.completion_tokens for answer in answers] == [1 + n % 5 for n in range(200)]


async def test_all_workers_down_is_said(start_gateway: Start) -> None:
    async with Server(MockEngine()) as server:
        port = server.port
    dead = f"http://127.0.0.1:{port},id=dead,model=tiny"
    async with (
        start_gateway("--worker", dead) as gateway,
        client_of(gateway.url) as client,
    ):
        errors = []
        for _ in range(4):
            with pytest.raises(openai.InternalServerError) as caught:
                await client.chat.completions.create(model="tiny", messages=HELLO)
            errors.append(caught.value)
        assert {error.status_code for error in errors} <= {502, 503}
        assert (errors[-1].status_code, errors[-1].code) == (503, "no_worker_available")
        assert errors[-1].response.headers["retry-after"] == "5"
        assert "dead" in errors[-1].message
        with pytest.raises(openai.InternalServerError):
            await client.get("../ready", cast_to=object)


async def test_a_request_is_sent_to_another_worker_when_the_first_is_down(
    engine: tuple[MockEngine, str], start_gateway: Start
) -> None:
    async with Server(MockEngine()) as server:
        port = server.port
    dead = f"http://127.0.0.1:{port},id=dead,model=tiny,uj_per_token=1"
    alive = f"{engine[1]},id=alive,model=tiny,uj_per_token=2"
    async with (
        start_gateway("--worker", dead, "--worker", alive) as gateway,
        client_of(gateway.url) as client,
    ):
        raw = await client.chat.completions.with_raw_response.create(model="tiny", messages=HELLO)
        assert raw.headers["x-eoc-worker"] == "alive"


async def test_an_engine_lost_in_mid_stream_is_told_and_never_done(served: Any) -> None:
    mock, _, client = served
    mock.break_after = 2
    got = b""
    with pytest.raises((openai.APIConnectionError, httpx2.TransportError)):  # noqa: PT012
        async with client.chat.completions.with_streaming_response.create(
            model="tiny", messages=HELLO, stream=True
        ) as response:
            async for piece in response.iter_bytes():
                got += piece
    *_, last = got.strip().split(b"\n\n")
    assert json.loads(last.removeprefix(b"data: "))["error"]["type"] == "upstream_error"
    assert b"[DONE]" not in got
    assert len(mock.requests) == 1


async def test_sigterm_lets_a_stream_finish_and_then_stops(served: Any) -> None:
    mock, gateway, client = served
    mock.token_s = 0.02
    stream = await client.chat.completions.create(
        model="tiny", messages=HELLO, stream=True, max_tokens=20
    )
    words = 0
    async for event in stream:
        if not words and event.choices[0].delta.content:
            gateway.process.send_signal(signal.SIGTERM)
        words += bool(event.choices[0].delta.content)
    assert words == 20
    async with asyncio.timeout(20):
        assert await gateway.process.wait() == 0


async def test_a_stream_longer_than_the_drain_is_cut(
    engine: tuple[MockEngine, str], start_gateway: Start
) -> None:
    mock, url = engine
    mock.token_s = 0.02
    async with (
        start_gateway("--worker", f"{url},model=tiny", "--drain-timeout-s", "0.2") as gateway,
        client_of(gateway.url) as client,
    ):
        stream = await client.chat.completions.create(
            model="tiny", messages=HELLO, stream=True, max_tokens=100_000
        )
        with pytest.raises((openai.APIConnectionError, httpx2.TransportError)):  # noqa: PT012
            sent = False
            async for _ in stream:
                if not sent:
                    gateway.process.send_signal(signal.SIGTERM)
                sent = True
        async with asyncio.timeout(20):
            assert await gateway.process.wait() == 0
            await mock.ended.wait()
        assert mock.aborted == 1


async def test_an_engine_that_starts_late_joins(start_gateway: Start, tmp_path: Any) -> None:
    mock = MockEngine("late")
    async with Server(mock) as first:
        port = first.port
    file = tmp_path / "eoc.toml"
    file.write_text(
        f'[[workers]]\nurl = "http://127.0.0.1:{port}/v1"\n[watch]\ninterval_s = 0.05\n'
    )
    async with (
        start_gateway("--config", str(file)) as gateway,
        client_of(gateway.url) as client,
    ):
        with pytest.raises(openai.InternalServerError) as caught:
            await client.chat.completions.create(model="late", messages=HELLO)
        assert caught.value.status_code == 503
        async with Server(mock, port=port), asyncio.timeout(20):
            while [model.id async for model in client.models.list()] != ["late"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            answer = await client.chat.completions.create(model="late", messages=HELLO)
            assert answer.model == "late"


async def test_without_workers_it_says_how_to_start_one(start_gateway: Start) -> None:
    with pytest.raises(pytest.fail.Exception, match="Name one with --worker"):
        async with start_gateway():
            pass
