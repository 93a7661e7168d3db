from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from op_openbanking.errors import MalformedBody
from op_openbanking.model.account import AccountKind, AccountStatus, Scheme
from op_openbanking.model.balance import BalanceKind
from op_openbanking.model.consent import ConsentPurpose, ConsentStatus
from op_openbanking.model.money import Direction
from op_openbanking.model.party import PartyKind
from op_openbanking.model.payment import PaymentKind, PaymentStatus, Rhythm
from op_openbanking.model.transaction import TransactionStatus
from op_openbanking.model.vrp import Alignment, Period
from op_openbanking.standards.base import encode
from op_openbanking.standards.uk_obie import mapping, payment_mapping

Body = Callable[..., object]
# The fixture reads the shape that the mapping takes; the registry knows it by name only.
# mypy: disable-error-code="arg-type,attr-defined"


def test_accounts_keep_their_identifiers_and_unknown_codes(body: Body) -> None:
    page = mapping.account_page(body("uk_obie/accounts", "accounts"))
    bills, other = page.items
    assert (bills.id, bills.name, bills.currency) == ("a-1", "Bills", "GBP")
    assert bills.kind is not None
    assert bills.kind.known is AccountKind.CURRENT
    assert bills.status is not None
    assert bills.status.known is AccountStatus.OPEN
    sort_code, own = bills.references
    assert sort_code.scheme.known is Scheme.SORT_CODE
    assert (sort_code.name, sort_code.secondary) == ("Ada Byron", "R-7")
    assert (own.scheme.text, own.scheme.known) == ("UK.Bank.Proprietary", None)
    assert other.kind is not None
    assert (other.kind.text, other.kind.known) == ("SomethingNew", None)
    assert b'"BankOwn":{"depth":[1.50,null]}' in encode(bills.raw)
    assert page.next_link is not None
    assert page.next_link.endswith("page=2")
    assert (page.total_pages, page.is_last) == (2, False)


def test_balances_have_their_sign_and_say_whether_credit_is_in(body: Body) -> None:
    owed, odd = mapping.balance_page(body("uk_obie/balances", "balances")).items
    assert (owed.amount.text, owed.credit_included) == ("-12.30", True)
    assert owed.kind.known is BalanceKind.INTERIM_AVAILABLE
    assert (odd.amount.text, odd.credit_included, odd.kind.known) == ("7", None, None)
    assert odd.at is not None
    assert odd.at.fraction_digits == 3


def test_transactions_say_direction_status_and_the_other_side(body: Body) -> None:
    page = mapping.transaction_page(body("uk_obie/transactions", "transactions"))
    coffee, pay = page.items
    assert (coffee.direction, coffee.amount.text) == (Direction.DEBIT, "10.00")
    assert coffee.signed.text == "-10.00"
    assert coffee.status.known is TransactionStatus.BOOKED
    assert (coffee.id, coffee.text, coffee.reference) == ("t-1", "Coffee", "Ref 1")
    assert (coffee.counterparty, coffee.counterparty_account) == ("Shop", "GB33BUKB20201555555555")
    assert coffee.booked is not None
    assert coffee.booked.instant == datetime(2024, 5, 1, 9, tzinfo=UTC)
    assert (pay.id, pay.counterparty, pay.amount.text) == (None, "Market", "3.10000")
    assert (pay.status.text, pay.status.known) == ("Held", None)
    assert pay.key.startswith("fp:")
    assert page.is_last


@pytest.mark.parametrize(
    ("old", "by", "path"),
    [
        ('"10.00"', '"1e3"', "$.Data.Transaction[0].Amount"),
        ('"10.00"', '"NaN"', "$.Data.Transaction[0].Amount"),
        ('"3.10000"', '"\\u0663"', "$.Data.Transaction[1].Amount"),
        ('"10.00","Currency":"GBP"', '"10.00","Currency":"gbp"', "$.Data.Transaction[0].Amount"),
        ("2024-05-02T00:00:00Z", "2024-02-30", "$.Data.Transaction[0].ValueDateTime"),
        ('"Debit"', '"DEBIT"', "$.Data.Transaction[0].CreditDebitIndicator"),
    ],
)
def test_a_value_of_no_meaning_is_refused_with_its_place(
    body: Body, old: str, by: str, path: str
) -> None:
    with pytest.raises(MalformedBody) as caught:
        mapping.transaction_page(body("uk_obie/transactions", "transactions", old=old, by=by))
    assert (caught.value.standard, caught.value.path) == ("uk-obie", path)


