from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from op_openbanking.errors import ConfigError, TransportError
from op_openbanking.flow import (
    AsyncTransport,
    Flow,
    Request,
    Response,
    Transport,
    arun,
    fetch,
    form,
    run,
    signature,
)

URL = "https://bank.example/accounts"


class Scripted:
    """Answers from a list; an exception in it is raised."""

    def __init__(self, *answers: Response | Exception) -> None:
        self.answers = list(answers)
        self.sent: list[Request] = []

    def send(self, request: Request) -> Response:
        self.sent.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Awaited:
    def __init__(self, inner: Scripted) -> None:
        self.inner = inner

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        return self.inner.send(request)


class BlockingSigner:
    alg = "PS256"
    kid = "k"

    def sign(self, data: bytes) -> bytes:
        return b"signed " + data


class AwaitedSigner:
    alg = "PS256"
    kid = "k"

    async def sign(self, data: bytes) -> bytes:
        await asyncio.sleep(0)
        return b"signed " + data


def _run(flow: Flow[Any], transport: Scripted) -> Any:
    kept: Transport = transport
    return run(flow, kept)


def _arun(flow: Flow[Any], transport: Scripted) -> Any:
    kept: AsyncTransport = Awaited(transport)
    return asyncio.run(arun(flow, kept))


Drive = Callable[[Flow[Any], Scripted], Any]
both = pytest.mark.parametrize("drive", [_run, _arun])


def conversation(signer: BlockingSigner | AwaitedSigner) -> Flow[bytes]:
    response = yield from fetch(Request("GET", URL))
    made = yield from signature(signer, response.body)
    again = yield from fetch(Request("POST", URL, body=made))
    return again.body


@both
def test_a_flow_is_answered_step_by_step(drive: Drive) -> None:
    transport = Scripted(Response(200, body=b"one"), Response(200, body=b"two"))
    assert drive(conversation(BlockingSigner()), transport) == b"two"
    assert [each.body for each in transport.sent] == [b"", b"signed one"]


def test_an_awaited_signer_serves_the_awaited_driver() -> None:
    transport = Scripted(Response(200, body=b"one"), Response(200, body=b"two"))
    assert _arun(conversation(AwaitedSigner()), transport) == b"two"


def test_an_awaited_signer_in_the_blocking_driver_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ConfigError, match="drive it with arun"):
        _run(conversation(AwaitedSigner()), Scripted(Response(200)))


@both
def test_a_flow_may_catch_an_error_of_a_step(drive: Drive) -> None:
    def patient() -> Flow[str]:
        try:
            yield from fetch(Request("GET", URL))
        except TransportError as error:
            yield from fetch(Request("GET", URL))
            return str(error)
        return "never"

    assert drive(patient(), Scripted(TransportError("gone"), Response(200))) == "gone"


@both
@pytest.mark.parametrize("error", [TransportError("gone"), ZeroDivisionError()])
def test_an_error_nobody_catches_passes_through_and_closes_the_flow(
    drive: Drive, error: Exception
) -> None:
    closed: list[bool] = []

    def careful() -> Flow[None]:
        try:
            yield from fetch(Request("GET", URL))
        finally:
            closed.append(True)

    with pytest.raises(type(error)):
        drive(careful(), Scripted(error))
    assert closed == [True]


@both
def test_an_error_of_the_flow_itself_ends_it_once(drive: Drive) -> None:
    def failing() -> Flow[None]:
        yield from fetch(Request("GET", URL))
        raise TransportError("mine")

    transport = Scripted(Response(200))
    with pytest.raises(TransportError, match="mine"):
        drive(failing(), transport)
    assert len(transport.sent) == 1


def test_a_driver_that_confuses_replies_is_told() -> None:
    flow = fetch(Request("GET", URL))
    next(flow)
    with pytest.raises(ConfigError, match="with a Response"):
        flow.send(b"octets")
    other = signature(BlockingSigner(), b"")
    next(other)
    with pytest.raises(ConfigError, match="with octets"):
        other.send(Response(200))


@pytest.mark.parametrize(
    "url",
    [
        "http://bank.example/",
        "ftp://bank.example/",
        "bank.example",
        "https://",
        "https://user:pw@bank.example/",
        "https://bank.example/#x",
        "https://bank.example/a b",
        "https://bank.example/ü",
        "https://bank.example/\n",
        "https://[::1",
        "https://bank.example:port/",
        "https://bank.example/" + "x" * 20_000,
    ],
)
def test_a_url_is_absolute_ascii_https(url: str) -> None:
    with pytest.raises(ConfigError):
        Request("GET", url)


def test_plain_http_reaches_loopback_alone() -> None:
    assert Request("GET", "http://127.0.0.1:8080/").url
    assert Request("GET", "http://localhost/").url


@pytest.mark.parametrize(
    "header", [("", "x"), ("a b", "x"), ("a:", "x"), ("a", "x\r\ny: z"), ("a", "ü"), ("a", "\0")]
)
def test_a_header_cannot_smuggle_another(header: tuple[str, str]) -> None:
    with pytest.raises(ConfigError, match="header"):
        Request("GET", URL, headers=(header,))


@pytest.mark.parametrize("method", ["get", "", "GET /", "G T"])
def test_a_method_is_upper_case_letters(method: str) -> None:
    with pytest.raises(ConfigError, match="method"):
        Request(method, URL)


def test_limits_are_positive() -> None:
    with pytest.raises(ConfigError, match="positive"):
        Request("GET", URL, timeout_s=0)
    with pytest.raises(ConfigError, match="positive"):
        Request("GET", URL, max_response_bytes=0)


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_payment_is_repeatable_only_under_a_fixed_key(method: str) -> None:
    with pytest.raises(ConfigError, match="idempotency key"):
        Request(method, URL, body=b"{}", idempotent=True)
    with pytest.raises(ConfigError, match="idempotency key"):
        Request(method, URL, headers=(("x-idempotency-key", ""),), idempotent=True)
    for name in ("X-Idempotency-Key", "Idempotency-Key"):
        assert Request(method, URL, headers=((name, "1"),), idempotent=True).idempotent


def test_a_named_certificate_implies_that_one_is_needed() -> None:
    assert Request("GET", URL, client_certificate="C" * 43).needs_client_certificate


def test_headers_are_found_without_case() -> None:
    response = Response(200, (("content-type", "Application/JSON; charset=utf-8"), ("a", "1")))
    assert response.header("A") == "1"
    assert response.header("b") is None
    assert response.media_type == "application/json"
    assert Response(200).media_type == ""


def test_secrets_of_a_request_stay_out_of_its_repr() -> None:
    request = form(URL, {"client_assertion": "secret"}, headers=(("authorization", "secret"),))
    assert request.body == b"client_assertion=secret"
    assert "secret" not in repr(request)
    assert "secret" not in repr(Response(200, (("location", "secret"),), b"secret"))


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": float("nan")},
        {"timeout_s": float("inf")},
        {"method": "\uff27\uff25\uff34"},
        {"headers": (("Content-Length", "2"),)},
        {"headers": (("transfer-encoding", "chunked"),)},
    ],
)
def test_a_request_leaves_no_room_for_another_reading(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Request(**{"method": "POST", "url": "https://bank.example/", **options})


def test_a_request_id_is_an_idempotency_key_only_where_the_caller_says_so() -> None:
    options: dict[str, Any] = {"headers": (("X-Request-ID", "1"),), "idempotent": True}
    with pytest.raises(ConfigError, match="idempotency key"):
        Request("POST", "https://bank.example/", **options)
    named = Request("POST", "https://bank.example/", idempotency_header="x-request-id", **options)
    assert named.idempotent
