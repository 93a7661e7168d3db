from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from op_openbanking.errors import (
    AccessDenied,
    CapabilityMissing,
    ConfigError,
    ConsentRequired,
    LimitExceeded,
    SignatureInvalid,
    StateConflict,
)
from op_openbanking.fapi.client import CertificateBinding
from op_openbanking.flow import Request, Response
from op_openbanking.model.account import AccountReference, Scheme
from op_openbanking.model.code import Code
from op_openbanking.model.consent import ConsentStatus
from op_openbanking.model.money import Money
from op_openbanking.model.payment import PaymentKind, PaymentStatus, Recurrence
from op_openbanking.model.vrp import Alignment, Period, PeriodicLimit
from op_openbanking.model.when import When
from op_openbanking.standards.registry import standard
from op_openbanking.standards.uk_obie import file
from op_openbanking.standards.uk_obie.client import reads
from op_openbanking.standards.uk_obie.client.aisp import OBIEAccounts
from op_openbanking.standards.uk_obie.client.files import OBIEFiles, file_hash
from op_openbanking.standards.uk_obie.client.pisp import OBIEPayments
from op_openbanking.testing.obie_bank import BASE
from op_openbanking.traits.aisp import Resource
from op_openbanking.traits.wish import (
    AccountAccess,
    FundsAccess,
    NewMandate,
    NewPayment,
    NewVRPPayment,
    Presence,
    Window,
)

GBP = "GBP"
PAYEE = AccountReference(Code("", Scheme.SORT_CODE), "20000019825731", name="Ada Byron")
START = When.parse("2027-02-01T10:00:00+00:00")


def pounds(text: str) -> Money:
    return Money.parse(text, GBP)


def payment(**changes: Any) -> NewPayment:
    members: dict[str, Any] = {"amount": pounds("10.00"), "creditor": PAYEE, "reference": "Rent"}
    return NewPayment(**{**members, **changes})


def mandate() -> NewMandate:
    limit = PeriodicLimit(
        Code("Month", Period.MONTH), Code("Consent", Alignment.CONSENT), pounds("100.00")
    )
    return NewMandate(
        maximum=pounds("50.00"),
        limits=(limit,),
        kinds=("UK.OBIE.VRPType.Sweeping",),
        creditor=PAYEE,
    )


def test_reads_accounts_from_consent_to_revocation(judged: Any) -> None:
    world, ours = judged
    asked = world.run(ours.ask(AccountAccess(until=datetime(2028, 1, 1, tzinfo=UTC))))
    assert asked.status.known is ConsentStatus.AWAITING_AUTHORISATION
    consent = world.authorise(ours, asked.id)
    assert consent.status.known is ConsentStatus.ACTIVE

    names = [account.name for account in world.all(ours.accounts(consent.id))]
    assert names == ["Bills", "Holidays"]
    (balance,) = world.all(ours.balances(consent.id, "a-1"))
    assert balance.amount == pounds("-12.30")
    window = Window(since=date(2024, 1, 1), until=datetime(2025, 1, 1, tzinfo=UTC))
    rows = world.all(ours.transactions(consent.id, "a-1", window=window))
    assert [row.id for row in rows] == [f"t-{n}" for n in range(60)]
    (body,) = world.all(ours.read(consent.id, reads.BENEFICIARIES, account_id="a-1"))
    assert body.data.beneficiary == []

    ended = world.run(ours.revoke(consent.id))
    assert ended.status.known is ConsentStatus.REVOKED_BY_CLIENT
    assert world.run(ours.revoke(consent.id)).status == ended.status
    assert world.run(ours.consent(consent.id)).status == ended.status
    with pytest.raises(ConsentRequired):
        world.all(ours.accounts(consent.id))


PRODUCTS = {
    "single": (payment(), PaymentKind.SINGLE),
    "future": (payment(execute=START), PaymentKind.FUTURE_DATED),
    "recurring": (
        payment(recurrence=Recurrence(Code("EvryDay", None), first=START, count=3)),
        PaymentKind.RECURRING,
    ),
    "international": (payment(currency_of_transfer="USD"), PaymentKind.SINGLE),
    "international-future": (
        payment(currency_of_transfer="USD", execute=START),
        PaymentKind.FUTURE_DATED,
    ),
    "international-recurring": (
        payment(
            currency_of_transfer="USD", recurrence=Recurrence(Code("EvryDay", None), first=START)
        ),
        PaymentKind.RECURRING,
    ),
}


@pytest.mark.parametrize("product", PRODUCTS)
def test_pays_by_every_product(judged: Any, product: str) -> None:
    world, ours = judged
    wish, kind = PRODUCTS[product]
    consent_id = world.granted(ours, wish)
    made = world.run(ours.pay(consent_id))
    assert made.order is not None
    assert made.order.kind is kind
    assert made.order.amount == pounds("10.00")
    assert world.run(ours.payment(consent_id)).id == made.id
    assert world.run(ours.consent(consent_id)).status.known is ConsentStatus.CONSUMED
    assert list(world.bank.payments) == [made.id]


