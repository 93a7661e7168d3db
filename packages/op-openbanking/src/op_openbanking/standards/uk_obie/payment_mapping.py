"""UK Open Banking payments and variable recurring payments in the model.

Source: OBIE Read/Write 3.1.11, payment initiation and VRP; `Frequency` patterns of standing orders.
"""

from __future__ import annotations

import re
from typing import assert_never

from op_openbanking.model.code import Code
from op_openbanking.model.money import Money
from op_openbanking.model.payment import (
    Payment,
    PaymentKind,
    PaymentOrder,
    PaymentStatus,
    Recurrence,
    Rhythm,
)
from op_openbanking.model.vrp import Alignment, Period, PeriodicLimit, VRPMandate, VRPPayment
from op_openbanking.standards.base import Maybe, Number, known
from op_openbanking.standards.uk_obie import domestic, file, international, vrp, wire
from op_openbanking.standards.uk_obie.mapping import account_reference, vrp_consent
from op_openbanking.standards.where import Where, first

PAYMENT_STATUSES = {
    "AwaitingAuthorisation": PaymentStatus.AWAITING,
    "Received": PaymentStatus.RECEIVED,
    "Pending": PaymentStatus.PENDING,
    "InitiationPending": PaymentStatus.PENDING,
    "AcceptedTechnicalValidation": PaymentStatus.ACCEPTED_TECHNICAL,
    "AcceptedCustomerProfile": PaymentStatus.ACCEPTED_CUSTOMER,
    "AcceptedFundsChecked": PaymentStatus.ACCEPTED_CUSTOMER,
    "AcceptedSettlementInProcess": PaymentStatus.IN_SETTLEMENT,
    "AcceptedWithChange": PaymentStatus.IN_SETTLEMENT,
    "AcceptedWithoutPosting": PaymentStatus.WITHOUT_POSTING,
    "AcceptedSettlementCompleted": PaymentStatus.DEBTOR_SETTLED,
    "InitiationCompleted": PaymentStatus.DEBTOR_SETTLED,
    "AcceptedCreditSettlementCompleted": PaymentStatus.CREDITOR_CREDITED,
    "Rejected": PaymentStatus.REJECTED,
    "InitiationFailed": PaymentStatus.REJECTED,
    "Cancelled": PaymentStatus.CANCELLED,
    "PaymentCancelled": PaymentStatus.CANCELLED,
}
PERIODS = {
    "Day": Period.DAY,
    "Week": Period.WEEK,
    "Fortnight": Period.FORTNIGHT,
    "Month": Period.MONTH,
    "Half-year": Period.HALF_YEAR,
    "Year": Period.YEAR,
}
ALIGNMENTS = {"Consent": Alignment.CONSENT, "Calendar": Alignment.CALENDAR}

_STANDARD = "uk-obie"
_INTERVAL = re.compile(r"(IntrvlWkDay|IntrvlMnthDay):([0-9]{1,2}):", re.ASCII)
_INTERVALS = {
    ("IntrvlWkDay", 1): Rhythm.WEEKLY,
    ("IntrvlWkDay", 2): Rhythm.EVERY_TWO_WEEKS,
    ("IntrvlMnthDay", 1): Rhythm.MONTHLY,
    ("IntrvlMnthDay", 2): Rhythm.EVERY_TWO_MONTHS,
    ("IntrvlMnthDay", 3): Rhythm.QUARTERLY,
    ("IntrvlMnthDay", 6): Rhythm.SEMI_ANNUAL,
    ("IntrvlMnthDay", 12): Rhythm.ANNUAL,
}
_PREFIXES = {
    "EvryDay": Rhythm.DAILY,
    "WkInMnthDay": Rhythm.MONTHLY,
    "QtrDay": Rhythm.QUARTERLY,
}

Initiation = (
    domestic.DomesticInitiation
    | domestic.DomesticScheduledInitiation
    | domestic.DomesticStandingOrderInitiation
    | international.InternationalInitiation
    | international.InternationalScheduledInitiation
    | international.InternationalStandingOrderInitiation
    | file.FileInitiation
)
"""What is to be paid, of any payment resource."""

