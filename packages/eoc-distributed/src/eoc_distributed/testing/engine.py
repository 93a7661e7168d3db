"""An engine without a model: speaks the OpenAI API over a real socket, says fixed words.

For tests and benchmarks. `python -m eoc_distributed.testing.engine --count 4` starts four, each
on a free port.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator

import msgspec

from eoc_distributed.gateway.body import Whole
from eoc_distributed.gateway.refusals import json_response, refusal
from eoc_distributed.gateway.server import Server
from eoc_distributed.http import HTTPRequest, HTTPResponse


class _Options(msgspec.Struct):
    include_usage: bool = False


class _Asked(msgspec.Struct):
    model: str = ""
    stream: bool = False
    max_tokens: int | None = None
    stream_options: _Options | None = None


_asked = msgspec.json.Decoder(_Asked)


class MockEngine:
    """Answers as vLLM does, in as many tokens as it is told.

    Args:
        model: The model it says that it serves.
        tokens: Tokens of an answer if the request does not say.
        token_s: Time between tokens, s.

    Attributes:
        requests: What it was asked, newest last; the last thousand.
        aborted: Requests whose client went away.
        failing: Status with which it answers everything under `/v1/`; 0 for none.
        break_after: Tokens after which a stream breaks off; None for never.
        has_metrics: Whether it has a page of metrics.
    """

    KEPT = 1000

    def __init__(self, model: str = "mock", *, tokens: int = 8, token_s: float = 0.0) -> None:
        self.model = model
        self.tokens = tokens
        self.token_s = token_s
        self.requests: list[HTTPRequest] = []
        self.aborted = 0
        self.running = 0
        self.failing = 0
        self.break_after: int | None = None
        self.has_metrics = True
        self.ended = asyncio.Event()
        """Set whenever a request ends or is aborted."""

    async def __call__(self, request: HTTPRequest) -> HTTPResponse:
        """Answer a request."""
        if request.method == "GET":
            return self._page(request.path)
        self.requests.append(request)
        del self.requests[: -self.KEPT]
        if self.failing:
            return refusal(self.failing, "told to fail", code="mock")
        try:
            asked = _asked.decode(request.body)
        except msgspec.DecodeError:
            asked = _Asked()
        if request.path == "/v1/embeddings":
            return json_response(self._embedding())
        tokens = asked.max_tokens or self.tokens
        if asked.stream:
            usage = asked.stream_options is not None and asked.stream_options.include_usage
            headers = ((b"content-type", b"text/event-stream; charset=utf-8"),)
            return HTTPResponse(200, headers, self._stream(tokens, usage))
        if self.token_s:
            await self._work(tokens)
        return json_response(self.answer(tokens))

    def _page(self, path: str) -> HTTPResponse:
        match path:
            case "/health":
                return HTTPResponse(200, ((b"content-length", b"0"),), Whole(b""))
            case "/version":
                return json_response(b'{"version":"0.32.0"}')
            case "/metrics" if self.has_metrics:
                return self._metrics()
            case "/v1/models":
                card = {"id": self.model, "object": "model", "created": 1, "owned_by": "mock"}
                return json_response(msgspec.json.encode({"object": "list", "data": [card]}))
            case _:
                return refusal(404, "not found", code="not_found")

    def answer(self, tokens: int) -> bytes:
        """Return the body of an answer that is not streamed."""
        usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
        message = {"role": "assistant", "content": " word" * tokens}
        return msgspec.json.encode(
            {
                "id": "chatcmpl-mock",
                "object": "chat.completion",
                "created": 1,
                "model": self.model,
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": usage,
            }
        )

    def events(self, tokens: int, *, usage: bool) -> list[bytes]:
        """Return the events of a streamed answer."""
        start = (
            f'data: {{"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1,'
            f'"model":"{self.model}","choices":'
        )
        events = [f'{start}[{{"index":0,"delta":{{"role":"assistant","content":""}}}}]}}\n\n']
        events += [
            f'{start}[{{"index":0,"delta":{{"content":" wörd"}},"finish_reason":null}}]}}\n\n'
        ] * tokens
        events.append(f'{start}[{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}\n\n')
        if usage:
            events.append(
                f'{start}[],"usage":{{"prompt_tokens":10,"completion_tokens":{tokens},'
                f'"total_tokens":{10 + tokens}}}}}\n\n'
            )
        events.append("data: [DONE]\n\n")
        return [event.encode() for event in events]

    async def _stream(self, tokens: int, usage: bool) -> AsyncIterator[bytes]:
        self.running += 1
        done = False
        try:
            for number, event in enumerate(self.events(tokens, usage=usage)):
                if self.break_after is not None and number > self.break_after:
                    done = True
                    raise ConnectionAbortedError("told to break off")
                yield event
                if self.token_s:
                    await asyncio.sleep(self.token_s)
            done = True
        finally:
            self._ended(aborted=not done)

    async def _work(self, tokens: int) -> None:
        self.running += 1
        done = False
        try:
            await asyncio.sleep(tokens * self.token_s)
            done = True
        finally:
            self._ended(aborted=not done)

    def _ended(self, *, aborted: bool) -> None:
        self.running -= 1
        self.aborted += aborted
        self.ended.set()

    def _embedding(self) -> bytes:
        data = [{"object": "embedding", "index": 0, "embedding": [0.25, -0.5, 1.0]}]
        usage = {"prompt_tokens": 4, "total_tokens": 4}
        return msgspec.json.encode(
            {"object": "list", "data": data, "model": self.model, "usage": usage}
        )

    def _metrics(self) -> HTTPResponse:
        labels = f'{{engine="0",model_name="{self.model}"}}'
        text = (
            "# TYPE vllm:num_requests_running gauge\n"
            f"vllm:num_requests_running{labels} {self.running}\n"
            "# TYPE vllm:num_requests_waiting gauge\n"
            f"vllm:num_requests_waiting{labels} 0\n"
        ).encode()
        return HTTPResponse(
            200,
            (
                (b"content-type", b"text/plain; version=0.0.4"),
                (b"content-length", b"%d" % len(text)),
            ),
            Whole(text),
        )


async def _serve(engines: list[MockEngine]) -> None:
    servers = [await Server(engine).__aenter__() for engine in engines]
    for server in servers:
        sys.stdout.write(f"listening on {server.url}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def _main() -> None:
    parser = argparse.ArgumentParser(description="Start engines without a model.")
    parser.add_argument("--count", type=int, default=1, help="how many, each on a free port")
    parser.add_argument("--model", default="mock")
    parser.add_argument("--tokens", type=int, default=8)
    parser.add_argument("--token-s", type=float, default=0.0)
    parser.add_argument("--loop", choices=("asyncio", "uvloop"), default="asyncio")
    options = parser.parse_args()
    make_loop = None
    if options.loop == "uvloop":
        import uvloop  # noqa: PLC0415 - an extra

        make_loop = uvloop.new_event_loop

    async def main() -> None:
        await _serve(
            [
                MockEngine(options.model, tokens=options.tokens, token_s=options.token_s)
                for _ in range(options.count)
            ]
        )

    with asyncio.Runner(loop_factory=make_loop) as runner:
        runner.run(main())


if __name__ == "__main__":
    _main()
