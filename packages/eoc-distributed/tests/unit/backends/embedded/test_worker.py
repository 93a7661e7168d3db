from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import msgspec
import pytest

from eoc_distributed.backends.embedded import (
    MODEL,
    PROFILES,
    EmbeddedWorker,
    Engine,
    Profile,
    ScaledClock,
)
from eoc_distributed.backends.embedded.sequence import Sequence
from eoc_distributed.clock import ManualClock
from eoc_distributed.errors import ContextTooLong, EngineFull, StreamBroken, WorkerUnreachable
from eoc_distributed.gateway.body import close_body
from eoc_distributed.http import HTTPRequest, HTTPResponse
from eoc_distributed.units import Quality
from eoc_distributed.worker import Load


def worker(profile: Profile = PROFILES["h100"], *, speedup: float = 50.0) -> EmbeddedWorker:
    return EmbeddedWorker(
        "one", profile=profile, clock=ScaledClock(speedup=speedup), rng=Random(3), zone="FR"
    )


def completion(**fields: object) -> HTTPRequest:
    body = {"model": MODEL, "prompt": "abcd" * 8, **fields}
    return HTTPRequest("POST", "/v1/completions", (), msgspec.json.encode(body))


async def carries(one: EmbeddedWorker, in_flight: int) -> None:
    """Wait until the worker has that many requests."""
    reached = asyncio.Event()

    def look(load: Load) -> None:
        if load.in_flight >= in_flight:
            reached.set()

    one.watch(look)
    look(one.load)
    await reached.wait()
    one.unwatch(look)


async def collect(response: HTTPResponse, pieces: list[bytes]) -> None:
    async for piece in response.body:
        pieces.append(piece)  # noqa: PERF401 - those before a break are wanted


async def read(response: HTTPResponse) -> bytes:
    pieces: list[bytes] = []
    await collect(response, pieces)
    return b"".join(pieces)


async def test_response_tells_its_energy_as_estimated() -> None:
    async with worker() as one:
        response = await one.serve(completion(max_tokens=5, ignore_eos=True))
        answer = msgspec.json.decode(await read(response))
        assert answer["usage"] == {"prompt_tokens": 8, "completion_tokens": 5, "total_tokens": 13}
        assert response.energy is not None
        energy = response.energy()
        assert energy is not None
        assert energy.quality is Quality.ESTIMATED
        # Alone on the engine, the request has all energy of its steps.
        assert energy.micro_joules == one.engine.step_micro_joules > 0


async def test_energy_of_all_responses_and_idle_time_is_the_meter() -> None:
    async with worker() as one:
        responses = await asyncio.gather(
            *(one.serve(completion(max_tokens=5 + index, stream=True)) for index in range(20))
        )
        await asyncio.gather(*(read(response) for response in responses))
        total = 0
        for response in responses:
            energy = response.energy() if response.energy is not None else None
            assert energy is not None
            total += energy.micro_joules
        assert total + one.engine.idle_micro_joules == one.engine.meter_micro_joules


async def test_load_is_told_to_those_who_watch() -> None:
    async with worker() as one:
        seen: list[Load] = []
        one.watch(seen.append)
        await read(await one.serve(completion(max_tokens=3)))
        assert seen[0].in_flight == 1
        assert seen[0].queued_tokens == 8
        assert seen[-1].in_flight == 0
        assert all(load.micro_joules_per_token for load in seen)
        one.unwatch(seen.append)
        one.unwatch(seen.append)


async def test_stream_that_is_closed_before_it_is_read_is_cancelled() -> None:
    async with worker() as one:
        response = await one.serve(completion(max_tokens=10_000, ignore_eos=True, stream=True))
        await close_body(response)
        await read(await one.serve(completion(max_tokens=2)))
        assert one.engine.in_flight == 0