def test_the_initiation_is_repeated_byte_for_byte(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, payment(amount=pounds("010.10")))
    world.run(ours.pay(consent_id))
    posts = [request for request in world.bank.requests if request.method == "POST"]
    asked, paid = posts[0].body, posts[-1].body
    initiation = asked[asked.index(b'"Initiation":') : asked.index(b',"Risk"') - 1]
    assert initiation in paid
    assert b'"Amount":"10.10"' in initiation


def test_funds_of_a_payment_are_confirmed_before_it(judged: Any) -> None:
    world, ours = judged
    consent_id = world.granted(ours, payment())
    assert world.run(ours.payment_funds(consent_id)).available
    scheduled = world.granted(ours, payment(execute=START))
    with pytest.raises(CapabilityMissing, match="payment-funds"):
        world.run(ours.payment_funds(scheduled))


def test_pays_a_file(judged: Any) -> None:
    world, ours = judged
    octets = b"{}"  # the published file knows no other JSON there
    request = file.FileConsent(
        data=file.FileConsentData(
            initiation=file.FileInitiation(
                file_type="UK.OBIE.PaymentInitiation.3.1", file_hash=file_hash(octets)
            )
        )
    )
    consent = world.run(ours.traits.pisp.ask(request))
    assert consent.status.known is ConsentStatus.AWAITING_UPLOAD
    with pytest.raises(ConfigError, match="hash"):
        world.run(ours.upload(consent.id, b"[]", media_type="application/json"))
    uploaded = world.run(ours.upload(consent.id, octets, media_type="application/json"))
    assert uploaded.status.known is ConsentStatus.AWAITING_AUTHORISATION
    world.authorise(ours, consent.id)
    made = world.run(ours.pay(consent.id))
    assert made.order.kind is PaymentKind.BULK


def test_confirms_funds(judged: Any) -> None:
    world, ours = judged
    consent_id = world.granted(ours, FundsAccess(PAYEE))
    assert world.run(ours.funds(consent_id, pounds("10.00"), reference="till 1")).available
    assert not world.run(ours.funds(consent_id, pounds("9999.00"), reference="till 1")).available


def test_pays_under_a_mandate(judged: Any) -> None:
    world, ours = judged
    consent_id = world.granted(ours, mandate())
    assert world.run(ours.mandate(consent_id)).maximum == pounds("50.00")
    assert world.run(ours.mandate_funds(consent_id, pounds("5.00"), reference="x")).available
    first = world.run(ours.pay_under(consent_id, NewVRPPayment(pounds("5.00"), "sweep-1")))
    again = world.run(ours.pay_under(consent_id, NewVRPPayment(pounds("5.00"), "sweep-1")))
    second = world.run(ours.pay_under(consent_id, NewVRPPayment(pounds("5.00"), "sweep-2")))
    assert first.id == again.id != second.id
    assert len(world.bank.payments) == 2
    assert world.run(ours.payment_under(consent_id, "sweep-2")).id == second.id
    assert world.run(ours.payment_under(consent_id, "sweep-1")).status.known is (
        PaymentStatus.IN_SETTLEMENT
    )
    with pytest.raises(LimitExceeded) as caught:
        world.run(ours.pay_under(consent_id, NewVRPPayment(pounds("50.01"), "sweep-3")))
    assert caught.value.code == "UK.OBIE.Rules.FailsControlParameters"
    world.run(ours.revoke(consent_id))
    with pytest.raises(ConsentRequired):
        world.run(ours.pay_under(consent_id, NewVRPPayment(pounds("5.00"), "sweep-4")))


def test_a_name_of_a_payment_stands_for_one_payment(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, mandate())
    world.run(ours.pay_under(consent_id, NewVRPPayment(pounds("5.00"), "sweep-1")))
    with pytest.raises(ConfigError, match="one payment"):
        world.run(ours.pay_under(consent_id, NewVRPPayment(pounds("6.00"), "sweep-1")))


def test_subscribes_to_events(judged: Any) -> None:
    world, ours = judged
    events = ours.events()
    name = "urn:uk:org:openbanking:events:resource-update"
    subscription = world.run(events.subscribe("https://tpp.example/events", (name,)))
    world.run(events.unsubscribe(subscription))


def test_a_refused_signature_of_the_bank_is_never_used(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, payment())
    world.bank.signs = False
    with pytest.raises(SignatureInvalid) as caught:
        world.run(ours.payment_funds(consent_id))
    assert caught.value.check == "obie-unsigned"
    lenient = ours.profile.signing.__class__(
        mode="obie-jws", issuer="0015800001TPPxxAAA/software-1", answers="ignored"
    )
    assert world.run(world.ours(signing=lenient).payment_funds(consent_id)).available


