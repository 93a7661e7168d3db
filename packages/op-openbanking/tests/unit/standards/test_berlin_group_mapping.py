from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from op_openbanking.errors import MalformedBody
from op_openbanking.model.account import AccountKind, Scheme
from op_openbanking.model.balance import BalanceKind
from op_openbanking.model.consent import ConsentPurpose, ConsentStatus
from op_openbanking.model.money import Direction
from op_openbanking.model.payment import PaymentKind, PaymentStatus, Rhythm
from op_openbanking.model.transaction import TransactionStatus
from op_openbanking.standards.base import encode
from op_openbanking.standards.berlin_group import mapping

Body = Callable[..., object]
# mypy: disable-error-code="arg-type"


def test_accounts_without_a_resource_id_go_by_their_identifier(body: Body) -> None:
    giro, multi = mapping.account_page(body("berlin_group/accounts", "accounts")).items
    assert (giro.id, giro.name) == ("r-1", "Giro")
    assert giro.references[0].scheme.known is Scheme.IBAN
    assert giro.kind is not None
    assert giro.kind.known is AccountKind.CURRENT
    assert (multi.id, multi.currency) == ("FR7612345987650123456789014", "XXX")
    assert multi.kind is not None
    assert multi.kind.known is None
    assert b'"bankOwn":{"a":1.0}' in encode(multi.raw)


def test_an_account_without_any_identifier_is_refused(body: Body) -> None:
    lacking = body(
        "berlin_group/accounts", "accounts", old='"iban":"FR7612345987650123456789014",', by=""
    )
    with pytest.raises(MalformedBody) as caught:
        mapping.account_page(lacking)
    assert caught.value.path == "$.accounts[1]"


def test_balances_carry_their_own_sign(body: Body) -> None:
    page = mapping.balance_page(body("berlin_group/balances", "balances"), account_id="r-1")
    owed, old = page.items
    assert (owed.amount.text, owed.credit_included) == ("-5768.2", False)
    assert old.kind.known is BalanceKind.EXPECTED
    assert old.at is not None
    assert old.at.is_date


def test_the_list_that_a_row_is_in_is_its_status(body: Body) -> None:
    page = mapping.transaction_page(
        body("berlin_group/transactions", "transactions"), account_id="r-1"
    )
    booked, pending, planned = page.items
    assert [row.status.known for row in page.items] == [
        TransactionStatus.BOOKED,
        TransactionStatus.PENDING,
        TransactionStatus.PLANNED,
    ]
    assert (booked.direction, booked.amount.text) == (Direction.DEBIT, "256.67")
    assert (booked.counterparty, booked.counterparty_account) == ("Shop", "NL76RABO0359400371")
    assert (pending.direction, pending.counterparty) == (Direction.CREDIT, "Employer")
    assert (pending.text, pending.id) == ("Pay May", None)
    assert planned.signed.text == "-15"
    assert page.next_link == "/v1/accounts/r-1/transactions?p=2"


def test_an_amount_in_another_notation_is_refused(body: Body) -> None:
    odd = body("berlin_group/transactions", "transactions", old='"343.01"', by='"343,01"')
    with pytest.raises(MalformedBody) as caught:
        mapping.transaction_page(odd, account_id="r-1")
    assert caught.value.path == "$.transactions.pending[0].transactionAmount"


def test_a_consent_ends_after_its_last_day(body: Body) -> None:
    consent = mapping.consent(body("berlin_group/consent", "consent"), consent_id="c-1")
    assert consent.permissions == ("balances", "transactions")
    assert consent.is_usable(datetime(2024, 11, 1, 23, tzinfo=UTC))
    assert not consent.is_usable(datetime(2024, 11, 2, tzinfo=UTC))
    made = mapping.created_consent(body("berlin_group/consent-created", "consent-created"))
    assert made.status.known is ConsentStatus.AWAITING_AUTHORISATION
    assert made.moved_to(consent.status).status.known is ConsentStatus.ACTIVE


def test_a_consent_for_funds_is_one_of_its_own_purpose(body: Body) -> None:
    made = mapping.funds_consent(
        body("berlin_group/funds-consent-created", "funds-consent-created")
    )
    assert (made.id, made.purpose) == ("f-1", ConsentPurpose.FUNDS)
    held = mapping.funds_consent(
        body("berlin_group/funds-consent", "funds-consent"), consent_id="f-1"
    )
    assert (held.id, held.status.known) == ("f-1", ConsentStatus.ACTIVE)


def test_payments_are_of_the_kind_that_their_members_say(body: Body) -> None:
    later = mapping.payment_order(body("berlin_group/payment-request", "payment-request"))
    assert (later.kind, str(later.execute)) == (PaymentKind.FUTURE_DATED, "2024-06-01")
    name = "periodic-payment-request"
    periodic = mapping.payment_order(body(f"berlin_group/{name}", name))
    assert periodic.recurrence is not None
    assert periodic.recurrence.frequency.known is Rhythm.EVERY_TWO_MONTHS
    assert periodic.creditor is not None
    assert (periodic.creditor.scheme.text, periodic.creditor.identification) == ("own", "77")
    name = "bulk-payment-request"
    bulk = mapping.payment_order(body(f"berlin_group/{name}", name), international=True)
    assert (bulk.kind, bulk.count, bulk.international) == (PaymentKind.BULK, 2, True)
    assert [str(order.amount) for order in bulk.orders] == ["1.00 EUR", "2.00 EUR"]


def test_a_payment_without_an_id_of_its_own_has_the_one_asked_for(body: Body) -> None:
    made = mapping.payment(body("berlin_group/payment-created", "payment-created"))
    assert (made.id, made.status.known) == ("p-1", PaymentStatus.RECEIVED)
    asked = mapping.payment(body("berlin_group/payment-status", "payment-status"), payment_id="p-1")
    assert (asked.id, asked.status.known) == ("p-1", PaymentStatus.CREDITOR_CREDITED)