def test_a_party_has_its_legal_name(body: Body) -> None:
    (ada,) = mapping.party_page(body("uk_obie/party", "party")).items
    assert (ada.id, ada.name, ada.phones) == ("p-1", "Ada Byron", ("+44-1", "+44-2"))
    assert ada.kind is not None
    assert ada.kind.known is PartyKind.JOINT


def test_consents_have_one_life(body: Body) -> None:
    reading = mapping.account_consent(
        body("uk_obie/account-access-consent", "account-access-consent")
    )
    assert (reading.purpose, reading.status.known) == (
        ConsentPurpose.ACCOUNTS,
        ConsentStatus.ACTIVE,
    )
    assert reading.is_usable(datetime(2024, 7, 1, tzinfo=UTC))
    assert not reading.is_usable(datetime(2024, 9, 1, tzinfo=UTC))
    paying = mapping.payment_consent(
        body("uk_obie/domestic-payment-consent", "domestic-payment-consent")
    )
    assert (paying.purpose, paying.status.known) == (
        ConsentPurpose.PAYMENT,
        ConsentStatus.CONSUMED,
    )


def test_a_payment_keeps_the_initiation_that_was_consented_to(body: Body) -> None:
    paid = payment_mapping.payment(body("uk_obie/domestic-payment", "domestic-payment"))
    assert (paid.id, paid.consent_id) == ("d-1", "c-2")
    assert paid.status.known is PaymentStatus.IN_SETTLEMENT
    assert paid.order is not None
    assert paid.order.kind is PaymentKind.SINGLE
    assert paid.order.amount is not None
    assert paid.order.amount.text == "10"
    assert (paid.order.reference, paid.order.creditor_name) == ("Order 7", "Shop Ltd")
    assert encode(paid.order.raw).endswith(b'"BankOwn":"kept"}')


@pytest.mark.parametrize(
    ("resource", "kind", "international"),
    [
        ("domestic-scheduled-payment-request", PaymentKind.FUTURE_DATED, False),
        ("domestic-standing-order-request", PaymentKind.RECURRING, False),
        ("international-payment-request", PaymentKind.SINGLE, True),
        ("file-payment-request", PaymentKind.BULK, False),
    ],
)
def test_an_order_is_of_the_kind_of_its_resource(
    body: Body, resource: str, kind: PaymentKind, international: bool
) -> None:
    request = body(f"uk_obie/{resource}", resource)
    order = payment_mapping.payment_order(request.data.initiation)
    assert (order.kind, order.international) == (kind, international)
    match kind:
        case PaymentKind.FUTURE_DATED:
            assert str(order.execute) == "2024-06-01T00:00:00Z"
        case PaymentKind.RECURRING:
            assert order.recurrence is not None
            assert order.recurrence.frequency.known is Rhythm.MONTHLY
            assert order.recurrence.count == 12
        case PaymentKind.BULK:
            assert (order.count, order.control_sum) == (3, "10.50")
        case PaymentKind.SINGLE:
            assert order.amount is not None
            assert order.amount.currency == "USD"


@pytest.mark.parametrize(
    ("frequency", "known"),
    [
        ("EvryDay", Rhythm.DAILY),
        ("IntrvlWkDay:01:03", Rhythm.WEEKLY),
        ("IntrvlWkDay:2:3", Rhythm.EVERY_TWO_WEEKS),
        ("IntrvlMnthDay:12:-01", Rhythm.ANNUAL),
        ("IntrvlMnthDay:05:01", None),
        ("QtrDay:ENGLISH", Rhythm.QUARTERLY),
        ("WkInMnthDay:01:05", Rhythm.MONTHLY),
        ("NotKnown", None),
        ("IntrvlDay:15", None),
        ("", None),
    ],
)
def test_frequencies_are_read_leniently_and_kept(frequency: str, known: Rhythm | None) -> None:
    code = payment_mapping.rhythm(frequency)
    assert (code.text, code.known) == (frequency, known)