async def test_call_that_is_cancelled_frees_its_sequence() -> None:
    async with worker(PROFILES["cpu-16"]) as one:
        task = asyncio.ensure_future(one.serve(completion(max_tokens=10_000, ignore_eos=True)))
        await carries(one, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await read(await one.serve(completion(max_tokens=2)))
        assert one.engine.in_flight == 0
        assert one.engine.pool.usage == 0.0


async def test_engine_that_is_switched_off_breaks_streams_and_refuses_calls() -> None:
    one = worker(PROFILES["cpu-16"])
    async with one:
        stream = await one.serve(completion(max_tokens=10_000, ignore_eos=True, stream=True))
        waiting = asyncio.ensure_future(one.serve(completion(max_tokens=10_000, ignore_eos=True)))
        await carries(one, 2)
    pieces: list[bytes] = []
    with pytest.raises(StreamBroken):
        await collect(stream, pieces)
    assert b"[DONE]" not in b"".join(pieces)
    with pytest.raises(WorkerUnreachable):
        await waiting
    with pytest.raises(WorkerUnreachable):
        await one.serve(completion())


async def test_answers_without_a_limit_end_by_themselves() -> None:
    async with worker(speedup=5000.0) as one:
        answer = msgspec.json.decode(await read(await one.serve(completion(seed=1))))
        assert answer["choices"][0]["finish_reason"] == "stop"
        again = msgspec.json.decode(await read(await one.serve(completion(seed=1))))
        assert again["choices"] == answer["choices"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/completions", b"{", 400),
        ("/v1/completions", b"\xff", 400),
        ("/v1/completions", b"[" * 100_000, 400),
        ("/v1/completions", b"[]", 400),
        ("/v1/completions", b'{"model":"%s","prompt":[]}' % MODEL.encode(), 400),
        ("/v1/completions", b'{"model":"%s","prompt":["a","b"]}' % MODEL.encode(), 400),
        ("/v1/completions", b'{"model":"%s","prompt":[{}]}' % MODEL.encode(), 400),
        ("/v1/completions", b'{"model":"%s","prompt":"a","ignore_eos":true}' % MODEL.encode(), 400),
        (
            "/v1/completions",
            b'{"model":"%s","prompt":"a","stream_options":{}}' % MODEL.encode(),
            400,
        ),
        ("/v1/embeddings", b'{"model":"%s","input":[]}' % MODEL.encode(), 400),
        ("/v1/audio/speech", b"{}", 404),
    ],
)
async def test_bad_bodies_are_refused_in_the_shape_of_the_api(
    path: str, body: bytes, status: int
) -> None:
    async with worker() as one:
        response = await one.serve(HTTPRequest("POST", path, (), body))
        assert response.status == status
        error = msgspec.json.decode(await read(response))["error"]
        assert set(error) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("prompt", "tokens"), [("a" * 41, 10), ([1, 2, 3], 3), ([[1, 2]], 2), (["abcdefgh"], 2)]
)
async def test_prompts_are_text_or_token_ids(prompt: object, tokens: int) -> None:
    async with worker() as one:
        response = await one.serve(completion(prompt=prompt, max_tokens=1))
        assert msgspec.json.decode(await read(response))["usage"]["prompt_tokens"] == tokens


async def test_full_queue_is_an_overload_that_may_be_tried_again() -> None:
    async with worker() as one:
        one.engine.max_waiting = 0
        response = await one.serve(completion())
        assert response.status == 503
        assert response.header(b"retry-after") == b"1"


def test_engine_refuses_what_never_fits_and_what_waits_too_long() -> None:
    engine = Engine(replace(PROFILES["h100"], kv_tokens=64, max_sequences=1), max_waiting=1)
    with pytest.raises(ContextTooLong) as caught:
        engine.submit(prompt_tokens=60, output_tokens=5, now_s=0.0)
    assert (caught.value.tokens, caught.value.limit) == (65, 64)
    engine.submit(prompt_tokens=60, output_tokens=4, now_s=0.0)
    engine.submit(prompt_tokens=1, output_tokens=1, now_s=0.0)
    with pytest.raises(EngineFull):
        engine.submit(prompt_tokens=1, output_tokens=1, now_s=0.0)
    with pytest.raises(ValueError, match="at least one"):
        engine.submit(prompt_tokens=0, output_tokens=1, now_s=0.0)


def test_newest_sequence_gives_way_when_blocks_run_out_and_is_computed_again() -> None:
    engine = Engine(replace(PROFILES["h100"], kv_tokens=64, block_tokens=16))
    old, new = (engine.submit(prompt_tokens=16, output_tokens=40, now_s=0.0) for _ in range(2))
    changed: list[Sequence] = engine.drain()
    assert set(changed) == {old, new}
    assert (old.preemptions, new.preemptions) == (0, 1)
    assert old.ended_s is not None
    assert new.ended_s is not None
    assert old.ended_s < new.ended_s
    assert new.micro_joules > old.micro_joules


def test_long_prompt_is_read_in_chunks_beside_running_answers() -> None:
    engine = Engine(replace(PROFILES["h100"], step_tokens=64))
    first = engine.submit(prompt_tokens=10, output_tokens=50, now_s=0.0)
    event_s = engine.next_event_s
    assert event_s is not None
    engine.advance(event_s)
    assert first.generated == 1
    long = engine.submit(prompt_tokens=300, output_tokens=1, now_s=event_s)
    engine.drain()
    assert engine.largest_step_tokens == 64
    assert long.first_token_s is not None
    # 63 tokens a step are left beside the answer, after the step that is under way.
    assert first.generated == 50
    assert first.ended_s is not None
    assert long.first_token_s < first.ended_s


def test_scaled_clock_runs_so_many_times_faster() -> None:
    base = ManualClock(100.0)
    clock = ScaledClock(speedup=10.0, base=base)
    assert clock.now_s() == 0.0
    base.advance(2.0)
    assert clock.now_s() == 20.0
    assert clock.until(50.0) == pytest.approx(3.0)
    assert clock.until(5.0) == 0.0
    with pytest.raises(ValueError, match="forward"):
        ScaledClock(speedup=0.0)
