"""Payments against a bank that loses answers, fails, refuses and forgets, with crashes between."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from op_openbanking.errors import (
    AccessDenied,
    BankError,
    BankUnavailable,
    ConfigError,
    ConsentRequired,
    OpenBankingError,
    OutcomeUnknown,
    RateLimited,
    RequestRefused,
    SignatureInvalid,
    TransportError,
)
from op_openbanking.flow import Flow, Request, Response, fetch, run
from op_openbanking.stores import records
from op_openbanking.stores.memory import MemoryStore
from op_openbanking.stores.records import Submission, SubmissionState
from op_openbanking.traits.submission import submit

WINDOW_S = 100.0
URL = "https://bank.example/payments"

_FAULTS: dict[str, Callable[[], OpenBankingError]] = {
    "cut": lambda: TransportError("cut", retryable=False),
    "cut, said to be retryable": lambda: TransportError("cut", retryable=True),
    "5xx": lambda: BankUnavailable("no", retryable=True, status=503),
    "429": lambda: RateLimited("slow"),
    "401": lambda: ConsentRequired("no", status=401),
    "403": lambda: AccessDenied("no", status=403),
    "400": lambda: RequestRefused("no", status=400),
    "forged": lambda: SignatureInvalid("no", check="x", section="y"),
}


class Bank:
    """Recognises a key for `WINDOW_S` from the first time it acted under it."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.paid: list[tuple[str, bytes]] = []
        self.fault = ""
        self.acts_first = False
        self.crash = False
        self._known: dict[str, tuple[float, bytes]] = {}

    def _failure(self) -> OpenBankingError:
        return _FAULTS[self.fault]()

    def send(self, request: Request) -> Response:
        key = request.header("x-idempotency-key") or ""
        if self.fault and not self.acts_first:
            raise self._failure()
        if self.crash and not self.acts_first:
            raise KeyboardInterrupt
        held = self._known.get(key)
        if held is not None and self.now_s - held[0] < WINDOW_S:
            assert held[1] == request.body, "the same key with other octets"
        else:
            self._known[key] = (self.now_s, request.body)
            self.paid.append((key, request.body))
        if self.fault:
            raise self._failure()
        if self.crash:
            raise KeyboardInterrupt
        return Response(201, (), b"paid:" + request.body)


