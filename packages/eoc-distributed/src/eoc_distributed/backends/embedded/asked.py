"""What a simulated engine reads of a request's body.

Source: OpenAI API, chat completions, completions and embeddings; `ignore_eos` is vLLM's.
A token is taken for four characters of text; token ids count themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

from eoc_distributed.gateway.asked import CHARACTERS_PER_TOKEN, BodyRejected

_Positive = Annotated[int, msgspec.Meta(ge=1)]
_MAX_INPUTS = 2048


class _Part(msgspec.Struct):
    text: str = ""


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None


class _StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class _Fields(msgspec.Struct):
    model: str
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    max_tokens: _Positive | None = None
    max_completion_tokens: _Positive | None = None
    n: int | None = None
    seed: int | None = None
    ignore_eos: bool | None = None


class _Chat(_Fields, kw_only=True):
    messages: Annotated[list[_Message], msgspec.Meta(min_length=1)]


class _Completion(_Fields, kw_only=True):
    prompt: str | list[Any]


class _Embedding(msgspec.Struct):
    model: str
    input: str | list[Any]
    encoding_format: Literal["float", "base64"] | None = None


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """A chat or a completion.

    Attributes:
        chat: Whether it is a chat.
        model: As the client wrote it.
        prompt_tokens: At least 1.
        max_tokens: Most tokens of the answer; None where the client left it open.
        fill: Whether the answer goes on until `max_tokens`.
        stream: Whether the client wants events.
        include_usage: Whether the last event tells the usage.
        seed: Makes the answer the same again.
    """

    chat: bool
    model: str
    prompt_tokens: int
    max_tokens: int | None
    fill: bool
    stream: bool
    include_usage: bool
    seed: int | None


class Embedding(msgspec.Struct, frozen=True, kw_only=True):
    """A request for embeddings.

    Attributes:
        model: As the client wrote it.
        inputs: Each input as bytes; token ids in JSON.
        prompt_tokens: Of all inputs together, at least 1.
        base64: Whether the vectors are wanted as base64 of little-endian float32.
    """

    model: str
    inputs: tuple[bytes, ...]
    prompt_tokens: int
    base64: bool


_chat = msgspec.json.Decoder(_Chat)
_completion = msgspec.json.Decoder(_Completion)
_embedding = msgspec.json.Decoder(_Embedding)


def read_body(path: str, body: bytes) -> Generation | Embedding | BodyRejected | None:
    """Read a request's body by its path; None if nothing answers at that path."""
    read = _READERS.get(path)
    if read is None:
        return None
    try:
        return read(body)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        param = where.strip("`").removeprefix("$").removeprefix(".") or None
        return BodyRejected(f"{what} ({param or 'the body'})", "invalid_type", param)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return BodyRejected(f"the body is not valid JSON: {error}", "invalid_json")


def _read_chat(body: bytes) -> Generation | BodyRejected:
    chat = _chat.decode(body)
    characters = sum(_characters(message) for message in chat.messages)
    return _generation(chat, chat=True, tokens=characters // CHARACTERS_PER_TOKEN)


def _read_completion(body: bytes) -> Generation | BodyRejected:
    completion = _completion.decode(body)
    inputs = _inputs(completion.prompt, "prompt")
    if isinstance(inputs, BodyRejected):
        return inputs
    if len(inputs) != 1:
        return _rejected("one prompt at a time is simulated", "prompt")
    return _generation(completion, chat=False, tokens=inputs[0][1])


def _read_embedding(body: bytes) -> Embedding | BodyRejected:
    asked = _embedding.decode(body)
    inputs = _inputs(asked.input, "input")
    if isinstance(inputs, BodyRejected):
        return inputs
    return Embedding(
        model=asked.model,
        inputs=tuple(data for data, _ in inputs),
        prompt_tokens=sum(tokens for _, tokens in inputs),
        base64=asked.encoding_format == "base64",
    )


_READERS: dict[str, Callable[[bytes], Generation | Embedding | BodyRejected]] = {
    "/v1/chat/completions": _read_chat,
    "/v1/completions": _read_completion,
    "/v1/embeddings": _read_embedding,
}


def _rejected(message: str, param: str) -> BodyRejected:
    return BodyRejected(message, "invalid_value", param)


def _generation(fields: _Fields, *, chat: bool, tokens: int) -> Generation | BodyRejected:
    if fields.n not in (None, 1):
        return _rejected("one choice at a time is simulated", "n")
    if fields.stream_options is not None and not fields.stream:
        return _rejected("stream_options goes with stream: true", "stream_options")
    limit = fields.max_completion_tokens
    if limit is None:
        limit = fields.max_tokens
    if fields.ignore_eos and limit is None:
        return _rejected("ignore_eos needs max_tokens", "max_tokens")
    options = fields.stream_options
    return Generation(
        chat=chat,
        model=fields.model,
        prompt_tokens=max(1, tokens),
        max_tokens=limit,
        fill=bool(fields.ignore_eos),
        stream=bool(fields.stream),
        include_usage=options is not None and bool(options.include_usage),
        seed=fields.seed,
    )


def _characters(message: _Message) -> int:
    content = message.content
    if content is None:
        return 0
    return len(content) if isinstance(content, str) else sum(len(part.text) for part in content)


def _inputs(value: str | list[Any], param: str) -> list[tuple[bytes, int]] | BodyRejected:
    """Return each input as bytes with its number of tokens: text, texts, ids, or lists of ids."""
    items: list[Any] = [value] if isinstance(value, str) or _is_ids(value) else value
    if not 1 <= len(items) <= _MAX_INPUTS:
        return _rejected(f"1 to {_MAX_INPUTS} inputs are taken, not {len(items)}", param)
    inputs: list[tuple[bytes, int]] = []
    for item in items:
        if isinstance(item, str):
            data = item.encode("utf-8", "surrogatepass")
            inputs.append((data, max(1, len(item) // CHARACTERS_PER_TOKEN)))
        elif isinstance(item, list) and _is_ids(item):
            inputs.append((msgspec.json.encode(item), len(item)))
        else:
            return _rejected("an input is text or a list of token ids", param)
    return inputs


def _is_ids(value: list[Any]) -> bool:
    return bool(value) and all(type(item) is int for item in value)
