from __future__ import annotations

import pytest

from op_openbanking.banks.profile import BankProfile, Limits, Security
from op_openbanking.errors import AccessDenied, ConfigError, StateMismatch
from op_openbanking.fapi.pending_memory import MemoryPendingStore
from op_openbanking.flow import Request, Response, run
from op_openbanking.model.consent import ConsentPurpose
from op_openbanking.stores import records
from op_openbanking.stores.memory import MemoryStore
from op_openbanking.stores.records import ConsentRecord
from op_openbanking.traits.link import CertificateOnly, Link

BASE = "https://bank.example/v1"


class Bank:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    def send(self, request: Request) -> Response:
        self.requests.append(request)
        return self.answers.pop(0)


class Time:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def link(time: Time) -> Link:
    profile = BankProfile(
        name="plain",
        title="No tokens",
        standard="berlin-group",
        version="1.3.12",
        services={"xs2a": BASE},
        security=Security(profile="none"),
        limits=Limits(timeout_s=7, max_response_bytes=99),
    )
    caller = CertificateOnly("C" * 43, time, bytes)
    return Link(profile, caller, MemoryStore(), MemoryPendingStore(clock=time))


def test_a_caller_with_a_certificate_alone_sends_no_token(link: Link) -> None:
    bank = Bank(Response(200, (), b"{}"))
    request = link.request("GET", link.url("xs2a", "/accounts/{account_id}", account_id="a/1"))
    assert run(link.exchange(request, meanings={}), bank).status == 200
    (sent,) = bank.requests
    assert sent.url == f"{BASE}/accounts/a%2F1"
    assert sent.header("authorization") is None
    assert (sent.client_certificate, sent.timeout_s, sent.max_response_bytes) == ("C" * 43, 7, 99)


def test_an_answer_that_is_not_good_is_an_error_there_too(link: Link) -> None:
    request = link.request("GET", link.url("xs2a", "/accounts"))
    with pytest.raises(AccessDenied):
        run(link.exchange(request, meanings={}), Bank(Response(403)))


def test_what_needs_tokens_is_refused_without_a_registered_client(link: Link) -> None:
    with pytest.raises(ConfigError, match="registered client"):
        run(link.as_client("accounts"), Bank())


def test_only_what_may_be_repeated_is_called_so(link: Link) -> None:
    url = link.url("xs2a", "/payments")
    assert link.request("GET", url).idempotent
    assert not link.request("POST", url).idempotent
    keyed = link.request(
        "POST", url, headers=(("x-request-id", "1"),), idempotency_header="x-request-id"
    )
    assert keyed.idempotent
    with pytest.raises(ConfigError):
        link.request("POST", url, idempotency_header="x-request-id")


def test_a_service_that_the_profile_lacks_is_named(link: Link) -> None:
    with pytest.raises(ConfigError, match="pisp"):
        link.url("pisp", "/payments")


def test_a_redirect_lands_once(link: Link) -> None:
    link.await_landing("state-1", "c-1", expires_at_s=2000)
    assert link.landed("state-1") == "c-1"
    for state in ("state-1", "state-2"):
        with pytest.raises(StateMismatch):
            link.landed(state)


def test_redirects_that_came_to_nothing_are_forgotten(link: Link, time: Time) -> None:
    link.await_landing("old", "c-1", expires_at_s=1500)
    time.now_s = 1600
    link.await_landing("new", "c-2", expires_at_s=2000)
    assert [key for key, _ in link.store.scan(records.LANDING)] == ["new"]


def test_what_is_left_out_of_an_amendment_stays(link: Link) -> None:
    record = ConsentRecord(
        id="c-1",
        purpose=ConsentPurpose.ACCOUNTS,
        product="p",
        request=b"asked",
        answer=b"first",
        created_at_s=1,
    )
    link.remember(record)
    with pytest.raises(ConfigError, match="already"):
        link.remember(record)
    link.amend("c-1", facts={"a": "1"})
    link.amend("c-1", answer=b"second", facts={"b": "2"})
    link.amend("c-1", authorised_at_s=5)
    held = link.consent("c-1")
    assert (held.request, held.answer, held.authorised_at_s) == (b"asked", b"second", 5)
    assert held.facts == {"a": "1", "b": "2"}
