from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import openai
import pytest

from eoc_distributed.backends.embedded import MODEL, PROFILES, EmbeddedWorker, ScaledClock
from eoc_distributed.gateway import Server

pytestmark = pytest.mark.end_to_end


@asynccontextmanager
async def served(name: str = "h100") -> AsyncIterator[tuple[EmbeddedWorker, openai.AsyncOpenAI]]:
    """A worker behind the HTTP server, and a client that talks to it."""
    worker = EmbeddedWorker(
        "one",
        profile=PROFILES[name],
        clock=ScaledClock(speedup=20.0),
        rng=Random(1),
        zone="FR",
    )
    async with (
        worker,
        Server(worker.serve) as server,
        openai.AsyncOpenAI(
            base_url=f"{server.url}/v1", api_key="none", max_retries=0, timeout=20.0
        ) as client,
    ):
        yield worker, client


async def test_chat_counts_its_tokens_and_says_that_it_is_simulated() -> None:
    async with served() as (worker, client):
        answer = await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "abcd" * 10}], max_tokens=12
        )
        assert answer.system_fingerprint == "simulated"
        assert answer.model == MODEL
        assert answer.usage is not None
        assert answer.usage.prompt_tokens == 10
        assert answer.usage.completion_tokens == 12
        text = answer.choices[0].message.content
        assert text is not None
        assert len(text.split()) == 12
        assert answer.choices[0].finish_reason == "length"
        assert worker.load.in_flight == 0
        assert worker.load.energy_quality == "estimated"


async def test_stream_brings_role_tokens_reason_usage_in_that_order() -> None:
    async with served() as (_, client):
        stream = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "hello"}],
            max_completion_tokens=25,
            seed=7,
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
        assert chunks[0].choices[0].delta.role == "assistant"
        contents = [chunk.choices[0].delta.content for chunk in chunks[1:-2]]
        assert len(contents) == 25
        assert all(contents)
        assert chunks[-2].choices[0].finish_reason == "length"
        assert not chunks[-1].choices
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.completion_tokens == 25
        assert len({chunk.id for chunk in chunks}) == 1

        whole = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "hello"}],
            max_completion_tokens=25,
            seed=7,
        )
        assert whole.choices[0].message.content == "".join(text or "" for text in contents)


async def test_closing_a_stream_frees_the_sequence() -> None:
    async with served("cpu-16") as (worker, client):
        stream = await client.completions.create(
            model=MODEL,
            prompt="go on",
            max_tokens=4000,
            extra_body={"ignore_eos": True},
            stream=True,
        )
        async for chunk in stream:
            assert chunk.choices[0].text
            break
        await stream.close()
        # The answer after it takes several steps, at whose ends the engine lets go.
        await client.completions.create(model=MODEL, prompt="end", max_tokens=2)
        assert worker.engine.in_flight == 0
        assert worker.engine.pool.usage == 0.0


async def test_embeddings_are_unit_vectors_that_depend_on_the_text_only() -> None:
    async with served() as (_, client):
        first = await client.embeddings.create(model=MODEL, input=["one text", "another"])
        second = await client.embeddings.create(
            model=MODEL, input="one text", encoding_format="float"
        )
        one, other = (item.embedding for item in first.data)
        assert one == pytest.approx(second.data[0].embedding, abs=1e-6)
        assert one != other
        assert sum(x * x for x in one) == pytest.approx(1.0, abs=1e-5)


async def test_models_are_listed_and_unknown_ones_refused() -> None:
    async with served() as (_, client):
        assert [model.id async for model in await client.models.list()] == [MODEL]
        with pytest.raises(openai.NotFoundError) as caught:
            await client.completions.create(model="gpt-4", prompt="x")
        assert caught.value.code == "model_not_found"


async def test_wrong_requests_are_told_which_field_is_wrong() -> None:
    async with served() as (_, client):
        with pytest.raises(openai.BadRequestError) as caught:
            await client.completions.create(model=MODEL, prompt="x", n=3)
        assert caught.value.param == "n"
        with pytest.raises(openai.BadRequestError) as caught:
            await client.completions.create(model=MODEL, prompt="x", max_tokens=0)
        assert caught.value.param == "max_tokens"
        with pytest.raises(openai.BadRequestError) as caught:
            await client.completions.create(model=MODEL, prompt="x", max_tokens=10**7)
        assert caught.value.code == "context_length_exceeded"
        with pytest.raises(openai.BadRequestError) as caught:
            await client.chat.completions.create(model=MODEL, messages=[])
        assert caught.value.param == "messages"
