"""STET in the model.

Source: STET PSD2 API 1.4.0.47; remittance information of 1.4.2 as an object.
"""

from __future__ import annotations

from op_openbanking.model.account import Account, AccountReference, Scheme
from op_openbanking.model.balance import Balance, BalanceKind
from op_openbanking.model.code import Code
from op_openbanking.model.money import Direction
from op_openbanking.model.page import Page
from op_openbanking.model.payment import Payment, PaymentKind, PaymentOrder, Recurrence, Rhythm
from op_openbanking.model.transaction import Transaction, TransactionStatus
from op_openbanking.standards.base import Maybe, known
from op_openbanking.standards.iso20022 import ACCOUNT_KIND, PAYMENT_STATUS
from op_openbanking.standards.stet import accounts, payments, wire
from op_openbanking.standards.where import Where, first

BALANCE_KINDS = {
    "CLBD": BalanceKind.CLOSING_BOOKED,
    "XPCD": BalanceKind.EXPECTED,
    "VALU": BalanceKind.VALUE_DATE,
    "OTHR": BalanceKind.OTHER,
}
TRANSACTION_STATUSES = {
    "BOOK": TransactionStatus.BOOKED,
    "PDNG": TransactionStatus.PENDING,
    "FUTR": TransactionStatus.PLANNED,
    "OTHR": TransactionStatus.OTHER,
}
RHYTHMS = {
    "DAIL": Rhythm.DAILY,
    "WEEK": Rhythm.WEEKLY,
    "TOWK": Rhythm.EVERY_TWO_WEEKS,
    "MNTH": Rhythm.MONTHLY,
    "TOMN": Rhythm.EVERY_TWO_MONTHS,
    "QUTR": Rhythm.QUARTERLY,
    "SEMI": Rhythm.SEMI_ANNUAL,
    "YEAR": Rhythm.ANNUAL,
}

_STANDARD = "stet"
_DIRECTIONS = {"CRDT": Direction.CREDIT, "DBIT": Direction.DEBIT}


def account_reference(
    named: Maybe[wire.AccountIdentification], *, name: str | None = None
) -> AccountReference | None:
    """An account by its IBAN or another identifier; None where it has neither."""
    if not isinstance(named, wire.AccountIdentification):
        return None
    iban, other = first(named.iban), known(named.other)
    if iban is not None:
        scheme = Code(text="iban", known=Scheme.IBAN)
        return AccountReference(scheme=scheme, identification=iban, name=name)
    if other is None:
        return None
    # CPAN is the masked or full number of a card.
    scheme = Code.of(other.scheme_name, {"CPAN": Scheme.PAN})
    return AccountReference(scheme=scheme, identification=other.identification, name=name)


def account_page(body: accounts.Accounts) -> Page[Account]:
    """Accounts.

    Raises:
        MalformedBody: If an account has neither a `resourceId` nor an identifier.
    """
    where = Where(_STANDARD, "accounts")
    rows = []
    for index, row in enumerate(body.accounts):
        reference = account_reference(row.account_id, name=row.name)
        identity = first(row.resource_id) or (reference.identification if reference else None)
        if identity is None:
            raise where.at(f".accounts[{index}]").refusal("neither a resourceId nor an identifier")
        rows.append(
            Account(
                id=identity,
                raw=row,
                name=first(row.name, row.product),
                kind=Code.of(row.cash_account_type, ACCOUNT_KIND),
                currency=row.currency,
                references=() if reference is None else (reference,),
            )
        )
    return Page(items=tuple(rows), raw=body, next_link=_next(body.links))


def balance_page(body: accounts.Balances, *, account_id: str) -> Page[Balance]:
    """Balances of one account; their amounts carry their own sign.

    Raises:
        MalformedBody: If an amount or a date means nothing.
    """
    where = Where(_STANDARD, "balances")
    rows = [
        _balance(row, where.at(f".balances[{index}]"), account_id)
        for index, row in enumerate(body.balances)
    ]
    return Page(items=tuple(rows), raw=body, next_link=_next(body.links))


def _balance(row: accounts.Balance, where: Where, account_id: str) -> Balance:
    amount = row.balance_amount
    changed = where.when(row.last_change_date_time, member="lastChangeDateTime")
    return Balance(
        account_id=account_id,
        amount=where.money(amount.amount, amount.currency, member="balanceAmount"),
        kind=Code.of(row.balance_type, BALANCE_KINDS),
        raw=row,
        at=changed or where.when(row.reference_date, member="referenceDate"),
    )


