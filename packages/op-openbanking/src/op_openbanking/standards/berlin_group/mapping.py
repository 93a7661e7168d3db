"""Berlin Group NextGenPSD2 in the model.

A transaction's status is the list it is in. An amount's minus is a debit. An account without a
`resourceId` has its first identifier for an id, which is what its paths take at such banks.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12.
"""

from __future__ import annotations

from op_openbanking.model.account import (
    Account,
    AccountReference,
    AccountStatus,
    Scheme,
)
from op_openbanking.model.balance import Balance, BalanceKind
from op_openbanking.model.code import Code
from op_openbanking.model.consent import Consent, ConsentPurpose, ConsentStatus
from op_openbanking.model.page import Page
from op_openbanking.model.payment import Payment, PaymentKind, PaymentOrder, Recurrence, Rhythm
from op_openbanking.model.transaction import Transaction, TransactionStatus
from op_openbanking.standards.base import Maybe, known
from op_openbanking.standards.berlin_group import accounts, consents, funds, payments, wire
from op_openbanking.standards.iso20022 import ACCOUNT_KIND, PAYMENT_STATUS
from op_openbanking.standards.where import Where, first

ACCOUNT_STATUSES = {
    "enabled": AccountStatus.OPEN,
    "deleted": AccountStatus.CLOSED,
    "blocked": AccountStatus.BLOCKED,
}
BALANCE_KINDS = {
    "closingBooked": BalanceKind.CLOSING_BOOKED,
    "expected": BalanceKind.EXPECTED,
    "openingBooked": BalanceKind.OPENING_BOOKED,
    "interimAvailable": BalanceKind.INTERIM_AVAILABLE,
    "interimBooked": BalanceKind.INTERIM_BOOKED,
    "forwardAvailable": BalanceKind.FORWARD_AVAILABLE,
    "nonInvoiced": BalanceKind.NON_INVOICED,
    "authorised": BalanceKind.EXPECTED,  # the name of `expected` before 1.3
}
CONSENT_STATUSES = {
    "received": ConsentStatus.AWAITING_AUTHORISATION,
    "partiallyAuthorised": ConsentStatus.PARTLY_AUTHORISED,
    "valid": ConsentStatus.ACTIVE,
    "expired": ConsentStatus.EXPIRED,
    "revokedByPsu": ConsentStatus.REVOKED_BY_USER,
    "terminatedByTpp": ConsentStatus.REVOKED_BY_CLIENT,
    "rejected": ConsentStatus.REJECTED,
}
RHYTHMS = {
    "Daily": Rhythm.DAILY,
    "Weekly": Rhythm.WEEKLY,
    "EveryTwoWeeks": Rhythm.EVERY_TWO_WEEKS,
    "Monthly": Rhythm.MONTHLY,
    "EveryTwoMonths": Rhythm.EVERY_TWO_MONTHS,
    "Quarterly": Rhythm.QUARTERLY,
    "SemiAnnual": Rhythm.SEMI_ANNUAL,
    "Annual": Rhythm.ANNUAL,
    "MonthlyVariable": Rhythm.VARIABLE,
}

_STANDARD = "berlin-group"
_ONE_ACCOUNT = Where(_STANDARD, "account", "$.account")


def account_reference(
    named: Maybe[wire.AccountReference], *, name: str | None = None
) -> AccountReference | None:
    """An account as a payment or a transaction names it; None without an identifier."""
    if not isinstance(named, wire.AccountReference):
        return None
    currency = first(named.currency)
    for text, scheme, value in (
        ("iban", Scheme.IBAN, named.iban),
        ("bban", Scheme.BBAN, named.bban),
        ("pan", Scheme.PAN, named.pan),
        ("maskedPan", Scheme.MASKED_PAN, named.masked_pan),
        ("msisdn", Scheme.MSISDN, named.msisdn),
    ):
        identification = first(value)
        if identification is not None:
            code = Code(text=text, known=scheme)
            return AccountReference(
                scheme=code, identification=identification, name=name, currency=currency
            )
    other = known(named.other)
    if other is None:
        return None
    text = first(other.scheme_name_code, other.scheme_name_proprietary) or "other"
    return AccountReference(
        scheme=Code(text=text, known=Scheme.OTHER),
        identification=other.identification,
        name=name,
        currency=currency,
    )


