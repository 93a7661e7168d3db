from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from op_openbanking.errors import MalformedBody
from op_openbanking.model.account import AccountKind, Scheme
from op_openbanking.model.balance import BalanceKind
from op_openbanking.model.consent import ConsentStatus
from op_openbanking.model.money import Direction
from op_openbanking.model.party import PartyKind
from op_openbanking.model.payment import PaymentKind, PaymentStatus, Rhythm
from op_openbanking.model.transaction import TransactionStatus
from op_openbanking.model.when import When
from op_openbanking.standards.cdr import mapping as cdr
from op_openbanking.standards.fdx import mapping as fdx
from op_openbanking.standards.sgfindex.decoder import Decoder, MyinfoDecoder
from op_openbanking.standards.stet import mapping as stet

Body = Callable[..., object]
# mypy: disable-error-code="arg-type,attr-defined"


def test_stet_names_cards_by_another_identifier(body: Body) -> None:
    page = stet.account_page(body("stet/accounts", "accounts"))
    current, card = page.items
    assert current.references[0].scheme.known is Scheme.IBAN
    assert (card.references[0].scheme.text, card.references[0].identification) == (
        "CPAN",
        "XXXX1234",
    )
    assert card.kind is not None
    assert card.kind.known is AccountKind.CARD
    assert page.next_link == "accounts?page=2"


def test_stet_reads_remittance_information_of_both_forms(body: Body) -> None:
    page = stet.transaction_page(body("stet/transactions", "transactions"), account_id="r-1")
    rent, future = page.items
    assert (rent.text, rent.direction, rent.id) == ("Virement loyer", Direction.DEBIT, "AF5T2")
    assert (future.text, future.status.known) == ("later form", TransactionStatus.PLANNED)


def test_stet_refuses_a_direction_that_it_cannot_know(body: Body) -> None:
    odd = body("stet/transactions", "transactions", old='"DBIT"', by='"D"')
    with pytest.raises(MalformedBody) as caught:
        stet.transaction_page(odd, account_id="r-1")
    assert caught.value.path == "$.transactions[0].creditDebitIndicator"


def test_stet_balances_and_orders(body: Body) -> None:
    (balance,) = stet.balance_page(body("stet/balances", "balances"), account_id="r-1").items
    assert (str(balance.amount), balance.kind.known) == ("123.45 EUR", BalanceKind.CLOSING_BOOKED)
    order = stet.payment_order(body("stet/payment-request", "payment-request"))
    assert (order.kind, order.creditor_name) == (PaymentKind.RECURRING, "Shop")
    assert order.recurrence is not None
    assert order.recurrence.frequency.known is Rhythm.MONTHLY
    assert str(order.recurrence.last) == "2025-06-01"
    assert (order.end_to_end_id, order.reference) == ("e-1", "Order 7")


def test_stet_makes_one_bulk_order_of_several_transfers(body: Body) -> None:
    transfer = '{"paymentId":{"instructionId":"i-1","endToEndId":"e-1"}'
    more = (
        '{"paymentId":{"instructionId":"i-2","endToEndId":"e-2"},"remittanceInformation":[],'
        '"instructedAmount":{"currency":"EUR","amount":"1"}},'
    )
    several = body("stet/payment-request", "payment-request", old=transfer, by=more + transfer)
    order = stet.payment_order(several)
    assert (order.kind, len(order.orders)) == (PaymentKind.BULK, 2)
    assert [inner.end_to_end_id for inner in order.orders] == ["e-2", "e-1"]


def test_cdr_balances_follow_their_account_and_its_purses(body: Body) -> None:
    page = cdr.balance_page(body("cdr/balances", "balances"))
    assert [(b.kind.text, str(b.amount)) for b in page.items] == [
        ("currentBalance", "-10.00 AUD"),
        ("availableBalance", "90.00 AUD"),
        ("purses", "5.00 USD"),
    ]


