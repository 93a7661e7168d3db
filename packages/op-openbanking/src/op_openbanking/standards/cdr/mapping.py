"""Australia's Consumer Data Standards in the model.

An amount's minus is a debit; a currency left out is AUD. CDR has no consent resource: the
arrangement comes with the token, so `arrangement` takes its facts.

Source: Consumer Data Standards 1.31.0.
"""

from __future__ import annotations

from op_openbanking.model.account import (
    Account,
    AccountKind,
    AccountReference,
    AccountStatus,
    Scheme,
)
from op_openbanking.model.balance import Balance, BalanceKind
from op_openbanking.model.code import Code
from op_openbanking.model.consent import Consent, ConsentPurpose, ConsentStatus
from op_openbanking.model.page import Page
from op_openbanking.model.party import Party, PartyKind
from op_openbanking.model.transaction import Transaction, TransactionStatus
from op_openbanking.model.when import When
from op_openbanking.standards.base import known
from op_openbanking.standards.cdr import accounts, customer, transactions
from op_openbanking.standards.where import Where, first

DEFAULT_CURRENCY = "AUD"

ACCOUNT_KINDS = {
    "BUSINESS_LOANS": AccountKind.LOAN,
    "CRED_AND_CHRG_CARDS": AccountKind.CARD,
    "LEASES": AccountKind.LOAN,
    "MARGIN_LOANS": AccountKind.LOAN,
    "OVERDRAFTS": AccountKind.LOAN,
    "PERS_LOANS": AccountKind.LOAN,
    "REGULATED_TRUST_ACCOUNTS": AccountKind.OTHER,
    "RESIDENTIAL_MORTGAGES": AccountKind.MORTGAGE,
    "TERM_DEPOSITS": AccountKind.DEPOSIT,
    "TRADE_FINANCE": AccountKind.OTHER,
    "TRANS_AND_SAVINGS_ACCOUNTS": AccountKind.CURRENT,
    "TRAVEL_CARDS": AccountKind.CARD,
}
ACCOUNT_STATUSES = {"OPEN": AccountStatus.OPEN, "CLOSED": AccountStatus.CLOSED}
TRANSACTION_STATUSES = {
    "POSTED": TransactionStatus.BOOKED,
    "PENDING": TransactionStatus.PENDING,
}
CUSTOMER_KINDS = {"person": PartyKind.PERSON, "organisation": PartyKind.ORGANISATION}

_STANDARD = "cdr"


def account_page(body: accounts.Accounts) -> Page[Account]:
    """Accounts."""
    rows = [account(row) for row in body.data.accounts]
    return Page(
        items=tuple(rows),
        raw=body,
        next_link=first(body.links.next),
        total_pages=body.meta.total_pages,
    )


def account(row: accounts.Account | accounts.AccountDetail) -> Account:
    """One account; the detail has its number in clear where the consent allows it."""
    reference = AccountReference(
        scheme=Code(text="maskedNumber", known=Scheme.MASKED_PAN),
        identification=row.masked_number,
    )
    if isinstance(row, accounts.AccountDetail):
        number, bsb = first(row.account_number), first(row.bsb)
        if number is not None:
            reference = AccountReference(
                scheme=Code(text="bsb", known=Scheme.BBAN),
                identification=f"{bsb}{number}" if bsb else number,
            )
    return Account(
        id=row.account_id,
        raw=row,
        name=first(row.nickname, row.display_name),
        kind=Code.of(row.product_category, ACCOUNT_KINDS),
        # The standard's default.
        status=Code.of(first(row.open_status) or "OPEN", ACCOUNT_STATUSES),
        references=(reference,),
    )


def balance_page(body: accounts.Balances) -> Page[Balance]:
    """Current and available balances of several accounts, purses after their account.

    Raises:
        MalformedBody: If an amount or a currency means nothing.
    """
    where = Where(_STANDARD, "balances", "$.data")
    rows = [
        balance
        for index, row in enumerate(body.data.balances)
        for balance in _balances(row, where.at(f".balances[{index}]"))
    ]
    return Page(
        items=tuple(rows),
        raw=body,
        next_link=first(body.links.next),
        total_pages=body.meta.total_pages,
    )