def account_page(body: accounts.Accounts) -> Page[Account]:
    """Accounts; they come on one page.

    Raises:
        MalformedBody: If an account has neither a `resourceId` nor an identifier.
    """
    where = Where(_STANDARD, "accounts")
    rows = [
        account(row, where=where.at(f".accounts[{index}]"))
        for index, row in enumerate(body.accounts)
    ]
    return Page(items=tuple(rows), raw=body)


def account(row: accounts.AccountDetails, *, where: Where = _ONE_ACCOUNT) -> Account:
    """One account.

    Raises:
        MalformedBody: If it has neither a `resourceId` nor an identifier.
    """
    named = wire.AccountReference(iban=row.iban, bban=row.bban, msisdn=row.msisdn)
    reference = account_reference(named, name=first(row.owner_name))
    identity = first(row.resource_id) or (reference.identification if reference else None)
    if identity is None:
        raise where.refusal("neither a resourceId nor an identifier")
    kind, status = first(row.cash_account_type), first(row.status)
    return Account(
        id=identity,
        raw=row,
        name=first(row.display_name, row.name, row.product, row.owner_name),
        kind=None if kind is None else Code.of(kind, ACCOUNT_KIND),
        status=None if status is None else Code.of(status, ACCOUNT_STATUSES),
        currency=row.currency,
        references=() if reference is None else (reference,),
    )


def balance_page(
    body: accounts.Balances | accounts.CardBalances, *, account_id: str
) -> Page[Balance]:
    """Balances of one account.

    Raises:
        MalformedBody: If an amount or a date means nothing.
    """
    where = Where(_STANDARD, "balances")
    rows = [
        _balance(row, where.at(f".balances[{index}]"), account_id)
        for index, row in enumerate(body.balances)
    ]
    return Page(items=tuple(rows), raw=body)


def _balance(row: accounts.Balance, where: Where, account_id: str) -> Balance:
    amount = row.balance_amount
    changed = where.when(row.last_change_date_time, member="lastChangeDateTime")
    return Balance(
        account_id=account_id,
        amount=where.money(amount.amount, amount.currency, member="balanceAmount"),
        kind=Code.of(row.balance_type, BALANCE_KINDS),
        raw=row,
        at=changed or where.when(row.reference_date, member="referenceDate"),
        credit_included=known(row.credit_limit_included),
    )


def transaction_page(body: accounts.Transactions, *, account_id: str) -> Page[Transaction]:
    """Booked, pending and planned transactions of one account, in that order.

    Raises:
        MalformedBody: If an amount or a date means nothing.
    """
    report = known(body.transactions)
    if report is None:
        return Page(items=(), raw=body)
    where = Where(_STANDARD, "transactions", "$.transactions")
    lists = (
        ("booked", TransactionStatus.BOOKED, report.booked),
        ("pending", TransactionStatus.PENDING, report.pending),
        ("information", TransactionStatus.PLANNED, report.information),
    )
    rows = [
        _transaction(row, where.at(f".{name}[{index}]"), account_id, Code(text=name, known=status))
        for name, status, entries in lists
        for index, row in enumerate(known(entries) or [])
    ]
    following = report.links.get("next")
    return Page(
        items=tuple(rows), raw=body, next_link=following.href if following is not None else None
    )


def _transaction(
    row: accounts.Transaction, where: Where, account_id: str, status: Code[TransactionStatus]
) -> Transaction:
    amount = row.transaction_amount
    money = where.money(amount.amount, amount.currency, member="transactionAmount")
    debit = money.amount.is_signed()
    name = first(row.creditor_name if debit else row.debtor_name)
    other = account_reference(row.creditor_account if debit else row.debtor_account)
    lines = known(row.remittance_information_unstructured_array) or []
    return Transaction(
        account_id=account_id,
        direction=money.direction,
        amount=money.size,
        status=status,
        raw=row,
        id=first(row.transaction_id, row.entry_reference),
        booked=where.when(row.booking_date, member="bookingDate"),
        valued=where.when(row.value_date, member="valueDate"),
        text=first(
            row.remittance_information_unstructured,
            " ".join(lines),
            row.remittance_information_structured,
            row.additional_information,
        ),
        reference=first(row.end_to_end_id),
        counterparty=name,
        counterparty_account=other.identification if other else None,
    )


