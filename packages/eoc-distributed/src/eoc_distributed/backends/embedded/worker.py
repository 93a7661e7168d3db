"""A worker that is a simulated engine inside the process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from math import log, sqrt
from random import Random
from types import TracebackType
from typing import Self

import msgspec

from eoc_distributed.energy.accounting import Energy
from eoc_distributed.errors import ContextTooLong, SequenceRefused, WorkerUnreachable
from eoc_distributed.gateway.asked import BodyRejected
from eoc_distributed.gateway.refusals import json_response, refusal
from eoc_distributed.http import HTTPRequest, HTTPResponse
from eoc_distributed.units import MicroJoules, Quality
from eoc_distributed.worker import Capability, Load

from .accelerators import MODEL, Profile
from .answer import EventStream, Labels, Progress, whole_answer, whole_embedding
from .asked import Embedding, Generation, read_body
from .engine import Engine
from .engine_load import load_of
from .scaled_clock import ScaledClock
from .sequence import Sequence
from .vocabulary import MEAN_ANSWER_TOKENS, MEDIAN_ANSWER_TOKENS

TICK_S = 0.01
"""Wall time between two deliveries when the clock is accelerated: tokens of all steps in
between travel together, so that cost follows the wall clock and not the simulated one."""
_SIGMA = sqrt(2.0 * log(MEAN_ANSWER_TOKENS / MEDIAN_ANSWER_TOKENS))


class EmbeddedWorker:
    """Answers the OpenAI API as an engine on a given accelerator would, without a model.

    Its loop runs while it is open (`async with`). Energy is estimated by the power model.

    Args:
        worker_id: Name in the cluster.
        profile: The hardware that it imitates.
        clock: Its time; simulated seconds, also those of `Engine`.
        rng: Draws answers.
        model: Name of the model that it pretends to serve.
        zone: Electricity zone where it draws its power.
        max_concurrency: Most requests at a time; what the profile can run by default.
        on_ended: Told of each sequence that has finished; must not raise.

    Attributes:
        engine: The core. Change it through the worker only.
    """

    def __init__(
        self,
        worker_id: str,
        *,
        profile: Profile,
        clock: ScaledClock,
        rng: Random,
        model: str = MODEL,
        zone: str | None = None,
        max_concurrency: int | None = None,
        on_ended: Callable[[Sequence], None] | None = None,
    ) -> None:
        self.id = worker_id
        self.capability = Capability(
            frozenset({model}),
            profile.accelerator,
            max_concurrency if max_concurrency is not None else profile.max_sequences,
            zone=zone,
        )
        self.engine = Engine(profile, started_s=clock.now_s())
        self._model = model
        self._clock = clock
        self._rng = rng
        self._on_ended = on_ended
        self._progress: dict[Sequence, Progress] = {}
        self._listeners: list[Callable[[Load], None]] = []
        self._wake = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self._loop_task: asyncio.Task[None] | None = None
        self._load = load_of(self.engine)

    async def __aenter__(self) -> Self:
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        self._loop_task = self._group.create_task(self._run(), name=f"engine of {self.id}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        group, task = self._group, self._loop_task
        if group is None or task is None:
            return
        self._group = self._loop_task = None
        self._catch_up()
        task.cancel()
        for sequence, progress in tuple(self._progress.items()):
            progress.broken = True
            progress.notify()
            self.engine.cancel(sequence)
        self._progress.clear()
        if error is None or isinstance(error, asyncio.CancelledError):
            await group.__aexit__(kind, error, trace)
        else:
            # What went wrong in the body is not the group's; it goes on unwrapped.
            await group.__aexit__(None, None, None)

    # A worker.

    @property
    def load(self) -> Load:
        return self._load

    def watch(self, listener: Callable[[Load], None]) -> None:
        self._listeners.append(listener)

    def unwatch(self, listener: Callable[[Load], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    async def serve(self, request: HTTPRequest) -> HTTPResponse:
        path, _, _ = request.path.partition("?")
        if request.method == "POST":
            asked = read_body(path, request.body)
            if isinstance(asked, BodyRejected):
                return refusal(400, asked.message, code=asked.code, param=asked.param)
            if asked is not None:
                return await self._answer(asked)
        elif request.method == "GET" and path == "/v1/models":
            return self._models()
        elif request.method == "GET" and path == "/health":
            return json_response(b'{"status":"ok"}')
        return refusal(404, f"nothing at {request.method} {path}", code="not_found")

    def give_up(self, sequence: Sequence) -> None:
        """Take a sequence out of the engine; nothing happens if it has ended."""
        if self._progress.pop(sequence, None) is not None:
            self._catch_up()
            self.engine.cancel(sequence)
            self._report()

    # Its answers.

    async def _answer(self, asked: Generation | Embedding) -> HTTPResponse:
        if asked.model != self._model:
            message = f"the model {asked.model!r} does not exist here"
            return refusal(404, message, code="model_not_found", param="model")
        try:
            if isinstance(asked, Embedding):
                return await self._embed(asked)
            return await self._generate(asked)
        except ContextTooLong as error:
            return refusal(400, str(error), code="context_length_exceeded", param="max_tokens")
        except SequenceRefused as error:
            return refusal(503, str(error), code="overloaded", retry_after_s=1)

    def _models(self) -> HTTPResponse:
        card = {
            "id": self._model,
            "object": "model",
            "created": 0,
            "owned_by": "simulated",
            "max_model_len": self.engine.max_model_tokens,
        }
        return json_response(msgspec.json.encode({"object": "list", "data": [card]}))

    async def _embed(self, asked: Embedding) -> HTTPResponse:
        sequence, progress = self._submit(asked.prompt_tokens, 1)
        await self._until_ended(sequence, progress)
        response = json_response(whole_embedding(asked))
        return HTTPResponse(
            response.status, response.headers, response.body, lambda: _energy(sequence)
        )

    async def _generate(self, asked: Generation) -> HTTPResponse:
        rng = Random(self._rng.getrandbits(64) if asked.seed is None else asked.seed)  # noqa: S311
        output_tokens, reason = self._length(asked, rng)
        sequence, progress = self._submit(asked.prompt_tokens, output_tokens)
        prefix = "chatcmpl" if asked.chat else "cmpl"
        labels = Labels(
            f"{prefix}-simulated-{self._rng.getrandbits(64):016x}", int(time.time()), reason
        )
        if asked.stream:
            stream = EventStream(self, progress, sequence, asked=asked, labels=labels, rng=rng)
            headers = (
                (b"content-type", b"text/event-stream; charset=utf-8"),
                (b"cache-control", b"no-cache"),
            )
            return HTTPResponse(200, headers, stream, lambda: _energy(sequence))
        await self._until_ended(sequence, progress)
        response = json_response(whole_answer(asked, labels, sequence, rng))
        return HTTPResponse(
            response.status, response.headers, response.body, lambda: _energy(sequence)
        )

    def _length(self, asked: Generation, rng: Random) -> tuple[int, str]:
        """Return how long the answer is, and why it ends there."""
        most = self.engine.max_model_tokens
        limit = asked.max_tokens
        if limit is None:
            limit = max(1, most - asked.prompt_tokens)
        elif asked.prompt_tokens + limit > most:
            raise ContextTooLong(asked.prompt_tokens + limit, most)
        if asked.fill:
            return limit, "length"
        natural = max(1, round(rng.lognormvariate(log(MEDIAN_ANSWER_TOKENS), _SIGMA)))
        return (natural, "stop") if natural <= limit else (limit, "length")

    # Its loop.

    def _submit(self, prompt_tokens: int, output_tokens: int) -> tuple[Sequence, Progress]:
        if self._group is None:
            raise WorkerUnreachable(self.id, "the simulated engine is switched off")
        now_s = self._clock.now_s()
        self._catch_up(now_s)
        sequence = self.engine.submit(
            prompt_tokens=prompt_tokens, output_tokens=output_tokens, now_s=now_s
        )
        progress = self._progress[sequence] = Progress()
        self._report()
        self._wake.set()
        return sequence, progress

    async def _until_ended(self, sequence: Sequence, progress: Progress) -> None:
        try:
            while not sequence.ended:
                if progress.broken:
                    raise WorkerUnreachable(self.id, "the simulated engine was switched off")
                await progress.wait()
            if progress.broken:
                raise WorkerUnreachable(self.id, "the simulated engine was switched off")
        finally:
            self.give_up(sequence)

    async def _run(self) -> None:
        """Wake when a step ends, but not more often than every tick."""
        shortest_s = TICK_S if self._clock.speedup > 1.0 else 0.0
        while True:
            event_s = self.engine.next_event_s
            if event_s is None:
                self._wake.clear()
                await self._wake.wait()
            else:
                await asyncio.sleep(max(shortest_s, self._clock.until(event_s)))
                self._catch_up()

    def _catch_up(self, now_s: float | None = None) -> None:
        """Run the steps that have ended by now, and tell the readers."""
        changed = self.engine.advance(self._clock.now_s() if now_s is None else now_s)
        if not changed:
            return
        for sequence in changed:
            if sequence.ended and self._on_ended is not None:
                self._on_ended(sequence)
            progress = self._progress.get(sequence)
            if progress is not None:
                progress.notify()
                if sequence.ended:
                    del self._progress[sequence]
        self._report()

    def _report(self) -> None:
        load = load_of(self.engine)
        if load != self._load:
            self._load = load
            for listener in self._listeners:
                listener(load)


def _energy(sequence: Sequence) -> Energy:
    return Energy(MicroJoules(sequence.micro_joules), Quality.ESTIMATED)