PaymentResponse = (
    domestic.DomesticPaymentResponse
    | domestic.DomesticScheduledPaymentResponse
    | domestic.DomesticStandingOrderResponse
    | international.InternationalPaymentResponse
    | international.InternationalScheduledPaymentResponse
    | international.InternationalStandingOrderResponse
    | file.FilePaymentResponse
)
"""What the bank answers to any payment."""


def rhythm(frequency: str) -> Code[Rhythm]:
    """A standing order's frequency; banks drop leading zeros, so both forms are read."""
    interval = _INTERVAL.match(frequency)
    if interval is not None:
        known_rhythm = _INTERVALS.get((interval[1], int(interval[2])))
    else:
        known_rhythm = _PREFIXES.get(frequency.partition(":")[0])
    return Code(text=frequency, known=known_rhythm)


def payment_order(initiation: Initiation) -> PaymentOrder:
    """What is to be paid.

    The order's `raw` is the Initiation: send that one, so that it equals the consent's.

    Raises:
        MalformedBody: If an amount or a date means nothing.
    """
    where = Where(_STANDARD, "payment", "$.Data.Initiation")
    match initiation:
        case file.FileInitiation():
            return _file_order(initiation, where)
        case (
            domestic.DomesticStandingOrderInitiation()
            | international.InternationalStandingOrderInitiation()
        ):
            return _standing_order(initiation, where)
        case _:
            return _single_order(initiation, where)


def _single_order(
    initiation: domestic.DomesticInitiation
    | domestic.DomesticScheduledInitiation
    | international.InternationalInitiation
    | international.InternationalScheduledInitiation,
    where: Where,
) -> PaymentOrder:
    execute = None
    if isinstance(
        initiation,
        domestic.DomesticScheduledInitiation | international.InternationalScheduledInitiation,
    ):
        execute = where.when(
            initiation.requested_execution_date_time, member="RequestedExecutionDateTime"
        )
    abroad = isinstance(
        initiation,
        international.InternationalInitiation | international.InternationalScheduledInitiation,
    )
    creditor = account_reference(initiation.creditor_account)
    return PaymentOrder(
        kind=PaymentKind.SINGLE if execute is None else PaymentKind.FUTURE_DATED,
        raw=initiation,
        amount=_money(initiation.instructed_amount, where, "InstructedAmount"),
        creditor=creditor,
        creditor_name=creditor.name if creditor else None,
        debtor=account_reference(initiation.debtor_account),
        reference=_reference(initiation.remittance_information),
        end_to_end_id=first(initiation.end_to_end_identification),
        instruction_id=first(initiation.instruction_identification),
        international=abroad,
        execute=execute,
    )


def _standing_order(
    initiation: domestic.DomesticStandingOrderInitiation
    | international.InternationalStandingOrderInitiation,
    where: Where,
) -> PaymentOrder:
    if isinstance(initiation, domestic.DomesticStandingOrderInitiation):
        amount = _money(initiation.first_payment_amount, where, "FirstPaymentAmount")
    else:
        amount = _money(initiation.instructed_amount, where, "InstructedAmount")
    creditor = account_reference(initiation.creditor_account)
    count = first(initiation.number_of_payments)
    if count is not None and not (count.isascii() and count.isdigit()):
        raise where.refusal("no count", member="NumberOfPayments")
    return PaymentOrder(
        kind=PaymentKind.RECURRING,
        raw=initiation,
        amount=amount,
        creditor=creditor,
        creditor_name=creditor.name if creditor else None,
        debtor=account_reference(initiation.debtor_account),
        reference=first(initiation.reference),
        international=isinstance(initiation, international.InternationalStandingOrderInitiation),
        recurrence=Recurrence(
            frequency=rhythm(initiation.frequency),
            first=where.when(initiation.first_payment_date_time, member="FirstPaymentDateTime"),
            last=where.when(initiation.final_payment_date_time, member="FinalPaymentDateTime"),
            count=None if count is None else int(count[:9]),
        ),
    )


