"""Beneficiaries, standing orders, direct debits and scheduled payments.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import (
    AccountIdentification,
    Agent,
    Amount,
    Links,
    Meta,
    OpenObject,
    Servicer,
    Shape,
)


class Beneficiary(Shape, frozen=True, kw_only=True):
    """Schema `OBBeneficiary5`."""

    account_id: Maybe[str] = UNSET
    beneficiary_id: Maybe[str] = UNSET
    beneficiary_type: Maybe[str] = UNSET
    reference: Maybe[str] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET
    creditor_agent: Maybe[Agent] = UNSET
    creditor_account: Maybe[AccountIdentification] = UNSET


class BeneficiariesData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `Beneficiaries`."""

    beneficiary: Maybe[list[Beneficiary]] = UNSET


class Beneficiaries(Shape, frozen=True, kw_only=True):
    """Schema `OBReadBeneficiary5`."""

    data: BeneficiariesData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class StandingOrder(Shape, frozen=True, kw_only=True):
    """Schema `OBStandingOrder6`."""

    account_id: str
    frequency: str
    standing_order_id: Maybe[str] = UNSET
    reference: Maybe[str] = UNSET
    first_payment_date_time: Maybe[str] = UNSET
    next_payment_date_time: Maybe[str] = UNSET
    last_payment_date_time: Maybe[str] = UNSET
    final_payment_date_time: Maybe[str] = UNSET
    number_of_payments: Maybe[str] = UNSET
    standing_order_status_code: Maybe[str] = UNSET
    first_payment_amount: Maybe[Amount] = UNSET
    next_payment_amount: Maybe[Amount] = UNSET
    last_payment_amount: Maybe[Amount] = UNSET
    final_payment_amount: Maybe[Amount] = UNSET
    creditor_agent: Maybe[Servicer] = UNSET
    creditor_account: Maybe[AccountIdentification] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class StandingOrdersData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `StandingOrders`."""

    standing_order: Maybe[list[StandingOrder]] = UNSET


class StandingOrders(Shape, frozen=True, kw_only=True):
    """Schema `OBReadStandingOrder6`."""

    data: StandingOrdersData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class DirectDebit(Shape, frozen=True, kw_only=True):
    """Member `DirectDebit` of `DirectDebitsData`."""

    account_id: str
    mandate_identification: str
    name: str
    direct_debit_id: Maybe[str] = UNSET
    direct_debit_status_code: Maybe[str] = UNSET
    previous_payment_date_time: Maybe[str] = UNSET
    frequency: Maybe[str] = UNSET
    previous_payment_amount: Maybe[Amount] = UNSET


class DirectDebitsData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DirectDebits`."""

    direct_debit: Maybe[list[DirectDebit]] = UNSET


class DirectDebits(Shape, frozen=True, kw_only=True):
    """Schema `OBReadDirectDebit2`."""

    data: DirectDebitsData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class ScheduledPayment(Shape, frozen=True, kw_only=True):
    """Schema `OBScheduledPayment3`."""

    account_id: str
    scheduled_payment_date_time: str
    scheduled_type: str
    instructed_amount: Amount
    scheduled_payment_id: Maybe[str] = UNSET
    reference: Maybe[str] = UNSET
    debtor_reference: Maybe[str] = UNSET
    creditor_agent: Maybe[Servicer] = UNSET
    creditor_account: Maybe[AccountIdentification] = UNSET


class ScheduledPaymentsData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `ScheduledPayments`."""

    scheduled_payment: Maybe[list[ScheduledPayment]] = UNSET


class ScheduledPayments(Shape, frozen=True, kw_only=True):
    """Schema `OBReadScheduledPayment3`."""

    data: ScheduledPaymentsData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
