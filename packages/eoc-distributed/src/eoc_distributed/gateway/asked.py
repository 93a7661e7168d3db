"""What a router needs to know of a request's body; the body itself is never changed.

Source: OpenAI API, chat completions, completions and embeddings. One token is taken for
four characters of text, an estimate until the engine has counted.
"""

from __future__ import annotations

from typing import Any

import msgspec

from eoc_distributed.http import HTTPRequest
from eoc_distributed.request import Request

CHARACTERS_PER_TOKEN = 4
PARSED_INLINE_BYTES = 256 * 1024
"""Larger bodies are parsed in a thread: a parse must not hold up every other client."""
MAX_ESTIMATE = 131_072
"""Most tokens that a large body is taken for: no context is larger."""
ATTACHMENT_TOKENS = 1024
"""Tokens that a file inside a large body is taken for: about an image of a megapixel."""
_ATTACHED = b";base64,"
_SESSION_HEADERS = (b"x-session-id", b"session-id")
_MAX_NAME_CHARACTERS = 512


class _Part(msgspec.Struct):
    text: str = ""


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None


class _StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class _OnlyModel(msgspec.Struct):
    model: str | None = None


class _Fields(_OnlyModel):
    """The fields a router reads of any request."""

    stream: bool | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    prompt_cache_key: str | None = None
    user: str | None = None


class _Chat(_Fields):
    messages: list[_Message] = []


class _Text(_Fields):
    """Completions and embeddings: text, texts, token ids, or lists of token ids."""

    prompt: str | list[Any] | None = None
    input: str | list[Any] | None = None


class Asked(msgspec.Struct, frozen=True):
    """A request as routing sees it.

    Attributes:
        request: What the router is asked.
        stream: Whether the client wants server-sent events.
    """

    request: Request
    stream: bool


_chat = msgspec.json.Decoder(_Chat)
_text = msgspec.json.Decoder(_Text)
_fields = msgspec.json.Decoder(_Fields)
_only_model = msgspec.json.Decoder(_OnlyModel)


class BodyRejected(msgspec.Struct, frozen=True):
    """Why a body cannot be routed.

    Attributes:
        message: For people.
        code: For programs.
        param: Field that is wrong.
    """

    message: str
    code: str
    param: str | None = None


def read_asked(request: HTTPRequest) -> Asked | BodyRejected:
    """Read what routing needs from a request's JSON body.

    Fields of unexpected type are left for the engine to judge, `model` apart.
    """
    body = request.body
    fields: _Fields
    prompt_tokens: int | None = None
    try:
        if len(body) > PARSED_INLINE_BYTES:
            # Building a million small objects to measure them would take a gigabyte.
            fields = _fields.decode(body)
            prompt_tokens = _measure(body)
        elif "/chat/" in request.path:
            chat = _chat.decode(body)
            fields = chat
            prompt_tokens = _chat_characters(chat.messages) // CHARACTERS_PER_TOKEN
        else:
            text = _text.decode(body)
            fields = text
            prompt_tokens = _count(text.prompt) + _count(text.input)
    except msgspec.ValidationError:
        lenient = _read_leniently(body)
        if isinstance(lenient, BodyRejected):
            return lenient
        fields = lenient
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return BodyRejected(f"the body is not valid JSON: {error}", "invalid_json")
    if not fields.model:
        return BodyRejected("a model is needed", "missing_model", "model")
    if len(fields.model) > _MAX_NAME_CHARACTERS:
        return BodyRejected("the model's name is too long", "model_not_found", "model")
    if prompt_tokens is None:
        prompt_tokens = len(body) // CHARACTERS_PER_TOKEN
    limit = fields.max_completion_tokens
    if limit is None:
        limit = fields.max_tokens
    return Asked(
        Request(
            model=fields.model,
            prompt_tokens=prompt_tokens,
            max_tokens=limit,
            session=_session(request, fields),
        ),
        bool(fields.stream),
    )


def _read_leniently(body: bytes) -> _Fields | BodyRejected:
    """Read the model at least; what else has an odd type is for the engine to judge."""
    try:
        try:
            return _fields.decode(body)
        except msgspec.ValidationError:
            return _Fields(model=_only_model.decode(body).model)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        param = where.strip("`").removeprefix("$.").removeprefix("$") or None
        return BodyRejected(f"{what} ({param or 'the body'})", "invalid_type", param)


def _session(request: HTTPRequest, fields: _Fields) -> str | None:
    for name, value in request.headers:
        if name in _SESSION_HEADERS:
            return value.decode("latin-1")
    return fields.prompt_cache_key or fields.user


def _chat_characters(messages: list[_Message]) -> int:
    characters = 0
    for message in messages:
        content = message.content
        if isinstance(content, str):
            characters += len(content)
        elif content is not None:
            for part in content:
                characters += len(part.text)
    return characters


def _count(value: str | list[Any] | None) -> int:
    """Return the tokens of a prompt in any of its four forms."""
    if value is None:
        return 0
    if isinstance(value, str):
        return len(value) // CHARACTERS_PER_TOKEN
    tokens = 0
    for item in value:
        if isinstance(item, str):
            tokens += len(item) // CHARACTERS_PER_TOKEN
        else:
            tokens += len(item) if isinstance(item, list) else 1
    return tokens


def _measure(body: bytes) -> int:
    """Return the tokens of a large body; what its data URLs (RFC 2397) hold is no text."""
    attached = files = 0
    start = body.find(_ATTACHED)
    while start >= 0:
        end = body.find(b'"', start)
        if end < 0:
            end = len(body)
        attached += end - start
        files += 1
        start = body.find(_ATTACHED, end)
    tokens = (len(body) - attached) // CHARACTERS_PER_TOKEN + files * ATTACHMENT_TOKENS
    return min(tokens, MAX_ESTIMATE)
