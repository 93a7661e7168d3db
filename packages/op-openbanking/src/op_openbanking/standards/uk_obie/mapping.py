"""UK Open Banking accounts, parties and consents in the model.

Source: OBIE Read/Write 3.1.11, resources and their code lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

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
from op_openbanking.standards.base import Maybe, known
from op_openbanking.standards.uk_obie import accounts, file, funds, parties, vrp, wire
from op_openbanking.standards.uk_obie.domestic import (
    DomesticConsentResponse,
    DomesticScheduledConsentResponse,
    DomesticStandingOrderConsentResponse,
)
from op_openbanking.standards.uk_obie.international import (
    InternationalConsentResponse,
    InternationalScheduledConsentResponse,
    InternationalStandingOrderConsentResponse,
)
from op_openbanking.standards.where import Where, first

SCHEMES = {
    "UK.OBIE.IBAN": Scheme.IBAN,
    "UK.OBIE.BBAN": Scheme.BBAN,
    "UK.OBIE.SortCodeAccountNumber": Scheme.SORT_CODE,
    "UK.OBIE.PAN": Scheme.PAN,
    "UK.OBIE.Paym": Scheme.MSISDN,
    "UK.OBIE.Wallet": Scheme.OTHER,
}
ACCOUNT_KINDS = {
    "ChargeCard": AccountKind.CARD,
    "CreditCard": AccountKind.CARD,
    "CurrentAccount": AccountKind.CURRENT,
    "EMoney": AccountKind.WALLET,
    "Loan": AccountKind.LOAN,
    "Mortgage": AccountKind.MORTGAGE,
    "PrePaidCard": AccountKind.CARD,
    "Savings": AccountKind.SAVINGS,
    "Wallet": AccountKind.WALLET,
}
ACCOUNT_STATUSES = {
    "Enabled": AccountStatus.OPEN,
    "Disabled": AccountStatus.BLOCKED,
    "Deleted": AccountStatus.CLOSED,
    "ProForma": AccountStatus.PENDING,
    "Pending": AccountStatus.PENDING,
}
BALANCE_KINDS = {
    "ClosingAvailable": BalanceKind.CLOSING_AVAILABLE,
    "ClosingBooked": BalanceKind.CLOSING_BOOKED,
    "ClosingCleared": BalanceKind.CLOSING_CLEARED,
    "Expected": BalanceKind.EXPECTED,
    "ForwardAvailable": BalanceKind.FORWARD_AVAILABLE,
    "Information": BalanceKind.INFORMATION,
    "InterimAvailable": BalanceKind.INTERIM_AVAILABLE,
    "InterimBooked": BalanceKind.INTERIM_BOOKED,
    "InterimCleared": BalanceKind.INTERIM_CLEARED,
    "OpeningAvailable": BalanceKind.OPENING_AVAILABLE,
    "OpeningBooked": BalanceKind.OPENING_BOOKED,
    "OpeningCleared": BalanceKind.OPENING_CLEARED,
    "PreviouslyClosedBooked": BalanceKind.PREVIOUS_CLOSING_BOOKED,
}
TRANSACTION_STATUSES = {
    "Booked": TransactionStatus.BOOKED,
    "Pending": TransactionStatus.PENDING,
    "Rejected": TransactionStatus.REJECTED,
}
PARTY_KINDS = {
    "Sole": PartyKind.PERSON,
    "Delegate": PartyKind.PERSON,
    "Joint": PartyKind.JOINT,
}
CONSENT_STATUSES = {
    "AwaitingUpload": ConsentStatus.AWAITING_UPLOAD,
    "AwaitingAuthorisation": ConsentStatus.AWAITING_AUTHORISATION,
    "Authorised": ConsentStatus.ACTIVE,
    "Consumed": ConsentStatus.CONSUMED,
    "Rejected": ConsentStatus.REJECTED,
    "Revoked": ConsentStatus.REVOKED_BY_USER,
}

T = TypeVar("T")

_DIRECTIONS = {"Credit": Direction.CREDIT, "Debit": Direction.DEBIT}
_STANDARD = "uk-obie"

PaymentConsentResponse = (
    DomesticConsentResponse
    | DomesticScheduledConsentResponse
    | DomesticStandingOrderConsentResponse
    | InternationalConsentResponse
    | InternationalScheduledConsentResponse
    | InternationalStandingOrderConsentResponse
    | file.FileConsentResponse
)
"""What the bank answers to any payment's consent."""