def consent(body: consents.ConsentInformation, *, consent_id: str) -> Consent:
    """Consent to read accounts, as read back from the bank.

    Raises:
        MalformedBody: If a date means nothing.
    """
    where = Where(_STANDARD, "consent")
    access = body.access
    granted = [
        name
        for name, value in (
            ("accounts", access.accounts),
            ("balances", access.balances),
            ("transactions", access.transactions),
            ("additionalInformation", access.additional_information),
            ("availableAccounts", access.available_accounts),
            ("availableAccountsWithBalance", access.available_accounts_with_balance),
            ("allPsd2", access.all_psd2),
        )
        if known(value) is not None
    ]
    return Consent(
        id=consent_id,
        purpose=ConsentPurpose.ACCOUNTS,
        status=Code.of(body.consent_status, CONSENT_STATUSES),
        raw=body,
        expires=where.when(body.valid_until, member="validUntil"),
        permissions=tuple(granted),
    )


def created_consent(body: consents.ConsentCreated) -> Consent:
    """A consent that was just made; its links say how to authorise it."""
    return Consent(
        id=body.consent_id,
        purpose=ConsentPurpose.ACCOUNTS,
        status=Code.of(body.consent_status, CONSENT_STATUSES),
        raw=body,
    )


def funds_consent(
    body: funds.FundsConsent | funds.FundsConsentCreated, *, consent_id: str = ""
) -> Consent:
    """Consent to ask for funds.

    Args:
        body: The answer.
        consent_id: The id asked for; an answer that has its own wins.
    """
    own = body.consent_id if isinstance(body, funds.FundsConsentCreated) else consent_id
    return Consent(
        id=own,
        purpose=ConsentPurpose.FUNDS,
        status=Code.of(body.consent_status, CONSENT_STATUSES),
        raw=body,
    )


def payment_order(
    body: payments.Payment | payments.PeriodicPayment | payments.BulkPayment,
    *,
    international: bool = False,
) -> PaymentOrder:
    """What is to be paid.

    Args:
        body: The request.
        international: Whether it goes to the product for cross-border transfers; that is in the
            path, not in the body.

    Raises:
        MalformedBody: If an amount or a date means nothing.
    """
    where = Where(_STANDARD, "payment-request")
    if isinstance(body, payments.BulkPayment):
        return _bulk_order(body, where, international=international)
    return _order(body, where, debtor=body.debtor_account, international=international)


def _order(
    body: payments.Payment | payments.PeriodicPayment | payments.BulkElement,
    where: Where,
    *,
    debtor: wire.AccountReference,
    international: bool,
) -> PaymentOrder:
    kind, execute, recurrence = PaymentKind.SINGLE, None, None
    if isinstance(body, payments.Payment):
        execute = where.when(
            first(body.requested_execution_time, body.requested_execution_date),
            member="requestedExecutionDate",
        )
        kind = PaymentKind.SINGLE if execute is None else PaymentKind.FUTURE_DATED
    elif isinstance(body, payments.PeriodicPayment):
        kind = PaymentKind.RECURRING
        recurrence = Recurrence(
            frequency=Code.of(body.frequency, RHYTHMS),
            first=where.when(body.start_date, member="startDate"),
            last=where.when(body.end_date, member="endDate"),
        )
    amount = body.instructed_amount
    return PaymentOrder(
        kind=kind,
        raw=body,
        amount=where.money(amount.amount, amount.currency, member="instructedAmount"),
        creditor=account_reference(body.creditor_account, name=body.creditor_name),
        creditor_name=body.creditor_name,
        debtor=account_reference(debtor),
        reference=first(body.remittance_information_unstructured),
        end_to_end_id=first(body.end_to_end_identification),
        international=international,
        execute=execute,
        recurrence=recurrence,
    )


def _bulk_order(body: payments.BulkPayment, where: Where, *, international: bool) -> PaymentOrder:
    orders = [
        _order(
            element,
            where.at(f".payments[{index}]"),
            debtor=body.debtor_account,
            international=international,
        )
        for index, element in enumerate(body.payments)
    ]
    return PaymentOrder(
        kind=PaymentKind.BULK,
        raw=body,
        debtor=account_reference(body.debtor_account),
        international=international,
        execute=where.when(
            first(body.requested_execution_time, body.requested_execution_date),
            member="requestedExecutionDate",
        ),
        orders=tuple(orders),
        count=len(orders),
    )


def payment(
    body: payments.PaymentCreated | payments.PaymentStatusResponse | payments.PaymentCancelled,
    *,
    payment_id: str = "",
) -> Payment:
    """A payment at the bank.

    Args:
        body: The answer.
        payment_id: The id asked for; an answer that has its own wins.
    """
    own = body.payment_id if isinstance(body, payments.PaymentCreated) else payment_id
    return Payment(id=own, status=Code.of(body.transaction_status, PAYMENT_STATUS), raw=body)