def test_cdr_accounts_are_open_unless_they_say_otherwise(body: Body) -> None:
    page = cdr.account_page(body("cdr/accounts", "accounts"))
    (account,) = page.items
    assert account.status is not None
    assert str(account.status) == "open"
    assert (account.id, page.total_pages, page.is_last) == ("a-1", 2, False)


def test_cdr_transactions_have_their_sign_in_the_amount(body: Body) -> None:
    coffee, pay = cdr.transaction_page(body("cdr/transactions", "transactions")).items
    assert (coffee.direction, str(coffee.amount)) == (Direction.DEBIT, "4.50 AUD")
    assert (coffee.reference, coffee.counterparty) == (None, "Cafe")
    assert (pay.signed.text, pay.amount.currency, pay.id) == ("100.00", "NZD", None)
    assert pay.status.known is TransactionStatus.PENDING


def test_cdr_customers_and_arrangements(body: Body) -> None:
    ada = cdr.party(body("cdr/customer", "customer"))
    assert ada.name == "Ada Augusta Byron"
    assert ada.kind is not None
    assert ada.kind.known is PartyKind.PERSON
    consent = cdr.arrangement(
        arrangement_id="arr-1",
        status=ConsentStatus.ACTIVE,
        expires=When.parse("2025-05-01T00:00:00Z"),
        scopes=("bank:accounts.basic:read",),
    )
    assert consent.is_usable(datetime(2025, 4, 30, tzinfo=UTC))
    assert not consent.is_usable(datetime(2025, 5, 2, tzinfo=UTC))


def test_fdx_accounts_of_both_versions_look_alike(body: Body) -> None:
    six = body("fdx/accounts", "accounts")
    checking, card = fdx.account_page(six).items
    assert checking.kind is not None
    assert checking.kind.known is AccountKind.CURRENT
    assert card.kind is not None
    assert card.kind.known is AccountKind.CARD
    assert fdx.account_page(six).next_key == "k2"
    five = body("fdx/accounts-5", "accounts", version="5.3.2")
    assert [account.id for account in fdx.account_page(five).items] == ["a-1", "a-2"]
    assert fdx.account_page(five).next_key == "2"
    ((_, _), (category, loan)) = fdx.categorised(five)
    (owed,) = fdx.balances(loan, category=category)
    assert str(owed.amount) == "-250000.00 USD"


def test_fdx_amounts_are_exact(body: Body) -> None:
    (_, checking), (category, card) = fdx.categorised(body("fdx/accounts", "accounts"))
    current, available = fdx.balances(checking, category="DEPOSIT_ACCOUNT")
    assert (current.amount.text, available.amount.text) == ("10.00", "0")
    (owed,) = fdx.balances(card, category=category)
    assert owed.amount.text == "-123456789012345.123456"


def test_fdx_direction_is_the_memo_or_the_sign(body: Body) -> None:
    transactions = body("fdx/transactions", "transactions")
    coffee, note = fdx.transaction_page(transactions, account_id="a-1", currency="USD").items
    assert (coffee.direction, str(coffee.amount)) == (Direction.DEBIT, "4.50 USD")
    assert (note.direction, str(note.amount)) == (Direction.DEBIT, "0.10 USD")
    assert note.booked is not None
    assert note.booked.is_date
    signed = fdx.transaction_page(transactions, account_id="a-1", currency="USD", signed=True)
    assert signed.items[0].direction is Direction.CREDIT


@pytest.mark.parametrize("number", ["1e99999", "1e18", "1e-19", "1" * 19, "-1e9999", "1e-9999"])
def test_fdx_refuses_a_number_beyond_all_money(body: Body, number: str) -> None:
    odd = body("fdx/transactions", "transactions", old="4.50", by=number)
    with pytest.raises(MalformedBody) as caught:
        fdx.transaction_page(odd, account_id="a-1", currency="USD")
    assert caught.value.path == "$.transactions[0].amount"


def test_fdx_grants_are_consents(body: Body) -> None:
    grant = fdx.consent(body("fdx/consent", "consent"))
    assert grant.permissions == ("ACCOUNT_BASIC", "TRANSACTIONS")
    assert grant.is_usable(datetime(2025, 4, 30, tzinfo=UTC))