def _file_order(initiation: file.FileInitiation, where: Where) -> PaymentOrder:
    count = first(initiation.number_of_transactions)
    if count is not None and not (count.isascii() and count.isdigit()):
        raise where.refusal("no count", member="NumberOfTransactions")
    total = known(initiation.control_sum)
    return PaymentOrder(
        kind=PaymentKind.BULK,
        raw=initiation,
        debtor=account_reference(initiation.debtor_account),
        reference=first(initiation.file_reference),
        execute=where.when(
            initiation.requested_execution_date_time, member="RequestedExecutionDateTime"
        ),
        count=None if count is None else int(count[:9]),
        control_sum=total.text if isinstance(total, Number) else None,
    )


def payment(body: PaymentResponse) -> Payment:
    """A payment at the bank.

    Raises:
        MalformedBody: If an amount or a date means nothing.
    """
    data = body.data
    where = Where(_STANDARD, "payment", "$.Data")
    return Payment(
        id=_payment_id(body),
        status=Code.of(data.status, PAYMENT_STATUSES),
        raw=body,
        consent_id=data.consent_id,
        order=payment_order(data.initiation),
        updated=where.when(data.status_update_date_time, member="StatusUpdateDateTime"),
    )


def _payment_id(body: PaymentResponse) -> str:
    match body:
        case domestic.DomesticPaymentResponse():
            identity = body.data.domestic_payment_id
        case domestic.DomesticScheduledPaymentResponse():
            identity = body.data.domestic_scheduled_payment_id
        case domestic.DomesticStandingOrderResponse():
            identity = body.data.domestic_standing_order_id
        case international.InternationalPaymentResponse():
            identity = body.data.international_payment_id
        case international.InternationalScheduledPaymentResponse():
            identity = body.data.international_scheduled_payment_id
        case international.InternationalStandingOrderResponse():
            identity = body.data.international_standing_order_id
        case file.FilePaymentResponse():
            identity = body.data.file_payment_id
        case _:
            assert_never(body)
    return identity


def vrp_mandate(body: vrp.VRPConsentResponse) -> VRPMandate:
    """What a VRP consent lets us pay.

    Raises:
        MalformedBody: If a limit or a date means nothing.
    """
    control = body.data.control_parameters
    where = Where(_STANDARD, "domestic-vrp-consent", "$.Data.ControlParameters")
    limits = [
        PeriodicLimit(
            period=Code.of(limit.period_type, PERIODS),
            alignment=Code.of(limit.period_alignment, ALIGNMENTS),
            amount=where.at(f".PeriodicLimits[{index}]").money(
                limit.amount, limit.currency, member="Amount"
            ),
        )
        for index, limit in enumerate(control.periodic_limits)
    ]
    return VRPMandate(
        consent=vrp_consent(body),
        raw=body,
        maximum=_money(control.maximum_individual_amount, where, "MaximumIndividualAmount"),
        limits=tuple(limits),
        kinds=tuple(control.vrp_type),
        valid_from=where.when(control.valid_from_date_time, member="ValidFromDateTime"),
        valid_to=where.when(control.valid_to_date_time, member="ValidToDateTime"),
        creditor=account_reference(body.data.initiation.creditor_account),
        debtor=account_reference(body.data.initiation.debtor_account),
    )


def vrp_payment(body: vrp.VRPPaymentResponse) -> VRPPayment:
    """A payment under a mandate.

    Raises:
        MalformedBody: If an amount or a date means nothing.
    """
    data = body.data
    where = Where(_STANDARD, "domestic-vrp", "$.Data")
    instruction = data.instruction
    return VRPPayment(
        id=data.domestic_vrp_id,
        consent_id=data.consent_id,
        amount=_money(instruction.instructed_amount, where, "Instruction.InstructedAmount"),
        status=Code.of(data.status, PAYMENT_STATUSES),
        raw=body,
        creditor=account_reference(instruction.creditor_account),
        reference=_reference(instruction.remittance_information),
        end_to_end_id=first(instruction.end_to_end_identification),
        updated=where.when(data.status_update_date_time, member="StatusUpdateDateTime"),
    )


def _money(amount: wire.Amount, where: Where, member: str) -> Money:
    return where.money(amount.amount, amount.currency, member=member)


def _reference(remittance: Maybe[wire.RemittanceInformation]) -> str | None:
    if not isinstance(remittance, wire.RemittanceInformation):
        return None
    return first(remittance.reference, remittance.unstructured)
