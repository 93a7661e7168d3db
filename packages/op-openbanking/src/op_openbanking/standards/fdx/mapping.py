"""FDX 5 and 6 in the model.

Amounts are JSON numbers. Most providers write them without a sign and say credit or debit in
`debitCreditMemo`; some write a signed amount: `signed=True` is for those. A memo moves no money and
has no direction of its own; it is read by its sign.

Source: facts of FDX Core 5.0 to 6.4.
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
from op_openbanking.model.money import Direction
from op_openbanking.model.page import Page
from op_openbanking.model.party import Party, PartyKind
from op_openbanking.model.transaction import Transaction, TransactionStatus
from op_openbanking.standards.base import Maybe, Number, known
from op_openbanking.standards.fdx import accounts, consents, customers, transactions, wire
from op_openbanking.standards.where import Where, first

ACCOUNT_KINDS = {
    "CHECKING": AccountKind.CURRENT,
    "SAVINGS": AccountKind.SAVINGS,
    "MONEYMARKET": AccountKind.SAVINGS,
    "CD": AccountKind.DEPOSIT,
    "MORTGAGE": AccountKind.MORTGAGE,
    "CREDITCARD": AccountKind.CARD,
    "CHARGE": AccountKind.CARD,
    "DIGITALWALLET": AccountKind.WALLET,
}
CATEGORY_KINDS = {
    "LOAN_ACCOUNT": AccountKind.LOAN,
    "LOC_ACCOUNT": AccountKind.LOAN,
    "INVESTMENT_ACCOUNT": AccountKind.INVESTMENT,
    "INSURANCE_ACCOUNT": AccountKind.INSURANCE,
    "ANNUITY_ACCOUNT": AccountKind.PENSION,
    "DIGITAL_WALLET": AccountKind.WALLET,
}
ACCOUNT_STATUSES = {
    "OPEN": AccountStatus.OPEN,
    "DELINQUENT": AccountStatus.OPEN,
    "NEGATIVECURRENTBALANCE": AccountStatus.OPEN,
    "PENDINGCLOSE": AccountStatus.OPEN,
    "PENDINGOPEN": AccountStatus.PENDING,
    "RESTRICTED": AccountStatus.BLOCKED,
    "CLOSED": AccountStatus.CLOSED,
    "PAID": AccountStatus.CLOSED,
}
TRANSACTION_STATUSES = {
    "POSTED": TransactionStatus.BOOKED,
    "PENDING": TransactionStatus.PENDING,
    "AUTHORIZATION": TransactionStatus.PENDING,
    "MEMO": TransactionStatus.OTHER,
}
CONSENT_STATUSES = {
    "ACTIVE": ConsentStatus.ACTIVE,
    "EXPIRED": ConsentStatus.EXPIRED,
    "REVOKED": ConsentStatus.REVOKED_BY_USER,
}

_STANDARD = "fdx"
_WRAPPERS = {
    "deposit_account": "DEPOSIT_ACCOUNT",
    "loan_account": "LOAN_ACCOUNT",
    "loc_account": "LOC_ACCOUNT",
    "investment_account": "INVESTMENT_ACCOUNT",
    "annuity_account": "ANNUITY_ACCOUNT",
    "insurance_account": "INSURANCE_ACCOUNT",
    "commercial_account": "COMMERCIAL_ACCOUNT",
}
_DIRECTIONS = {"CREDIT": Direction.CREDIT, "DEBIT": Direction.DEBIT}


def account_page(body: accounts.Accounts | accounts.WrappedAccounts) -> Page[Account]:
    """Accounts, of either version."""
    rows = [account(row, category=category) for category, row in categorised(body)]
    return Page(items=tuple(rows), raw=body, next_link=_next(body.links), next_key=_key(body.page))


def categorised(
    body: accounts.Accounts | accounts.WrappedAccounts,
) -> list[tuple[str, accounts.Account]]:
    """The wire accounts of either version, each with its category by 6.x's name."""
    if isinstance(body, accounts.Accounts):
        return [(first(row.account_category) or "", row) for row in body.accounts]
    return [
        (category, inner)
        for wrapper in body.accounts
        for member, category in _WRAPPERS.items()
        if isinstance(inner := getattr(wrapper, member), accounts.Account)
    ]


def account(row: accounts.Account, *, category: str) -> Account:
    """One account, of either version."""
    kind = ACCOUNT_KINDS.get(row.account_type) or CATEGORY_KINDS.get(category)
    shown = first(row.account_number, row.account_number_display)
    reference = AccountReference(
        scheme=Code(
            text="accountNumber" if first(row.account_number) else "accountNumberDisplay",
            known=Scheme.BBAN if first(row.account_number) else Scheme.OTHER,
        ),
        identification=shown or "",
    )
    return Account(
        id=row.account_id,
        raw=row,
        name=first(row.nickname, row.product_name),
        kind=Code(text=row.account_type, known=kind),
        status=Code.of(row.status, ACCOUNT_STATUSES),
        currency=row.currency.currency_code,
        references=(reference,) if shown else (),
    )


