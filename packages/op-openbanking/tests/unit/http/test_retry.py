from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, strategies as st

from op_openbanking.errors import ConfigError, OpenBankingError, ProtocolViolation, TransportError
from op_openbanking.flow import Request, Response
from op_openbanking.http.retry import RETRYABLE_STATUSES, RetryPolicy, retry_after_s
from op_openbanking.http.retrying import AsyncRetryingTransport, RetryingTransport

URL = "https://bank.example/payments"
GET = Request("GET", URL, idempotent=True)
PAYMENT = Request("POST", URL, body=b"{}")
KEYED = Request("POST", URL, headers=(("x-idempotency-key", "fixed"),), body=b"{}", idempotent=True)
DOWN = Response(503)


def wait(
    request: Request, outcome: Response | OpenBankingError, *, attempt: int = 1, **options: float
) -> float | None:
    return RetryPolicy().wait_s(
        request,
        outcome,
        attempt=attempt,
        elapsed_s=options.get("elapsed_s", 0.0),
        now_s=1_000_000.0,
        rng=random.Random(1),
    )


@pytest.mark.parametrize("status", sorted(RETRYABLE_STATUSES))
def test_an_idempotent_request_is_repeated_after_a_passing_failure(status: int) -> None:
    assert wait(GET, Response(status)) is not None
    assert wait(KEYED, Response(status)) is not None


@pytest.mark.parametrize("status", [200, 201, 302, 400, 401, 403, 404, 409, 500, 501])
def test_every_other_status_is_an_answer(status: int) -> None:
    assert wait(GET, Response(status)) is None


@pytest.mark.parametrize("status", sorted(RETRYABLE_STATUSES))
def test_a_payment_without_a_key_is_never_repeated_after_an_answer(status: int) -> None:
    assert wait(PAYMENT, Response(status, (("retry-after", "1"),))) is None


def test_a_payment_is_repeated_only_if_nothing_was_sent() -> None:
    assert wait(PAYMENT, TransportError("no connection")) is not None
    assert wait(PAYMENT, TransportError("no answer", retryable=False)) is None


def test_a_dpop_proof_is_sent_once() -> None:
    proof = (("DPoP", "a.b.c"), ("x-idempotency-key", "fixed"))
    get = Request("GET", URL, headers=proof, idempotent=True)
    assert wait(get, DOWN) is None
    assert wait(get, TransportError("lost", retryable=True)) is None
    payment = Request("POST", URL, headers=proof, body=b"{}")
    assert wait(payment, TransportError("no connection", retryable=True)) is not None


def test_a_refusal_is_never_repeated() -> None:
    assert wait(GET, ProtocolViolation("odd")) is None


def test_attempts_and_time_are_bounded() -> None:
    assert wait(GET, DOWN, attempt=2) is not None
    assert wait(GET, DOWN, attempt=3) is None
    assert wait(GET, DOWN, elapsed_s=119.5) is None


def test_retry_after_is_a_lower_bound_with_an_upper_one() -> None:
    assert wait(GET, Response(429, (("retry-after", "30"),))) == 30
    assert wait(GET, Response(429, (("retry-after", "61"),))) is None
    assert wait(GET, TransportError("keys", retry_after_s=12)) == 12


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("Mon, 12 Jan 1970 13:46:50 GMT", 10.0),
        ("Mon, 12 Jan 1970 13:46:30 GMT", 0.0),
        ("-1", None),
        ("soon", None),
        ("", None),
        ("9" * 30, None),
        ("\u0661", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(text: str, seconds: float | None) -> None:
    response = Response(429, (("retry-after", text),))
    assert retry_after_s(response, now_s=1_000_000.0) == seconds


@given(st.text(max_size=60))
def test_any_retry_after_is_read_or_ignored(text: str) -> None:
    found = retry_after_s(Response(429, (("retry-after", text),)), now_s=0.0)
    assert found is None or found >= 0


@given(st.integers(1, 100), st.integers(0, 2**32))
def test_a_wait_is_at_least_one_second_and_at_most_the_cap(attempt: int, seed: int) -> None:
    policy = RetryPolicy(max_attempts=1000, max_total_s=1e9)
    found = policy.wait_s(GET, DOWN, attempt=attempt, elapsed_s=0, now_s=0, rng=random.Random(seed))
    assert found is not None
    assert 1.0 <= found <= 20.0


def test_a_policy_makes_sense() -> None:
    with pytest.raises(ConfigError):
        RetryPolicy(max_attempts=0)
    with pytest.raises(ConfigError):
        RetryPolicy(base_s=-1)


class Line:
    """Answers from a list, a clock that moves when somebody sleeps."""

    def __init__(self, *outcomes: Response | Exception) -> None:
        self.outcomes = list(outcomes)
        self.sent: list[Request] = []
        self.slept: list[float] = []
        self.now_s = 0.0

    def send(self, request: Request) -> Response:
        self.sent.append(request)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds

    def clock(self) -> float:
        return self.now_s


class AsyncLine:
    def __init__(self, line: Line) -> None:
        self.line = line

    async def send(self, request: Request) -> Response:
        return self.line.send(request)

    async def sleep(self, seconds: float) -> None:
        self.line.sleep(seconds)


def _blocking(line: Line, request: Request) -> Response:
    rng = random.Random(1)
    transport = RetryingTransport(line, rng=rng, clock=line.clock, sleep=line.sleep)
    return transport.send(request)


def _awaited(line: Line, request: Request) -> Response:
    outer = AsyncLine(line)
    transport = AsyncRetryingTransport(
        outer, rng=random.Random(1), clock=line.clock, sleep=outer.sleep
    )
    return asyncio.run(transport.send(request))


both = pytest.mark.parametrize("send", [_blocking, _awaited])


@both
def test_the_same_request_is_sent_again_byte_for_byte(send: object) -> None:
    assert callable(send)
    line = Line(DOWN, TransportError("cut"), Response(201))
    assert send(line, KEYED).status == 201
    assert line.sent == [KEYED, KEYED, KEYED]
    assert len(line.slept) == 2
    assert min(line.slept) >= 1.0


@both
def test_the_last_outcome_is_handed_on(send: object) -> None:
    assert callable(send)
    assert send(Line(DOWN, DOWN, DOWN), GET).status == 503
    with pytest.raises(TransportError, match="third"):
        send(Line(DOWN, DOWN, TransportError("third")), GET)


@both
def test_a_payment_that_may_have_arrived_is_sent_once(send: object) -> None:
    assert callable(send)
    line = Line(TransportError("no answer", retryable=False), Response(201))
    with pytest.raises(TransportError):
        send(line, PAYMENT)
    assert len(line.sent) == 1
    assert line.slept == []