def account_reference(named: Maybe[wire.AccountIdentification]) -> AccountReference | None:
    """An account as a payment names it; None without an identification."""
    if not isinstance(named, wire.AccountIdentification):
        return None
    identification = first(named.identification)
    if identification is None:
        return None
    return AccountReference(
        scheme=Code.of(first(named.scheme_name) or "", SCHEMES),
        identification=identification,
        name=first(named.name),
        secondary=first(named.secondary_identification),
    )


def account_page(body: accounts.Accounts) -> Page[Account]:
    """Accounts."""
    return _page([account(row) for row in known(body.data.account) or []], body)


def account(row: accounts.Account) -> Account:
    """One account."""
    kind = first(row.account_sub_type, row.account_type)
    status = first(row.status)
    references = [account_reference(named) for named in known(row.account) or []]
    return Account(
        id=row.account_id,
        raw=row,
        name=first(row.nickname, row.description),
        kind=None if kind is None else Code.of(kind, ACCOUNT_KINDS),
        status=None if status is None else Code.of(status, ACCOUNT_STATUSES),
        currency=first(row.currency),
        references=tuple(reference for reference in references if reference is not None),
    )


def balance_page(body: accounts.Balances) -> Page[Balance]:
    """Balances, each with its sign.

    Raises:
        MalformedBody: If an amount, a date or a direction means nothing.
    """
    where = Where(_STANDARD, "balances")
    return _page(where.each(".Data.Balance", body.data.balance, _balance), body)


def _balance(row: accounts.Balance, where: Where) -> Balance:
    money = where.money(row.amount.amount, row.amount.currency, member="Amount")
    lines = known(row.credit_line)
    return Balance(
        account_id=row.account_id,
        amount=money.towards(_direction(row.credit_debit_indicator, where)),
        kind=Code.of(row.type, BALANCE_KINDS),
        raw=row,
        at=where.when(row.date_time, member="DateTime"),
        credit_included=None if lines is None else any(line.included for line in lines),
    )


def transaction_page(body: accounts.Transactions) -> Page[Transaction]:
    """Transactions.

    Raises:
        MalformedBody: If an amount, a date or a direction means nothing.
    """
    where = Where(_STANDARD, "transactions")
    rows = known(body.data.transaction) or []
    return _page(where.each(".Data.Transaction", rows, _transaction), body)


def _transaction(row: accounts.Transaction, where: Where) -> Transaction:
    direction = _direction(row.credit_debit_indicator, where)
    other = row.debtor_account if direction is Direction.CREDIT else row.creditor_account
    counterparty = account_reference(other)
    merchant = known(row.merchant_details)
    merchant_name = None if merchant is None else first(merchant.merchant_name)
    return Transaction(
        account_id=row.account_id,
        direction=direction,
        amount=where.money(row.amount.amount, row.amount.currency, member="Amount").size,
        status=Code.of(row.status, TRANSACTION_STATUSES),
        raw=row,
        id=first(row.transaction_id),
        booked=where.when(row.booking_date_time, member="BookingDateTime"),
        valued=where.when(row.value_date_time, member="ValueDateTime"),
        text=first(row.transaction_information),
        reference=first(row.transaction_reference),
        counterparty=merchant_name or (counterparty.name if counterparty else None),
        counterparty_account=counterparty.identification if counterparty else None,
    )


