"""Our client against a server that does what it is told, over real sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import anyio
import pytest

from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import (
    ATProtoError,
    HashMismatch,
    NetworkFailed,
    RequestRefused,
    ResponseInvalid,
    XRPCError,
    XRPCUnavailable,
)
from smart_byte_atproto.xrpc import AsyncClient, Client, RetryPolicy, Tokens

pytestmark = pytest.mark.end_to_end

DID = "did:plc:gito43bv6lbityhgk36c23h2"
FAST = RetryPolicy(attempts=3, base_s=0.001, most_s=0.05)
PING, DO = "com.example.ping", "com.example.do"


@dataclass
class Seen:
    """One request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Served:
    """A server's behaviour: how each request is answered, and what came."""

    answer: Callable[[Seen, int], tuple[int, dict[str, str], bytes] | None]
    seen: list[Seen] = field(default_factory=list)
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def serve(
    answer: Callable[[Seen, int], tuple[int, dict[str, str], bytes] | None],
) -> Iterator[Served]:
    """Serve on loopback; an answer of None cuts the connection."""
    served = Served(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            one = Seen(self.command, self.path, headers, body)
            with served.lock:
                served.seen.append(one)
                number = len(served.seen)
            came = served.answer(one, number)
            if came is None:
                self.close_connection = True
                return
            status, more, content = came
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            if "Content-Length" not in more:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            if int(more.get("Content-Length", len(content))) != len(content):
                self.close_connection = True

        do_GET = do_POST = handle_any  # noqa: N815 - the library's names

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def said(value: Any, status: int = 200, **headers: str) -> tuple[int, dict[str, str], bytes]:
    kinds = {"Content-Type": "application/json"} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    return status, kinds, json.dumps(value).encode()


def _always(answer: Any, _one: Seen, _number: int) -> Any:
    return answer


def outcome(served: Served, *, do: bool = False, **options: Any) -> dict[str, Value] | ATProtoError:
    """Call once, blocking; return what came or was raised."""
    with Client(
        served.url, policy=FAST, rng=Random(1), local=True, timeout_s=5.0, **options
    ) as client:
        try:
            return (
                client.procedure(DO, {"a": 1})
                if do
                else client.query(PING, {"b": True, "c": ["x", "y z"]})
            )
        except ATProtoError as error:
            return error


def awaited(served: Served, *, do: bool = False) -> dict[str, Value] | ATProtoError:
    """The same, awaited."""

    async def run() -> dict[str, Value] | ATProtoError:
        async with AsyncClient(served.url, policy=FAST, rng=Random(1), local=True) as client:
            try:
                return await (client.procedure(DO, {"a": 1}) if do else client.query(PING))
            except ATProtoError as error:
                return error

    return anyio.run(run)


def test_a_query_is_written_as_the_specification_says() -> None:
    with serve(lambda _one, _n: said({"ok": True})) as served:
        assert outcome(served, proxy="did:web:x.com#y", labelers=["did:web:l.com"]) == {"ok": True}
    (one,) = served.seen
    assert (one.method, one.path) == ("GET", "/xrpc/com.example.ping?b=true&c=x&c=y%20z")
    assert one.headers["atproto-proxy"] == "did:web:x.com#y"
    assert one.headers["atproto-accept-labelers"] == "did:web:l.com"
    assert "authorization" not in one.headers


@pytest.mark.parametrize("ask", [outcome, awaited])
def test_a_query_is_sent_again_while_the_failure_may_pass(ask: Any) -> None:
    answers = [None, said({"error": "UpstreamFailure"}, 502), said({"fine": 1})]
    with serve(lambda _one, n: answers[n - 1]) as served:
        assert ask(served) == {"fine": 1}
    assert len(served.seen) == 3


@pytest.mark.parametrize("ask", [outcome, awaited])
def test_a_procedure_that_may_have_run_is_never_sent_again(ask: Any) -> None:
    for answer in (None, said({"error": "InternalServerError"}, 500), said({}, 503)):
        with serve(partial(_always, answer)) as served:
            assert isinstance(ask(served, do=True), NetworkFailed | XRPCUnavailable)
        assert len(served.seen) == 1


def test_a_procedure_that_was_refused_for_its_rate_is_sent_again() -> None:
    answers = [said({"error": "RateLimitExceeded"}, 429, Retry_After="0"), said({"done": 1})]
    with serve(lambda _one, n: answers[n - 1]) as served:
        assert outcome(served, do=True) == {"done": 1}
    assert len(served.seen) == 2


def test_a_wait_that_is_too_long_is_left_to_the_caller() -> None:
    with serve(
        lambda _one, _n: said({"error": "RateLimitExceeded"}, 429, Retry_After="3600")
    ) as served:
        error = outcome(served)
    assert isinstance(error, XRPCUnavailable)
    assert error.retry_after_s == 3600
    assert len(served.seen) == 1


def test_a_refusal_has_its_name_and_is_not_tried_again() -> None:
    with serve(lambda _one, _n: said({"error": "InvalidRequest", "message": "no"}, 400)) as served:
        error = outcome(served)
    assert isinstance(error, XRPCError)
    assert not error.retryable
    assert (error.status, error.name, error.message) == (400, "InvalidRequest", "no")
    assert len(served.seen) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((200, {"Content-Type": "text/html"}, b"<html>"), ResponseInvalid),
        ((200, {"Content-Type": "application/json"}, b"{"), ResponseInvalid),
        ((200, {"Content-Type": "application/json"}, b"[]"), ResponseInvalid),
        ((404, {"Content-Type": "text/html"}, b"<html>not here"), XRPCError),
        ((302, {"Location": "http://10.0.0.1/"}, b""), ResponseInvalid),
        ((200, {"Content-Type": "application/json", "Content-Length": "99"}, b"{"), NetworkFailed),
    ],
)
def test_what_is_no_answer_is_told(answer: Any, kind: type[ATProtoError]) -> None:
    with serve(lambda _one, _n: answer) as served:
        assert isinstance(outcome(served), kind)
        assert isinstance(awaited(served), kind)