def test_an_owner_who_is_there_is_stated_and_never_invented(world: Any) -> None:
    ours = world.ours(quirks={"financial_id": "F1"})
    consent_id = world.granted(ours, AccountAccess())
    world.all(ours.accounts(consent_id))
    sent = world.bank.requests[-1]
    assert sent.header("x-fapi-customer-ip-address") is None
    assert sent.header("x-fapi-financial-id") == "F1"
    at = datetime(2026, 12, 1, 12, tzinfo=UTC)
    world.all(ours.accounts(consent_id, presence=Presence("192.0.2.1", "Firefox", at)))
    sent = world.bank.requests[-1]
    assert sent.header("x-fapi-customer-ip-address") == "192.0.2.1"
    assert sent.header("x-customer-user-agent") == "Firefox"
    assert sent.header("x-fapi-auth-date") == "Tue, 01 Dec 2026 12:00:00 GMT"


def test_permissions_that_every_bank_refuses_are_not_sent(world: Any) -> None:
    ours = world.ours()
    before = len(world.bank.requests)
    for permissions in (
        ("ReadTransactionsBasic",),
        ("ReadAccountsBasic", "ReadTransactionsDebits"),
    ):
        with pytest.raises(ConfigError, match="Permissions"):
            world.run(ours.ask(AccountAccess(permissions=permissions)))
    assert len(world.bank.requests) == before


def test_a_payment_that_nobody_authorised_is_not_made(world: Any) -> None:
    ours = world.ours()
    consent = world.run(ours.ask(payment()))
    with pytest.raises(ConsentRequired):
        world.run(ours.pay(consent.id))
    assert world.bank.payments == {}
    world.authorise(ours, consent.id)
    world.run(ours.pay(consent.id))
    assert len(world.bank.payments) == 1


def test_a_consent_cannot_serve_another_service(world: Any) -> None:
    ours = world.ours()
    reading = world.granted(ours, AccountAccess())
    for flow in (
        ours.pay(reading),
        ours.mandate(reading),
        ours.upload(reading, b"", media_type="x"),
    ):
        with pytest.raises(ConfigError, match=r"consent"):
            world.run(flow)


def test_a_consent_used_up_elsewhere_is_a_conflict(world: Any) -> None:
    ours = world.ours()
    consent_id = world.granted(ours, payment())
    world.bank.consents[consent_id].status = "Consumed"
    with pytest.raises(StateConflict):
        world.run(ours.pay(consent_id))


def test_documents_that_are_no_json_come_as_octets(world: Any) -> None:
    ours = world.ours()
    aisp, files, pisp = ours.traits.aisp, ours.traits.files, ours.traits.pisp
    assert isinstance(aisp, OBIEAccounts)
    assert isinstance(files, OBIEFiles)
    assert isinstance(pisp, OBIEPayments)
    reading = world.granted(ours, AccountAccess())
    document = world.run(aisp.statement_file(reading, "a-1", "s-1"))
    assert document == b"accounts/a-1/statements/s-1/file"
    assert world.bank.requests[-1].header("accept") == "application/pdf"
    report = world.run(files.report("p-1", media_type="text/csv"))
    assert report == b"file-payments/p-1/report-file"
    uploaded = world.run(files.uploaded("c-1", media_type="text/csv"))
    assert uploaded == b"file-payment-consents/c-1/file"


def test_the_path_of_a_payment_through_the_schemes_is_read(judged: Any) -> None:
    world, ours = judged
    consent_id = world.granted(ours, payment())
    made = world.run(ours.pay(consent_id))
    (row,) = world.run(ours.traits.pisp.details(consent_id)).data.payment_status
    assert row.payment_transaction_id == made.id


@pytest.mark.parametrize("version", ["3.1.10", "3.1.11"])
def test_every_resource_is_one_of_the_published_files(messages: Any, version: str) -> None:
    files = messages(f"obie/v{version}/account-info-openapi.yaml")
    resources = [each for each in vars(reads).values() if isinstance(each, Resource)]
    assert len(resources) == 22
    shapes = standard("uk-obie")
    for resource in resources:
        path = resource.path.format(account_id="a-1", item_id="s-1")
        operation = files.operation(Request("GET", f"{BASE}/aisp{path}"))
        assert operation.template.count("{") == resource.path.count("{")
        assert shapes.shape(resource.name, version=version) is resource.shape


def test_a_renewed_certificate_gets_tokens_of_its_own(world: Any) -> None:
    consent_id = world.granted(world.ours(), AccountAccess())
    world.client = replace(world.client, binding=CertificateBinding("D" * 43))
    assert len(world.all(world.ours().accounts(consent_id))) == 2
    assert world.bank.requests[-1].client_certificate == "D" * 43


def test_a_clients_own_refused_token_has_nothing_to_do_with_the_owner(world: Any) -> None:
    ours = world.ours()
    world.bank.faults = [Response(401)]
    with pytest.raises(AccessDenied):
        world.run(ours.ask(AccountAccess()))
    assert world.run(ours.ask(AccountAccess())).id