def balances(row: accounts.Account, *, category: str) -> tuple[Balance, ...]:
    """The balances inside one account: what is owed on a loan or a credit line is negative.

    Args:
        row: The account, in full.
        category: Its category, as `categorised` gives it.

    Raises:
        MalformedBody: If an amount or the currency means nothing.
    """
    place = Where(_STANDARD, "account")
    owed = category in {"LOAN_ACCOUNT", "LOC_ACCOUNT"}
    named = (
        ("currentBalance", row.current_balance, BalanceKind.INTERIM_BOOKED, owed),
        ("availableBalance", row.available_balance, BalanceKind.INTERIM_AVAILABLE, False),
        ("principalBalance", row.principal_balance, BalanceKind.OTHER, True),
        ("availableCredit", row.available_credit, BalanceKind.OTHER, False),
        ("availableCashBalance", row.available_cash_balance, BalanceKind.INTERIM_AVAILABLE, False),
        ("currentValue", row.current_value, BalanceKind.OTHER, False),
    )
    found = []
    for name, value, kind, is_owed in named:
        if not isinstance(value, Number):
            continue
        money = place.number(value, row.currency.currency_code, member=name)
        if is_owed and not money.amount.is_signed():
            money = money.towards(Direction.DEBIT)
        found.append(
            Balance(
                account_id=row.account_id,
                amount=money,
                kind=Code(text=name, known=kind),
                raw=row,
                at=place.when(row.balance_as_of, member="balanceAsOf"),
            )
        )
    return tuple(found)


def transaction_page(
    body: transactions.Transactions | transactions.WrappedTransactions,
    *,
    account_id: str,
    currency: str,
    signed: bool = False,
) -> Page[Transaction]:
    """Transactions of one account, of either version.

    Args:
        body: The answer.
        account_id: The account asked for; transactions do not name it.
        currency: The account's; transactions do not name it.
        signed: Whether this provider writes the sign into the amount.

    Raises:
        MalformedBody: If an amount, a date or a direction means nothing.
    """
    where = Where(_STANDARD, "transactions")
    if isinstance(body, transactions.Transactions):
        flat = body.transactions
    else:
        members = ("deposit", "loan", "loc", "investment")
        flat = [
            inner
            for wrapper in body.transactions
            for member in members
            if isinstance(
                inner := getattr(wrapper, f"{member}_transaction"), transactions.Transaction
            )
        ]
    rows = [
        _transaction(row, where.at(f".transactions[{index}]"), account_id, currency, signed=signed)
        for index, row in enumerate(flat)
    ]
    return Page(items=tuple(rows), raw=body, next_link=_next(body.links), next_key=_key(body.page))


def _transaction(
    row: transactions.Transaction, where: Where, account_id: str, currency: str, *, signed: bool
) -> Transaction:
    money = where.number(row.amount, currency, member="amount")
    direction = _DIRECTIONS.get(row.debit_credit_memo)
    if signed or row.debit_credit_memo == "MEMO":
        direction = money.direction
    if direction is None:
        raise where.refusal("neither CREDIT, DEBIT nor MEMO", member="debitCreditMemo")
    posted = first(row.posted_timestamp, row.transaction_timestamp)
    return Transaction(
        account_id=account_id,
        direction=direction,
        amount=money.size,
        status=Code.of(row.status, TRANSACTION_STATUSES),
        raw=row,
        id=row.transaction_id,
        booked=where.when(posted, member="postedTimestamp"),
        text=first(row.description),
        reference=first(row.reference_transaction_id),
        counterparty=first(row.payee),
    )


def holders(body: customers.AccountContact) -> tuple[Party, ...]:
    """Who holds an account."""
    found = []
    for holder in body.holders:
        company = known(holder.business_customer)
        kind = first(holder.type)
        found.append(
            Party(
                raw=holder,
                name=first(company.name) if company is not None else _name(holder.name),
                kind=Code(
                    text=kind or "",
                    known=PartyKind.ORGANISATION if kind == "BUSINESS" else PartyKind.PERSON,
                ),
                emails=tuple(body.emails),
                phones=tuple(phone.number for phone in body.telephones),
            )
        )
    return tuple(found)


def consent(body: consents.ConsentGrant) -> Consent:
    """A grant.

    Raises:
        MalformedBody: If a date means nothing.
    """
    where = Where(_STANDARD, "consent")
    clusters = [
        cluster for resource in known(body.resources) or [] for cluster in resource.data_clusters
    ]
    return Consent(
        id=body.id,
        purpose=ConsentPurpose.ACCOUNTS,
        status=Code.of(body.status, CONSENT_STATUSES),
        raw=body,
        created=where.when(body.created_time, member="createdTime"),
        expires=where.when(body.expiration_time, member="expirationTime"),
        permissions=tuple(dict.fromkeys(clusters)),
    )


def _name(name: Maybe[customers.CustomerName]) -> str | None:
    if not isinstance(name, customers.CustomerName):
        return None
    return " ".join(part for part in (name.first, first(name.middle), name.last) if part)


def _next(links: Maybe[wire.PageLinks]) -> str | None:
    following = known(links.next) if isinstance(links, wire.PageLinks) else None
    return None if following is None else first(following.href)


def _key(page: Maybe[wire.PageMetadata]) -> str | None:
    if not isinstance(page, wire.PageMetadata):
        return None
    return first(page.next_page_key, page.next_offset)