class Payments(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.bank = Bank()
        self.store = MemoryStore()
        self.results: dict[str, bytes] = {}
        self.keys = 0

    def attempt(self, name: str) -> Response:
        self.keys += 1
        wanted = Submission(
            key=name,
            idempotency_key=f"key-{self.keys}",
            url=URL,
            content_type="application/json",
            body=name.encode(),
            created_at_s=self.bank.now_s,
        )

        def send(submission: Submission) -> Flow[Response]:
            headers = (("x-idempotency-key", submission.idempotency_key),)
            return (
                yield from fetch(
                    Request("POST", URL, headers=headers, body=submission.body, idempotent=True)
                )
            )

        flow = submit(self.store, wanted, send, window_s=WINDOW_S, now_s=self.bank.now_s)
        return run(flow, self.bank)

    def answered(self, name: str) -> bool:
        held = records.load(self.store, Submission, name)
        return held is not None and held.state is SubmissionState.ANSWERED

    def now_in_doubt(self, name: str) -> bool:
        held = records.load(self.store, Submission, name)
        if held is None or held.state is not SubmissionState.DOUBTFUL:
            return False
        return self.bank.now_s - held.created_at_s >= WINDOW_S

    names = st.sampled_from(["a", "b"])

    @rule(name=names)
    def pay(self, name: str) -> None:
        self.bank.fault, self.bank.crash = "", False
        late = self.now_in_doubt(name)
        if late:
            with pytest.raises(OutcomeUnknown) as caught:
                self.attempt(name)
            assert not caught.value.resumable
            return
        answer = self.attempt(name)
        assert answer.body == b"paid:" + name.encode()
        assert self.results.setdefault(name, answer.body) == answer.body

    @rule(name=names, fault=st.sampled_from(sorted(_FAULTS)), acts_first=st.booleans())
    def pay_badly(self, name: str, fault: str, acts_first: bool) -> None:
        refuses = fault in {"429", "401", "403", "400"}
        # A bank that refuses did not act: what it did earlier is in its past.
        self.bank.fault, self.bank.acts_first = fault, acts_first and not refuses
        self.bank.crash = False
        paid = len(self.bank.paid)
        if self.answered(name):
            assert self.attempt(name).status == 201
            return
        with pytest.raises(OpenBankingError) as caught:
            self.attempt(name)
        assert len(self.bank.paid) == paid or isinstance(caught.value, OutcomeUnknown)

    @rule(name=names, acts_first=st.booleans())
    def crash(self, name: str, acts_first: bool) -> None:
        self.bank.fault, self.bank.crash, self.bank.acts_first = "", True, acts_first
        try:
            self.attempt(name)
        except KeyboardInterrupt:
            self.store = restarted(self.store)
        except (OutcomeUnknown, BankError):
            pass
        else:
            assert self.answered(name)

    @rule(seconds=st.sampled_from([1.0, 60.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.bank.now_s += seconds

    @invariant()
    def nothing_is_paid_twice(self) -> None:
        bodies = [body for _, body in self.bank.paid]
        assert len(bodies) == len(set(bodies))

    @invariant()
    def what_was_paid_is_known_or_in_doubt(self) -> None:
        for _, body in self.bank.paid:
            held = records.load(self.store, Submission, body.decode())
            assert held is not None
            assert held.state in {SubmissionState.ANSWERED, SubmissionState.DOUBTFUL}


def restarted(store: MemoryStore) -> MemoryStore:
    fresh = MemoryStore()
    for key, octets in store.scan(records.SUBMISSION):
        fresh.swap(records.SUBMISSION, key, before=None, after=octets)
    return fresh


TestPayments = Payments.TestCase
TestPayments.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_the_machine_finds_a_client_that_makes_a_fresh_key_for_each_attempt() -> None:
    machine = Payments()
    machine.pay_badly("a", "cut", acts_first=True)
    held = records.load(machine.store, Submission, "a")
    assert held is not None
    assert held.state is SubmissionState.DOUBTFUL
    machine.store.swap(
        records.SUBMISSION, "a", before=machine.store.get(records.SUBMISSION, "a"), after=None
    )
    machine.pay("a")
    assert [body for _, body in machine.bank.paid] == [b"a", b"a"]


def test_a_second_attempt_sends_the_first_key_and_octets() -> None:
    machine = Payments()
    machine.pay_badly("a", "cut", acts_first=True)
    machine.pay("a")
    assert machine.bank.paid == [("key-1", b"a")]
    assert machine.results == {"a": b"paid:a"}


def test_a_refused_repetition_of_a_doubtful_payment_is_no_refusal() -> None:
    machine = Payments()
    machine.pay_badly("a", "cut", acts_first=True)
    machine.bank.fault, machine.bank.acts_first = "400", False
    with pytest.raises(OutcomeUnknown) as caught:
        machine.attempt("a")
    assert not caught.value.resumable
    assert isinstance(caught.value.__cause__, RequestRefused)


def test_after_the_banks_window_a_doubtful_payment_is_not_sent_again() -> None:
    machine = Payments()
    machine.pay_badly("a", "cut", acts_first=True)
    machine.bank.now_s += WINDOW_S
    machine.pay("a")
    assert machine.results == {}
    assert len(machine.bank.paid) == 1


def test_a_clear_refusal_lets_the_next_attempt_have_a_fresh_key() -> None:
    machine = Payments()
    machine.pay_badly("a", "400", acts_first=False)
    machine.pay("a")
    assert machine.bank.paid == [("key-2", b"a")]


def test_an_error_before_sending_leaves_nothing_in_doubt() -> None:
    machine = Payments()

    def send(submission: Submission) -> Flow[Response]:
        yield from ()
        raise ConfigError("no signer")

    wanted = Submission(
        key="a",
        idempotency_key="k",
        url=URL,
        content_type="x",
        body=b"a",
        created_at_s=0,
    )
    with pytest.raises(ConfigError):
        run(submit(machine.store, wanted, send, window_s=WINDOW_S, now_s=0), machine.bank)
    held = records.load(machine.store, Submission, "a")
    assert held is not None
    assert held.state is SubmissionState.OPEN