def test_myinfo_items_become_snapshots(body: Body) -> None:
    decoder: Decoder = MyinfoDecoder()
    octets = (
        b'{"cpfbalances":{"oa":{"value":1581.48},"ma":{"value":0},"lastupdated":"2024-05-01"},'
        b'"hdbownership":[{"outstandingloanbalance":{"value":50000.00}},{"unavailable":true}]}'
    )
    cpf, hdb = decoder.decode(octets)
    assert [(h.name, str(h.amount)) for h in cpf.holdings] == [
        ("oa", "1581.48 SGD"),
        ("ma", "0 SGD"),
    ]
    assert str(cpf.holdings[0].as_of) == "2024-05-01"
    assert str(hdb.holdings[0].amount) == "-50000.00 SGD"
    assert decoder.decode(b'{"cpfbalances":{"unavailable":true},"hdbownership":null}') == []
    with pytest.raises(MalformedBody, match="lastupdated"):
        decoder.decode(b'{"cpfbalances":{"lastupdated":"soon"}}')


def test_stet_payments_say_why_they_stand_where_they_stand(body: Body) -> None:
    paid = stet.payment(body("stet/payment", "payment"), payment_id="asked")
    assert (paid.id, paid.status.known, paid.reason) == ("pr-1", PaymentStatus.REJECTED, "AM18")
    assert paid.order is not None
    assert (paid.order.kind, paid.order.international) == (PaymentKind.SINGLE, True)
    assert paid.order.reference == "RF18"


def test_stet_refuses_an_order_of_nothing_and_an_account_without_a_name(body: Body) -> None:
    octets = '"creditTransferTransaction":[{"paymentId":{"instructionId":"i-1","endToEndId":"e-1"}'
    empty = body(
        "stet/payment-request",
        "payment-request",
        old=octets,
        by=f'"creditTransferTransaction":[],"own":[{octets.partition("[")[2]}',
    )
    with pytest.raises(MalformedBody, match="creditTransferTransaction"):
        stet.payment_order(empty)
    nameless = body(
        "stet/accounts",
        "accounts",
        old='"resourceId":"r-2","accountId":{"other":',
        by='"accountId":{"others":',
    )
    with pytest.raises(MalformedBody) as caught:
        stet.account_page(nameless)
    assert caught.value.path == "$.accounts[1]"


def test_cdr_details_show_the_number_in_clear(body: Body) -> None:
    detail = body("cdr/account", "account")
    account = cdr.account(detail.data)
    assert account.kind is not None
    assert account.kind.known is AccountKind.DEPOSIT
    assert [r.identification for r in account.references] == ["06200012341234"]
    company = cdr.party(body("cdr/customer-detail", "customer-detail"))
    assert company.name == "Engines Pty Ltd"
    assert company.kind is not None
    assert company.kind.known is PartyKind.ORGANISATION


def test_fdx_holders_are_people_or_companies(body: Body) -> None:
    ada, engines, nobody = fdx.holders(body("fdx/contact", "contact"))
    assert (ada.name, engines.name, nobody.name) == ("Ada Byron", "Engines LLC", None)
    assert (ada.emails, ada.phones) == (("ada@example.org",), ("5550100",))


def test_fdx_transactions_come_out_of_their_wrappers(body: Body) -> None:
    wrapped = body("fdx/transactions-5", "transactions", version="5.0.0")
    page = fdx.transaction_page(wrapped, account_id="a-1", currency="USD")
    assert [row.signed.text for row in page.items] == ["-1", "2.00"]
    assert page.next_link == "/accounts/a-1/transactions?offset=2"
    assert not page.is_last


def test_fdx_refuses_a_direction_that_it_cannot_know(body: Body) -> None:
    odd = body("fdx/transactions", "transactions", old='"DEBIT"', by='"DEBT"')
    with pytest.raises(MalformedBody, match="debitCreditMemo"):
        fdx.transaction_page(odd, account_id="a-1", currency="USD")