def test_an_answer_without_end_is_bounded() -> None:
    with serve(
        lambda _one, _n: (200, {"Content-Type": "application/json"}, b" " * (6 << 20))
    ) as served:
        for error in (outcome(served), awaited(served)):
            assert isinstance(error, ResponseInvalid)
            assert error.code == "size"


def test_addresses_inside_are_not_called() -> None:
    with Client("https://10.0.0.1") as client, pytest.raises(RequestRefused):
        client.query(PING)
    with Client("http://127.0.0.1:1") as client, pytest.raises(RequestRefused):
        client.query(PING)


def test_pages_end_also_where_the_server_would_not() -> None:
    with (
        serve(lambda _one, _n: said({"cursor": "same", "items": []})) as served,
        Client(served.url, local=True) as client,
        pytest.raises(ResponseInvalid, match="cursor"),
    ):
        list(client.pages(PING))
    assert len(served.seen) == 2


def tokens(number: int, url: str) -> Tokens:
    return Tokens(DID, "alice.test", f"access-{number}", f"refresh-{number}", url)  # type: ignore[arg-type]


class Sessions:
    """A server whose access tokens all have run out but the newest."""

    def __init__(self) -> None:
        self.number = 0
        self.refreshes = 0
        self.lock = threading.Lock()

    def __call__(self, one: Seen, _: int) -> tuple[int, dict[str, str], bytes]:
        bearer = one.headers.get("authorization", "").removeprefix("Bearer ")
        with self.lock:
            if one.path.endswith("refreshSession"):
                self.refreshes += 1
                if bearer != f"refresh-{self.number}":
                    return said({"error": "ExpiredToken"}, 400)
                self.number += 1
                made = {
                    "accessJwt": f"access-{self.number}",
                    "refreshJwt": f"refresh-{self.number}",
                }
                return said({"did": DID, "handle": "alice.test", **made})
            if self.number == 0 or bearer != f"access-{self.number}":
                return said({"error": "ExpiredToken"}, 400)
            return said({"as": bearer})


def test_many_callers_cause_one_refresh_and_the_pair_is_saved_before_use() -> None:
    sessions = Sessions()
    kept: list[Tokens | None] = []
    with (
        serve(sessions) as served,
        Client(served.url, tokens=tokens(0, served.url), save=kept.append, local=True) as client,
    ):
        answers: list[Any] = []
        threads = [
            threading.Thread(target=lambda: answers.append(client.query(PING))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert answers == [{"as": "access-1"}] * 8
    assert sessions.refreshes == 1
    assert [one.access for one in kept if one is not None] == ["access-1"]
    assert "access-1" not in repr(kept)
    assert "refresh-1" not in repr(kept)


def test_many_tasks_cause_one_refresh() -> None:
    sessions = Sessions()
    with serve(sessions) as served:

        async def run() -> None:
            async with (
                AsyncClient(served.url, tokens=tokens(0, served.url), local=True) as client,
                anyio.create_task_group() as group,
            ):
                for _ in range(8):
                    group.start_soon(client.query, PING)

        anyio.run(run)
    assert sessions.refreshes == 1


def test_a_session_that_cannot_be_refreshed_has_ended() -> None:
    sessions = Sessions()
    kept: list[Tokens | None] = []
    sessions.number = 5
    with (
        serve(sessions) as served,
        Client(served.url, tokens=tokens(0, served.url), save=kept.append, local=True) as client,
    ):
        with pytest.raises(XRPCError, match="ExpiredToken"):
            client.query(PING)
        assert client.tokens is None
    assert kept == [None]


def test_a_blob_that_is_another_file_is_refused() -> None:
    wanted = str(CID.of(b"right", codec=Codec.RAW))
    with (
        serve(lambda _one, _n: (200, {"Content-Type": "image/png"}, b"wrong")) as served,
        Client(served.url, local=True) as client,
        pytest.raises(HashMismatch),
    ):
        client.blob(DID, wanted)
    told = {"$type": "blob", "ref": {"$link": wanted}, "mimeType": "image/png", "size": 5}
    with (
        serve(lambda _one, _n: said({"blob": told})) as served,
        Client(served.url, local=True) as client,
        pytest.raises(HashMismatch),
    ):
        client.upload_blob(b"wrong", mime_type="image/png")