def test_a_count_that_is_no_count_is_refused(body: Body) -> None:
    name = "domestic-standing-order-request"
    request = body(f"uk_obie/{name}", name, old='"12"', by='"\\u0661"')
    with pytest.raises(MalformedBody, match="NumberOfPayments"):
        payment_mapping.payment_order(request.data.initiation)


def test_a_mandate_has_its_limits_and_its_end(body: Body) -> None:
    mandate = payment_mapping.vrp_mandate(
        body("uk_obie/domestic-vrp-consent", "domestic-vrp-consent")
    )
    assert mandate.maximum.amount == Decimal(100)
    (limit,) = mandate.limits
    assert (limit.period.known, limit.alignment.known) == (Period.MONTH, Alignment.CALENDAR)
    assert limit.amount.text == "200.00"
    assert mandate.kinds == ("UK.OBIE.VRPType.Sweeping",)
    assert mandate.consent.purpose is ConsentPurpose.VRP
    assert not mandate.consent.is_usable(datetime(2025, 6, 1, tzinfo=UTC))
    assert mandate.creditor is not None
    assert mandate.creditor.name == "Pot"


def test_a_payment_under_a_mandate_names_it(body: Body) -> None:
    paid = payment_mapping.vrp_payment(body("uk_obie/domestic-vrp", "domestic-vrp"))
    assert (paid.id, paid.consent_id, paid.amount.text) == ("vp-1", "v-1", "5.00")
    assert paid.status.known is PaymentStatus.CREDITOR_CREDITED
    assert (paid.reference, paid.end_to_end_id) == ("Save", "e")


@pytest.mark.parametrize(
    ("resource", "kind", "status"),
    [
        ("domestic-scheduled-payment", PaymentKind.FUTURE_DATED, PaymentStatus.DEBTOR_SETTLED),
        ("domestic-standing-order", PaymentKind.RECURRING, PaymentStatus.REJECTED),
        ("international-payment", PaymentKind.SINGLE, PaymentStatus.PENDING),
        ("international-scheduled-payment", PaymentKind.FUTURE_DATED, PaymentStatus.CANCELLED),
        ("international-standing-order", PaymentKind.RECURRING, PaymentStatus.PENDING),
        ("file-payment", PaymentKind.BULK, None),
    ],
)
def test_every_payment_has_its_id_order_and_status(
    body: Body, resource: str, kind: PaymentKind, status: PaymentStatus | None
) -> None:
    paid = payment_mapping.payment(body(f"uk_obie/{resource}", resource))
    assert (paid.id, paid.consent_id, paid.status.known) == ("id-1", "c-1", status)
    assert paid.order is not None
    assert paid.order.kind is kind
    assert paid.order.creditor is None


@pytest.mark.parametrize(("old", "member"), [('"2"', "NumberOfTransactions")])
def test_a_file_with_a_count_that_is_none_is_refused(body: Body, old: str, member: str) -> None:
    with pytest.raises(MalformedBody, match=member):
        payment_mapping.payment(body("uk_obie/file-payment", "file-payment", old=old, by='"-2"'))


def test_parties_and_consents_for_funds(body: Body) -> None:
    nameless, trust = mapping.party_page(body("uk_obie/parties", "parties")).items
    assert (nameless.name, nameless.kind) == (None, None)
    assert trust.kind is not None
    assert (trust.kind.text, trust.kind.known) == ("Trust", None)
    name = "funds-confirmation-consent"
    consent = mapping.funds_consent(body(f"uk_obie/{name}", name))
    assert (consent.purpose, consent.status.known) == (
        ConsentPurpose.FUNDS,
        ConsentStatus.REJECTED,
    )