def party(row: parties.Party) -> Party:
    """One party."""
    kind = first(row.party_type)
    return Party(
        raw=row,
        id=first(row.party_id),
        name=first(row.full_legal_name, row.name),
        kind=None if kind is None else Code.of(kind, PARTY_KINDS),
        emails=_texts(row.email_address),
        phones=_texts(row.phone, row.mobile),
    )


def party_page(body: parties.Parties | parties.PartyResponse) -> Page[Party]:
    """The parties of an account, or the one that consented."""
    if isinstance(body, parties.PartyResponse):
        one = known(body.data.party)
        return _page([] if one is None else [party(one)], body)
    return _page([party(row) for row in known(body.data.party) or []], body)


def account_consent(body: accounts.AccountConsentResponse) -> Consent:
    """Consent to read accounts.

    Raises:
        MalformedBody: If a date means nothing.
    """
    data = body.data
    where = Where(_STANDARD, "account-access-consent", "$.Data")
    return Consent(
        id=data.consent_id,
        purpose=ConsentPurpose.ACCOUNTS,
        status=Code.of(data.status, CONSENT_STATUSES),
        raw=body,
        created=where.when(data.creation_date_time, member="CreationDateTime"),
        expires=where.when(data.expiration_date_time, member="ExpirationDateTime"),
        permissions=tuple(data.permissions),
    )


def funds_consent(body: funds.FundsConsentResponse) -> Consent:
    """Consent to ask for funds.

    Raises:
        MalformedBody: If a date means nothing.
    """
    data = body.data
    where = Where(_STANDARD, "funds-confirmation-consent", "$.Data")
    return Consent(
        id=data.consent_id,
        purpose=ConsentPurpose.FUNDS,
        status=Code.of(data.status, CONSENT_STATUSES),
        raw=body,
        created=where.when(data.creation_date_time, member="CreationDateTime"),
        expires=where.when(data.expiration_date_time, member="ExpirationDateTime"),
    )


def payment_consent(body: PaymentConsentResponse) -> Consent:
    """Consent to one payment.

    Raises:
        MalformedBody: If a date means nothing.
    """
    data = body.data
    where = Where(_STANDARD, "payment-consent", "$.Data")
    return Consent(
        id=data.consent_id,
        purpose=ConsentPurpose.PAYMENT,
        status=Code.of(data.status, CONSENT_STATUSES),
        raw=body,
        created=where.when(data.creation_date_time, member="CreationDateTime"),
    )


def vrp_consent(body: vrp.VRPConsentResponse) -> Consent:
    """Consent to variable recurring payments; it ends at `ValidToDateTime`.

    Raises:
        MalformedBody: If a date means nothing.
    """
    data = body.data
    where = Where(_STANDARD, "domestic-vrp-consent", "$.Data")
    return Consent(
        id=data.consent_id,
        purpose=ConsentPurpose.VRP,
        status=Code.of(data.status, CONSENT_STATUSES),
        raw=body,
        created=where.when(data.creation_date_time, member="CreationDateTime"),
        expires=where.when(
            data.control_parameters.valid_to_date_time,
            member="ControlParameters.ValidToDateTime",
        ),
    )


def _direction(text: str, where: Where) -> Direction:
    direction = _DIRECTIONS.get(text)
    if direction is None:
        # The sign of an amount hangs on it: guessing would turn income into expense.
        raise where.refusal("neither Credit nor Debit", member="CreditDebitIndicator")
    return direction


def _texts(*values: Maybe[str]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str) and value)


def _page(
    rows: Sequence[T],
    body: accounts.Accounts
    | accounts.Balances
    | accounts.Transactions
    | parties.Parties
    | parties.PartyResponse,
) -> Page[T]:
    links, meta = known(body.links), known(body.meta)
    return Page(
        items=tuple(rows),
        raw=body,
        next_link=None if links is None else first(links.next),
        total_pages=None if meta is None else known(meta.total_pages),
    )