def transaction_page(body: accounts.Transactions, *, account_id: str) -> Page[Transaction]:
    """Transactions of one account.

    Raises:
        MalformedBody: If an amount, a date or a direction means nothing.
    """
    where = Where(_STANDARD, "transactions")
    rows = [
        _transaction(row, where.at(f".transactions[{index}]"), account_id)
        for index, row in enumerate(body.transactions)
    ]
    return Page(items=tuple(rows), raw=body, next_link=_next(body.links))


def _transaction(row: accounts.Transaction, where: Where, account_id: str) -> Transaction:
    direction = _DIRECTIONS.get(row.credit_debit_indicator)
    if direction is None:
        raise where.refusal("neither CRDT nor DBIT", member="creditDebitIndicator")
    amount = row.transaction_amount
    return Transaction(
        account_id=account_id,
        direction=direction,
        amount=where.money(amount.amount, amount.currency, member="transactionAmount").size,
        status=Code.of(row.status, TRANSACTION_STATUSES),
        raw=row,
        id=first(row.resource_id, row.entry_reference),
        booked=where.when(row.booking_date, member="bookingDate"),
        valued=where.when(row.value_date, member="valueDate"),
        text=remittance_text(row.remittance_information),
    )


def remittance_text(information: list[str] | wire.RemittanceInformation) -> str | None:
    """The lines of remittance information, of either form, as one text."""
    if isinstance(information, wire.RemittanceInformation):
        lines = (known(information.unstructured) or []) + (known(information.structured) or [])
    else:
        lines = information
    return " ".join(line for line in lines if line) or None


def payment_order(body: payments.PaymentRequestResource) -> PaymentOrder:
    """What is to be paid: one order, or a bulk order of several.

    Raises:
        MalformedBody: If it holds no transaction, or an amount or a date means nothing.
    """
    where = Where(_STANDARD, "payment-request")
    transfers = body.credit_transfer_transaction
    if not transfers:
        raise where.refusal("no transaction", member="creditTransferTransaction")
    orders = [
        _order(transfer, body, where.at(f".creditTransferTransaction[{index}]"))
        for index, transfer in enumerate(transfers)
    ]
    if len(orders) == 1:
        return orders[0]
    return PaymentOrder(
        kind=PaymentKind.BULK,
        raw=body,
        debtor=account_reference(body.debtor_account),
        international=_international(body),
        execute=where.when(body.requested_execution_date, member="requestedExecutionDate"),
        orders=tuple(orders),
        count=body.number_of_transactions,
    )


def _order(
    transfer: payments.CreditTransferTransaction,
    body: payments.PaymentRequestResource,
    where: Where,
) -> PaymentOrder:
    # A beneficiary may be named once for all transactions.
    beneficiary = known(transfer.beneficiary) or known(body.beneficiary)
    creditor = None if beneficiary is None else beneficiary.creditor
    date = first(transfer.requested_execution_date, body.requested_execution_date)
    execute = where.when(date, member="requestedExecutionDate")
    frequency = first(transfer.frequency)
    amount = transfer.instructed_amount
    recurrence = None
    kind = PaymentKind.SINGLE if execute is None else PaymentKind.FUTURE_DATED
    if frequency is not None:
        kind = PaymentKind.RECURRING
        recurrence = Recurrence(
            frequency=Code.of(frequency, RHYTHMS),
            first=execute,
            last=where.when(transfer.end_date, member="endDate"),
        )
    return PaymentOrder(
        kind=kind,
        raw=body,
        amount=where.money(amount.amount, amount.currency, member="instructedAmount"),
        creditor=None if beneficiary is None else account_reference(beneficiary.creditor_account),
        creditor_name=None if creditor is None else creditor.name,
        debtor=account_reference(body.debtor_account),
        reference=remittance_text(transfer.remittance_information),
        end_to_end_id=transfer.payment_id.end_to_end_id,
        instruction_id=transfer.payment_id.instruction_id,
        international=_international(body),
        execute=None if recurrence is not None else execute,
        recurrence=recurrence,
    )


def payment(body: payments.PaymentRequest, *, payment_id: str) -> Payment:
    """A payment at the bank.

    Args:
        body: The answer.
        payment_id: The id asked for; the resource's own wins.

    Raises:
        MalformedBody: If an amount or a date means nothing.
    """
    resource = body.payment_request
    status = first(resource.payment_information_status) or ""
    return Payment(
        id=first(resource.resource_id) or payment_id,
        status=Code.of(status, PAYMENT_STATUS),
        raw=body,
        order=payment_order(resource),
        reason=first(resource.status_reason_information),
    )


def _international(body: payments.PaymentRequestResource) -> bool:
    return body.payment_type_information.service_level == "NURG"


def _next(links: dict[str, wire.Link]) -> str | None:
    following = links.get("next")
    return None if following is None else following.href