def balances(body: accounts.BalanceResponse) -> tuple[Balance, ...]:
    """Current and available balance of one account, then its purses.

    Raises:
        MalformedBody: If an amount or a currency means nothing.
    """
    return _balances(body.data, Where(_STANDARD, "balance", "$.data"))


def _balances(row: accounts.Balance, where: Where) -> tuple[Balance, ...]:
    currency = first(row.currency) or DEFAULT_CURRENCY
    named = [
        ("currentBalance", row.current_balance, currency, BalanceKind.INTERIM_BOOKED),
        ("availableBalance", row.available_balance, currency, BalanceKind.INTERIM_AVAILABLE),
    ]
    named += [
        ("purses", purse.amount, first(purse.currency) or DEFAULT_CURRENCY, BalanceKind.OTHER)
        for purse in known(row.purses) or []
    ]
    return tuple(
        Balance(
            account_id=row.account_id,
            amount=where.money(text, unit, member=name),
            kind=Code(text=name, known=kind),
            raw=row,
        )
        for name, text, unit, kind in named
    )


def transaction_page(body: transactions.Transactions) -> Page[Transaction]:
    """Transactions.

    Raises:
        MalformedBody: If an amount, a currency or a date means nothing.
    """
    where = Where(_STANDARD, "transactions", "$.data")
    rows = where.each(".transactions", body.data.transactions, transaction)
    return Page(
        items=rows,
        raw=body,
        next_link=first(body.links.next),
        total_pages=body.meta.total_pages,
    )


_ONE_TRANSACTION = Where(_STANDARD, "transaction", "$.data")


def transaction(
    row: transactions.Transaction | transactions.TransactionDetail,
    where: Where = _ONE_TRANSACTION,
) -> Transaction:
    """One transaction.

    Raises:
        MalformedBody: If its amount, currency or a date means nothing.
    """
    money = where.money(row.amount, first(row.currency) or DEFAULT_CURRENCY, member="amount")
    return Transaction(
        account_id=row.account_id,
        direction=money.direction,
        amount=money.size,
        status=Code.of(row.status, TRANSACTION_STATUSES),
        raw=row,
        id=first(row.transaction_id),
        booked=where.when(row.posting_date_time, member="postingDateTime"),
        valued=where.when(row.value_date_time, member="valueDateTime"),
        text=first(row.description),
        reference=first(row.reference),
        counterparty=first(row.merchant_name, row.biller_name),
    )


def party(body: customer.CustomerResponse | customer.CustomerDetailResponse) -> Party:
    """The customer who consented; addresses and numbers come with the detail."""
    kind = Code.of(body.data.customer_u_type, CUSTOMER_KINDS)
    person = body.data.person
    if isinstance(person, customer.Person | customer.PersonDetail):
        parts = [first(person.first_name), *person.middle_names, person.last_name]
        detail = person if isinstance(person, customer.PersonDetail) else None
        return Party(
            raw=body,
            name=" ".join(part for part in parts if part),
            kind=kind,
            emails=tuple(entry.address for entry in detail.email_addresses) if detail else (),
            phones=tuple(entry.full_number for entry in detail.phone_numbers) if detail else (),
        )
    organisation = body.data.organisation
    name = None
    if isinstance(organisation, customer.Organisation | customer.OrganisationDetail):
        name = first(organisation.legal_name, organisation.business_name)
    return Party(raw=body, name=name, kind=kind)


def arrangement(
    *, arrangement_id: str, status: ConsentStatus, expires: When | None, scopes: tuple[str, ...]
) -> Consent:
    """The consent that a token answer or an introspection describes.

    Args:
        arrangement_id: `cdr_arrangement_id`.
        status: As the client knows it: active, or ended by either side.
        expires: End of the sharing period, where it was asked for.
        scopes: Scopes granted.
    """
    return Consent(
        id=arrangement_id,
        purpose=ConsentPurpose.ACCOUNTS,
        status=Code(text=status.value, known=status),
        expires=expires,
        permissions=scopes,
    )
