"""Tokens counted from what an engine answers; the answer itself is never touched.

The engine's own `usage` wins. Without it, each event of a stream that brings content is
taken for one token: an estimate, since an engine may put several tokens into an event.
Source: OpenAI API, `usage` of completions, chat completions, embeddings and responses.
"""

from __future__ import annotations

import msgspec

from eoc_distributed.cluster import MAX_TOKENS

from .sse import EventDecoder


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Answer(msgspec.Struct):
    usage: _Usage | None = None


class _Delta(msgspec.Struct):
    content: str | list[msgspec.Raw] | None = None
    reasoning: str | list[msgspec.Raw] | None = None
    reasoning_content: str | list[msgspec.Raw] | None = None
    tool_calls: str | list[msgspec.Raw] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    text: str | None = None


class _Event(msgspec.Struct):
    type: str | None = None
    choices: list[_Choice] = []
    usage: _Usage | None = None
    response: _Answer | None = None


class Counted(msgspec.Struct, frozen=True):
    """Tokens of one answer.

    Attributes:
        prompt_tokens: As the engine says; None if it does not.
        completion_tokens: As the engine says, or as counted; None if there is nothing to count.
        exact: Whether the engine said all of it.
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    exact: bool


_answer = msgspec.json.Decoder(_Answer)
_event = msgspec.json.Decoder(_Event)
_DELTA_EVENT = ".delta"


def _counted(usage: _Usage | None) -> Counted | None:
    if usage is None:
        return None
    prompt = usage.prompt_tokens if usage.prompt_tokens is not None else usage.input_tokens
    completion = (
        usage.completion_tokens if usage.completion_tokens is not None else usage.output_tokens
    )
    if prompt is None and completion is None:
        return None
    completion = completion or 0  # embeddings name none: nothing is generated
    if not (0 <= (prompt or 0) <= MAX_TOKENS and 0 <= completion <= MAX_TOKENS):
        return None  # no engine means that
    return Counted(prompt, completion, exact=prompt is not None)


def count_answer(body: bytes) -> Counted | None:
    """Return the usage that a JSON answer tells; None if it tells none."""
    try:
        return _counted(_answer.decode(body).usage)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class StreamCount:
    """Counts the tokens of a stream of events as it passes.

    Attributes:
        events: Events that brought content.
        done: Whether the end mark `[DONE]` has passed.
    """

    __slots__ = ("_decoder", "_usage", "done", "events")

    def __init__(self) -> None:
        self._decoder = EventDecoder()
        self._usage: Counted | None = None
        self.events = 0
        self.done = False

    def feed(self, piece: bytes) -> bool:
        """Take the next bytes; return whether any content has come so far."""
        for data in self._decoder.feed(piece):
            if data == b"[DONE]":
                self.done = True
                continue
            try:
                event = _event.decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if _has_content(event):
                self.events += 1
            usage = event.usage
            if usage is None and event.response is not None:
                usage = event.response.usage
            if usage is not None:
                self._usage = _counted(usage) or self._usage
        return self.events > 0

    def result(self) -> Counted:
        """Return what has been counted up to this moment."""
        if self._usage is not None:
            return self._usage
        return Counted(None, self.events or None, exact=False)


def _has_content(event: _Event) -> bool:
    for choice in event.choices:
        delta = choice.delta
        if choice.text or (
            delta is not None
            and (delta.content or delta.reasoning_content or delta.reasoning or delta.tool_calls)
        ):
            return True
    return event.type is not None and event.type.endswith(_DELTA_EVENT)
