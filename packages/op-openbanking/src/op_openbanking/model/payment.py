"""Payment orders: single, future-dated, recurring, bulk and international, and their progress.

Source: OBIE 3.1.11 OBWriteDomestic2 and its family; Berlin Group 1.3.12 paymentInitiation_json and
its family; STET 1.4.0.47 PaymentRequestResource; ISO 20022 ExternalPaymentTransactionStatus1Code.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from op_openbanking.errors import InvalidValue
from op_openbanking.model.account import AccountReference
from op_openbanking.model.code import Code
from op_openbanking.model.money import Money
from op_openbanking.model.when import When
from op_openbanking.standards.base import Wire


class PaymentKind(StrEnum):
    """How an order is carried out."""

    SINGLE = "single"
    FUTURE_DATED = "future-dated"
    RECURRING = "recurring"
    BULK = "bulk"


class Rhythm(StrEnum):
    """How often a recurring order pays."""

    DAILY = "daily"
    WEEKLY = "weekly"
    EVERY_TWO_WEEKS = "every-two-weeks"
    MONTHLY = "monthly"
    EVERY_TWO_MONTHS = "every-two-months"
    QUARTERLY = "quarterly"
    SEMI_ANNUAL = "semi-annual"
    ANNUAL = "annual"
    VARIABLE = "variable"


class PaymentStatus(StrEnum):
    """How far a payment is; the order is that of ISO 20022."""

    AWAITING = "awaiting"
    RECEIVED = "received"
    PENDING = "pending"
    PARTIALLY_ACCEPTED = "partially-accepted"
    ACCEPTED_TECHNICAL = "accepted-technical"
    ACCEPTED_CUSTOMER = "accepted-customer"
    IN_SETTLEMENT = "in-settlement"
    WITHOUT_POSTING = "without-posting"
    DEBTOR_SETTLED = "debtor-settled"
    CREDITOR_CREDITED = "creditor-credited"
    REJECTED = "rejected"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether no other status follows for the payer's side.

        `debtor-settled` is final for the payer only; the payee may be credited afterwards.
        """
        return self in _FINAL


_FINAL = frozenset(
    {
        PaymentStatus.DEBTOR_SETTLED,
        PaymentStatus.CREDITOR_CREDITED,
        PaymentStatus.REJECTED,
        PaymentStatus.CANCELLED,
    }
)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """When a recurring order pays.

    Attributes:
        frequency: The rhythm; its text is the standard's own word or pattern.
        first: First payment.
        last: Last payment, or None for no end.
        count: Number of payments, where that ends it.
    """

    frequency: Code[Rhythm]
    first: When | None = None
    last: When | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class PaymentOrder:
    """What is to be paid.

    Attributes:
        kind: Single, future-dated, recurring or bulk.
        amount: For each payment; None for a bulk order, whose `orders` have their own.
        creditor: Who is paid; None for a bulk order.
        raw: The wire object it was read from. Send that one: an order rebuilt from these
            fields is not the one that was consented to.
        creditor_name: Name of the payee, where it is not in the reference.
        debtor: The account to pay from, where it is fixed beforehand.
        reference: What the payee sees.
        end_to_end_id: Identifier that travels with the payment.
        instruction_id: Identifier between us and the bank.
        international: Whether it crosses currencies or borders under the standard's own product.
        execute: Requested day or time of a future-dated order.
        recurrence: When a recurring order pays.
        orders: Orders inside a bulk order, where the standard lists them (OBIE uploads a file).
        count: Number of payments in a bulk order, where stated.
        control_sum: Sum of a bulk order's amounts as written, where stated.

    Raises:
        InvalidValue: If a member that the kind demands is missing.
    """

    kind: PaymentKind
    raw: Wire
    amount: Money | None = None
    creditor: AccountReference | None = None
    creditor_name: str | None = None
    debtor: AccountReference | None = None
    reference: str | None = None
    end_to_end_id: str | None = None
    instruction_id: str | None = None
    international: bool = False
    execute: When | None = None
    recurrence: Recurrence | None = None
    orders: tuple[PaymentOrder, ...] = ()
    count: int | None = None
    control_sum: str | None = None

    def __post_init__(self) -> None:
        demanded = {
            PaymentKind.SINGLE: ("amount", self.amount),
            PaymentKind.FUTURE_DATED: ("execute", self.execute),
            PaymentKind.RECURRING: ("recurrence", self.recurrence),
            PaymentKind.BULK: ("kind", self.kind),
        }
        name, value = demanded[self.kind]
        if value is None:
            raise InvalidValue(
                f"{self.kind} payment", "an order", expected=f"complete: `{name}` is missing"
            )


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment at the bank.

    Attributes:
        id: The bank's id.
        status: How far it is.
        raw: The wire object it was read from.
        consent_id: The consent it was made under, where the standard has one.
        order: What is paid, where the answer repeats it.
        updated: When the status was reached, where the bank says.
        reason: Why it stands there, in the bank's own code.
    """

    id: str
    status: Code[PaymentStatus]
    raw: Wire
    consent_id: str | None = None
    order: PaymentOrder | None = None
    updated: When | None = None
    reason: str | None = None
