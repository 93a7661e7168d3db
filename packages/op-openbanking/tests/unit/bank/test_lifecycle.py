"""What goes wrong between a client and a bank, and what is left afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as changed

from op_openbanking.bank import Bank
from op_openbanking.banks.profile import ConsentRules, Signing
from op_openbanking.errors import (
    BankUnavailable,
    CapabilityMissing,
    ConfigError,
    ConsentRequired,
    IllegalTransition,
    OutcomeUnknown,
    ProtocolViolation,
    ReauthenticationRequired,
    ResourceUnknown,
    SecurityError,
    SignatureInvalid,
    StateMismatch,
    TransportError,
)
from op_openbanking.flow import AsyncTransport, Request, Response, arun, run
from op_openbanking.model.account import AccountReference, Scheme
from op_openbanking.model.code import Code
from op_openbanking.model.consent import ConsentStatus
from op_openbanking.model.money import Money
from op_openbanking.standards.uk_obie.client import reads
from op_openbanking.stores.records import SubmissionState
from op_openbanking.stores.sqlite import SQLiteStore
from op_openbanking.traits.capability import Operation
from op_openbanking.traits.consent import Poll
from op_openbanking.traits.link import CertificateOnly
from op_openbanking.traits.pages import aeach
from op_openbanking.traits.wish import AccountAccess, NewPayment

PAYEE = AccountReference(Code("", Scheme.SORT_CODE), "20000019825731")
PAYMENT = NewPayment(Money.parse("10.00", "GBP"), PAYEE)
DAY_S = 86_400.0


def test_a_lost_answer_is_recovered_by_asking_and_pays_once(world: Any, tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "bank.db") as first:
        world.store = first
        consent_id = world.granted(world.ours(), PAYMENT)
        world.bank.cuts = 1
        with pytest.raises(OutcomeUnknown) as caught:
            world.run(world.ours().pay(consent_id))
    assert caught.value.resumable
    assert len(world.bank.payments) == 1

    with SQLiteStore(tmp_path / "bank.db") as second:
        world.store = second
        (open_,) = world.ours().unfinished()
        assert (open_.key, open_.state) == (caught.value.record, SubmissionState.DOUBTFUL)
        made = world.run(world.ours().pay(consent_id))
        assert list(world.bank.payments) == [made.id]
        assert list(world.ours().unfinished()) == []
    paid = [r for r in world.bank.requests if r.url.endswith("/domestic-payments")]
    assert len({(r.header("x-idempotency-key"), r.body) for r in paid}) == 1
    assert len(paid) == 2


def test_a_payment_in_doubt_is_not_sent_again_after_the_banks_day(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, PAYMENT)
    world.bank.cuts = 1
    with pytest.raises(OutcomeUnknown):
        world.run(ours.pay(consent_id))
    sent = len(world.bank.requests)
    world.now_s += DAY_S
    with pytest.raises(OutcomeUnknown) as caught:
        world.run(ours.pay(consent_id))
    assert not caught.value.resumable
    assert len(world.bank.requests) == sent
    assert world.run(ours.consent(consent_id)).status.known is ConsentStatus.CONSUMED


def test_a_payment_made_is_known_without_asking_again(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, PAYMENT)
    made = world.run(ours.pay(consent_id))
    sent = len(world.bank.requests)
    assert world.run(ours.pay(consent_id)).id == made.id
    assert len(world.bank.requests) == sent


def test_a_bank_that_fails_leaves_a_payment_in_doubt_and_a_read_to_be_repeated(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, PAYMENT)
    world.bank.faults = [Response(503, (), b"<html>")]
    with pytest.raises(OutcomeUnknown) as caught:
        world.run(ours.pay(consent_id))
    assert isinstance(caught.value.__cause__, BankUnavailable)
    reading = world.granted(ours, AccountAccess())
    world.bank.faults = [Response(503)]
    with pytest.raises(BankUnavailable) as failed:
        world.all(ours.accounts(reading))
    assert failed.value.retryable


@pytest.mark.parametrize("now_s", [1_800_000_000.0, 1_800_000_000])
def test_a_token_that_has_ended_is_renewed_before_the_call(world: Any, now_s: float) -> None:
    world.now_s = now_s
    ours = world.ours()
    consent_id = world.granted(ours, AccountAccess())
    # The server rotates refresh tokens: each renewal lives on the one before.
    for _ in range(3):
        world.now_s += 3600
        sent = len(world.bank.requests)
        assert len(world.all(ours.accounts(consent_id))) == 2
        assert len(world.bank.requests) == sent + 1


def test_a_consent_ended_while_its_token_is_renewed_stays_ended(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, AccountAccess())
    world.now_s += 3600

    class Meanwhile:
        def send(self, request: Request) -> Response:
            answer: Response = world.bank.send(request)
            if b"grant_type=refresh_token" in request.body:
                world.run(ours.revoke(consent_id))
            return answer

    with pytest.raises(ConsentRequired, match="ended while"):
        run(ours.accounts(consent_id).next(), Meanwhile())
    assert world.store.get("token", consent_id) is None


def test_a_token_refused_early_is_renewed_once_and_then_the_refusal_stands(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, AccountAccess())
    world.bank.faults = [Response(401)]
    assert len(world.all(ours.accounts(consent_id))) == 2
    world.bank.faults = [Response(401), Response(401)]
    with pytest.raises(ConsentRequired):
        world.all(ours.accounts(consent_id))
    assert world.bank.faults == []


def test_a_consent_that_the_owner_revoked_is_found_so(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, AccountAccess())
    world.bank.revoke(consent_id)
    with pytest.raises(ConsentRequired):
        world.all(ours.accounts(consent_id))
    assert world.run(ours.consent(consent_id)).status.known is ConsentStatus.REVOKED_BY_USER


def test_a_bank_asks_for_authentication_again_after_its_own_days(world: Any) -> None:
    ours = world.ours(consent=ConsentRules(reauthenticate_after_days=3))
    consent_id = world.granted(ours, AccountAccess())
    world.now_s += 3 * DAY_S
    sent = len(world.bank.requests)
    with pytest.raises(ReauthenticationRequired, match="3 days"):
        world.all(ours.accounts(consent_id))
    assert len(world.bank.requests) == sent
    assert len(world.all(world.ours().accounts(consent_id))) == 2
    world.authorise(ours, consent_id)
    assert len(world.all(ours.accounts(consent_id))) == 2


def test_the_longest_consent_is_the_banks(world: Any) -> None:
    ours = world.ours(consent=ConsentRules(longest_days=30))
    consent = world.run(ours.ask(AccountAccess()))
    assert consent.expires is not None
    assert consent.expires.instant is not None
    assert consent.expires.instant.timestamp() == world.now_s + 30 * DAY_S - 60


def test_an_answer_counts_once_and_for_one_browser(world: Any) -> None:
    ours = world.ours()
    consent = world.run(ours.ask(AccountAccess()))
    step = world.run(ours.authorise(consent.id, user_agent="a"))
    landed = world.bank.visit(step.url, consent.id)
    with pytest.raises(StateMismatch) as caught:
        world.run(ours.land(landed, user_agent="b"))
    assert caught.value.check == "user-agent"
    ours = world.ours()
    step = world.run(ours.authorise(consent.id, user_agent="a"))
    landed = world.bank.visit(step.url, consent.id)
    world.run(ours.land(landed, user_agent="a"))
    with pytest.raises(StateMismatch):
        world.run(ours.land(landed, user_agent="a"))


def test_the_id_token_of_another_consent_is_refused(world: Any) -> None:
    ours = world.ours()
    wanted, other = (world.run(ours.ask(AccountAccess())) for _ in range(2))
    step = world.run(ours.authorise(wanted.id, user_agent="a"))
    landed = world.bank.visit(step.url, other.id)
    with pytest.raises(SecurityError):
        world.run(ours.land(landed, user_agent="a"))
    with pytest.raises(ConsentRequired):
        world.all(ours.accounts(wanted.id))


REFUSALS = {
    "cancellation": lambda ours: ours.cancel("c-1"),
    "statements": lambda ours: ours.read("c-1", reads.STATEMENTS, account_id="a-1"),
    "lacks": lambda ours: ours.funds("c-1", Money.parse("1", "GBP"), reference="x"),
    "international": lambda ours: ours.ask(replace(PAYMENT, currency_of_transfer="USD")),
    "proceed": lambda ours: ours.proceed("c-1", Poll()),
    "events": lambda ours: ours.events(Operation.EVENT_POLL),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_lacking_is_refused_before_a_flow_exists(world: Any, name: str) -> None:
    ours = world.ours(
        offers=(), lacks={"funds-confirmation": "not here", "international-payment": "not here"}
    )
    before = len(world.bank.requests), len(world.bank.server.requests)
    with pytest.raises(CapabilityMissing) as caught:
        REFUSALS[name](ours)
    assert (caught.value.standard, caught.value.bank) == ("uk-obie", "memory")
    assert (len(world.bank.requests), len(world.bank.server.requests)) == before


class Altering:
    """Changes the body of every answer of the resources."""

    def __init__(self, inner: Any, old: bytes, new: bytes) -> None:
        self._inner, self._old, self._new = inner, old, new

    def send(self, request: Request) -> Response:
        response: Response = self._inner.send(request)
        if "/open-banking/" not in request.url:
            return response
        return replace(response, body=response.body.replace(self._old, self._new))


def test_an_altered_answer_is_refused_and_a_payment_stays_in_doubt(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, PAYMENT)
    world.transport = Altering(world.bank, b"AcceptedSettlementInProcess", b"Rejected")
    with pytest.raises(OutcomeUnknown) as caught:
        world.run(ours.pay(consent_id))
    assert isinstance(caught.value.__cause__, SignatureInvalid)
    assert caught.value.resumable
    world.transport = world.bank
    assert world.run(ours.pay(consent_id)).id in world.bank.payments


def test_a_consent_that_moves_as_none_can_is_refused(world: Any) -> None:
    ours = world.ours()
    consent = world.run(ours.ask(AccountAccess()))
    world.bank.consents[consent.id].status = "Rejected"
    assert world.run(ours.consent(consent.id)).status.known is ConsentStatus.REJECTED
    world.bank.consents[consent.id].status = "Authorised"
    with pytest.raises(IllegalTransition):
        world.run(ours.consent(consent.id))


def test_an_answer_about_another_consent_is_refused(world: Any) -> None:
    ours = world.ours()
    consent = world.run(ours.ask(AccountAccess()))
    world.transport = Altering(world.bank, consent.id.encode(), b"other")
    with pytest.raises(ProtocolViolation, match="another consent"):
        world.run(ours.consent(consent.id))


def test_a_client_of_another_bank_or_kind_is_refused(world: Any) -> None:
    with pytest.raises(ConfigError, match="another bank"):
        world.ours(issuer="https://other.example")
    with pytest.raises(ConfigError, match="wants fapi2-security"):
        world.ours(security=changed(world.ours().profile.security, profile="fapi2-security"))
    alone = CertificateOnly("C" * 43, world.clock, bytes)
    with pytest.raises(ConfigError, match="the client has none"):
        Bank(world.ours().profile, alone, store=world.store)


def test_signing_that_this_standard_does_not_know_is_refused(world: Any) -> None:
    for signing in (
        Signing(mode="http-signature"),
        Signing(mode="obie-jws"),
        Signing(mode="obie-jws", issuer="x"),
    ):
        with pytest.raises(ConfigError):
            world.ours(signing=signing)


def test_a_consent_that_nobody_asked_for_is_refused(world: Any) -> None:
    ours = world.ours()
    for flow in (ours.consent("c-1"), ours.pay("c-1"), ours.authorise("c-1", user_agent="a")):
        with pytest.raises(ConfigError, match="no consent"):
            world.run(flow)


@pytest.mark.parametrize("account_id", ["..", ".", ""])
def test_an_id_that_means_another_place_is_refused(world: Any, account_id: str) -> None:
    ours = world.ours()
    with pytest.raises(ConfigError, match="no identifier"):
        ours.balances("c-1", account_id)


@pytest.mark.parametrize("account_id", ["a/../../x", "a?b=c", "é", "%2e%2e"])
def test_an_id_cannot_leave_its_place_in_the_path(world: Any, account_id: str) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, AccountAccess())
    with pytest.raises(ResourceUnknown):
        world.all(ours.balances(consent_id, account_id))
    assert world.bank.requests[-1].url.count("/") == 8


def test_tokens_show_in_no_repr(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, AccountAccess())
    token = (world.bank.requests[-1].header("authorization") or "").split()[1]
    shown = repr((ours, world.store, ours.traits, ours.consent(consent_id)))
    assert token not in shown


async def test_the_same_flows_are_driven_awaited(world: Any) -> None:
    class Awaited:
        async def send(self, request: Request) -> Response:
            answer: Response = world.bank.send(request)
            return answer

    transport: AsyncTransport = Awaited()
    ours = world.ours()
    consent = await arun(ours.ask(AccountAccess()), transport)
    step: Any = await arun(ours.authorise(consent.id, user_agent="a"), transport)
    landed = world.bank.visit(step.url, consent.id)
    await arun(ours.land(landed, user_agent="a"), transport)
    rows = [row async for row in aeach(ours.transactions(consent.id, "a-1"), transport)]
    assert len(rows) == 60


def test_a_transport_that_fails_keeps_what_was_read(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, AccountAccess())
    pages = ours.transactions(consent_id, "a-1")
    first = world.run(pages.next())
    world.bank.faults = [TransportError("cut")]
    with pytest.raises(TransportError):
        world.run(pages.rest())
    assert len(first.items) == 25
    assert len(world.run(pages.rest())) == 35
