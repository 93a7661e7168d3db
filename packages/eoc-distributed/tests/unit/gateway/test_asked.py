from __future__ import annotations

import tracemalloc

import pytest

from eoc_distributed.gateway.asked import (
    ATTACHMENT_TOKENS,
    MAX_ESTIMATE,
    Asked,
    BodyRejected,
    read_asked,
)
from eoc_distributed.http import HTTPRequest
from eoc_distributed.request import Request


def ask(body: bytes, path: str = "/v1/chat/completions", **headers: str) -> Asked | BodyRejected:
    fields = tuple(
        (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
    )
    return read_asked(HTTPRequest("POST", path, fields, body))


def test_reads_what_routing_needs_of_a_chat() -> None:
    body = (
        b'{"model":"m","stream":true,"max_tokens":9,"max_completion_tokens":7,"user":"u","messages":'
        b'[{"role":"user","content":"12345678"},{"role":"assistant","content":null,"tool_calls":[]},'
        b'{"role":"user","content":[{"type":"text","text":"1234"},{"type":"image_url"}]}]}'
    )
    assert ask(body) == Asked(
        Request(model="m", prompt_tokens=3, max_tokens=7, session="u"), stream=True
    )


@pytest.mark.parametrize(
    ("prompt", "tokens"),
    [
        (b'"12345678"', 2),
        (b'["1234","12345678"]', 3),
        (b"[1,2,3]", 3),
        (b"[[1,2],[3]]", 3),
        (b"null", 0),
    ],
)
def test_counts_prompts_of_every_form(prompt: bytes, tokens: int) -> None:
    asked = ask(b'{"model":"m","prompt":' + prompt + b"}", "/v1/completions")
    assert isinstance(asked, Asked)
    assert asked.request.prompt_tokens == tokens


def test_a_session_header_wins_over_the_body() -> None:
    asked = ask(b'{"model":"m","prompt_cache_key":"k","user":"u"}', x_session_id="s")
    assert isinstance(asked, Asked)
    assert asked.request.session == "s"


def test_odd_messages_are_left_to_the_engine() -> None:
    body = b'{"model":"m","messages":[{"content":5}]}'
    asked = ask(body)
    assert isinstance(asked, Asked)
    assert asked.request.prompt_tokens == len(body) // 4


@pytest.mark.parametrize(
    "odd", ['"user":5', '"max_tokens":5.0', '"stream":"true"', '"prompt_cache_key":7']
)
def test_odd_fields_are_left_to_the_engine(odd: str) -> None:
    asked = ask(b'{"model":"m",' + odd.encode() + b"}")
    assert isinstance(asked, Asked)
    assert asked.request.model == "m"


@pytest.mark.parametrize("files", [1, 3])
def test_what_a_large_body_has_attached_is_not_taken_for_text(files: int) -> None:
    url = (
        '{"type":"image_url","image_url":{"url":"data:image/png;base64,' + "iVBO" * 100_000 + '"}}'
    )
    text = '{"type":"text","text":"' + "word " * 800 + '"}'
    parts = ",".join([text] + [url] * files)
    asked = ask(b'{"model":"m","messages":[{"role":"user","content":[%b]}]}' % parts.encode())
    assert isinstance(asked, Asked)
    tokens = asked.request.prompt_tokens
    assert 1_000 <= tokens - files * ATTACHMENT_TOKENS <= 1_100


@pytest.mark.parametrize("item", [b"{}", b"[]", b'{"role":"user","content":"12345678"}'])
def test_a_large_body_is_measured_and_not_built(item: bytes) -> None:
    body = b'{"model":"m","messages":[' + b",".join([item] * 100_000) + b"]}"
    tracemalloc.start()
    asked = ask(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(asked, Asked)
    assert 0 < asked.request.prompt_tokens <= MAX_ESTIMATE
    assert peak < 100_000


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b'{"model":"\xff"}', "invalid_json"),
        (b'{"model":"m","x":' + b"[" * 100_000, "invalid_json"),
        (b"[]", "invalid_type"),
        (b'{"model":5}', "invalid_type"),
        (b"{}", "missing_model"),
        (b'{"model":""}', "missing_model"),
        (b'{"model":"' + b"m" * 600 + b'"}', "model_not_found"),
    ],
)
def test_says_why_a_body_cannot_be_routed(body: bytes, code: str) -> None:
    rejected = ask(body)
    assert isinstance(rejected, BodyRejected)
    assert rejected.code == code
