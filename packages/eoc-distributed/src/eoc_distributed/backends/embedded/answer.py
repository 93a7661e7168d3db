"""Answers of the simulated engine, on the wire: whole, and as server-sent events.

Source: OpenAI API. A stream is an event with the role, one event for each token, one with
the reason of its end, one with the usage where it was asked for, and `[DONE]`.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from dataclasses import dataclass
from random import Random
from struct import pack
from typing import Protocol

import msgspec

from eoc_distributed.errors import StreamBroken

from .asked import Embedding, Generation
from .sequence import Sequence, Status
from .vocabulary import embedding, words

FINGERPRINT = "simulated"
"""`system_fingerprint` of every answer."""


class Source(Protocol):
    """Where sequences come from, and where they are given up."""

    id: str

    def give_up(self, sequence: Sequence) -> None:
        """Take a sequence out of the engine; nothing happens if it has ended."""
        ...


class Progress:
    """Lets one reader wait until its sequence has changed.

    Attributes:
        broken: Whether the engine was switched off, so that nothing more comes.
    """

    __slots__ = ("_waiter", "broken")

    def __init__(self) -> None:
        self.broken = False
        self._waiter: asyncio.Future[None] | None = None

    def notify(self) -> None:
        """Wake the reader."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self) -> None:
        """Wait for the next change."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None


@dataclass(frozen=True, slots=True)
class Labels:
    """What every object of an answer carries.

    Attributes:
        answer_id: Unique id.
        created_s: Seconds since 1970.
        finish_reason: `stop` or `length`.
    """

    answer_id: str
    created_s: int
    finish_reason: str


def usage(sequence: Sequence) -> dict[str, int]:
    """Return the usage object of an answer."""
    return {
        "prompt_tokens": sequence.prompt_tokens,
        "completion_tokens": sequence.generated,
        "total_tokens": sequence.tokens,
    }


def whole_answer(asked: Generation, labels: Labels, sequence: Sequence, rng: Random) -> bytes:
    """Return the JSON of an answer that has ended."""
    text = "".join(words(rng, sequence.generated))
    choice: dict[str, object] = {"index": 0, "logprobs": None}
    if asked.chat:
        choice["message"] = {"role": "assistant", "content": text}
    else:
        choice["text"] = text
    choice["finish_reason"] = labels.finish_reason
    return msgspec.json.encode(
        {
            "id": labels.answer_id,
            "object": "chat.completion" if asked.chat else "text_completion",
            "created": labels.created_s,
            "model": asked.model,
            "system_fingerprint": FINGERPRINT,
            "choices": [choice],
            "usage": usage(sequence),
        }
    )


def whole_embedding(asked: Embedding) -> bytes:
    """Return the JSON of an answer with one vector for each input."""
    data: list[dict[str, object]] = []
    for index, text in enumerate(asked.inputs):
        vector: object = embedding(text)
        if asked.base64:
            numbers = embedding(text)
            vector = b64encode(pack(f"<{len(numbers)}f", *numbers)).decode("ascii")
        data.append({"object": "embedding", "index": index, "embedding": vector})
    tokens = asked.prompt_tokens
    return msgspec.json.encode(
        {
            "object": "list",
            "data": data,
            "model": asked.model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
    )


class EventStream:
    """The events of an answer; what has come between two reads is one piece.

    Args:
        source: Told when the reader goes away.
        progress: Tells when the sequence has changed.
        sequence: Whose tokens these are.
        asked: The request.
        labels: What each event carries.
        rng: Draws the words.
    """

    __slots__ = (
        "_asked",
        "_finished",
        "_head",
        "_labels",
        "_progress",
        "_rng",
        "_sent",
        "_sequence",
        "_source",
        "_started",
    )

    def __init__(
        self,
        source: Source,
        progress: Progress,
        sequence: Sequence,
        *,
        asked: Generation,
        labels: Labels,
        rng: Random,
    ) -> None:
        self._source = source
        self._progress = progress
        self._sequence = sequence
        self._asked = asked
        self._labels = labels
        self._rng = rng
        self._sent = 0
        self._started = False
        self._finished = False
        kind = "chat.completion.chunk" if asked.chat else "text_completion"
        fields = {
            "id": labels.answer_id,
            "object": kind,
            "created": labels.created_s,
            "model": asked.model,
            "system_fingerprint": FINGERPRINT,
        }
        self._head = "data: " + msgspec.json.encode(fields).decode()[:-1] + ',"choices":['

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> bytes:
        if not self._started:
            self._started = True
            if self._asked.chat:
                return self._event('"delta":{"role":"assistant","content":""}').encode()
        while not self._finished:
            events = self._new_tokens()
            if self._sequence.status is Status.FINISHED:
                self._finished = True
                events += self._ending()
            if events:
                return events.encode()
            if self._progress.broken:
                self._finished = True
                raise StreamBroken(self._source.id, "the simulated engine was switched off")
            await self._progress.wait()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop reading; the sequence leaves the engine when its step ends."""
        self._finished = True
        self._source.give_up(self._sequence)

    def _event(self, content: str, finish: str = "null") -> str:
        choice = f'{{"index":0,{content},"logprobs":null,"finish_reason":{finish}}}'
        return f"{self._head}{choice}]}}\n\n"

    def _new_tokens(self) -> str:
        count = self._sequence.generated - self._sent
        if count <= 0:
            return ""
        self._sent += count
        before, after = ('"delta":{"content":"', '"}') if self._asked.chat else ('"text":"', '"')
        start, _, end = self._event(f"{before}\0{after}").partition("\0")
        return start + f"{end}{start}".join(words(self._rng, count)) + end

    def _ending(self) -> str:
        events = self._event(
            '"delta":{}' if self._asked.chat else '"text":""', f'"{self._labels.finish_reason}"'
        )
        if self._asked.include_usage:
            counted = msgspec.json.encode(usage(self._sequence)).decode()
            events += f'{self._head}],"usage":{counted}}}\n\n'
        return events + "data: [DONE]\n\n"
