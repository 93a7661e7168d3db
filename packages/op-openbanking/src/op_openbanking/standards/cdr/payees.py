"""Payees, direct debits and scheduled payments.

Source: Consumer Data Standards 1.31.0, cds_banking.json and cds_common.json.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.cdr.wire import (
    Links,
    LinksPaginated,
    MetaPaginated,
    OpenObject,
    Shape,
)


class Payee(Shape, frozen=True, kw_only=True):
    """Schema `BankingPayeeV2`."""

    payee_id: str
    nickname: str
    type: str
    description: Maybe[str] = UNSET
    creation_date: Maybe[str] = UNSET


class PayeesData(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingPayeeListV2_data`."""

    payees: list[Payee]


class Payees(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingPayeeListV2`."""

    data: PayeesData
    links: LinksPaginated
    meta: MetaPaginated


class BillerPayee(Shape, frozen=True, kw_only=True):
    """Schema `BankingBillerPayee`."""

    biller_code: str
    biller_name: str
    crn: Maybe[str] = UNSET


class DomesticPayeeAccount(Shape, frozen=True, kw_only=True):
    """Schema `BankingDomesticPayeeAccount`."""

    bsb: str
    account_number: str
    account_name: Maybe[str] = UNSET


class DomesticPayeeCard(Shape, frozen=True, kw_only=True):
    """Schema `BankingDomesticPayeeCard`."""

    card_number: str


class DomesticPayeePayId(Shape, frozen=True, kw_only=True):
    """Schema `BankingDomesticPayeePayId`."""

    identifier: str
    type: str
    name: Maybe[str] = UNSET


class DomesticPayee(Shape, frozen=True, kw_only=True):
    """Schema `BankingDomesticPayee`."""

    payee_account_u_type: str
    account: Maybe[DomesticPayeeAccount] = UNSET
    card: Maybe[DomesticPayeeCard] = UNSET
    pay_id: Maybe[DomesticPayeePayId] = UNSET


class DigitalWalletPayee(Shape, frozen=True, kw_only=True):
    """Schema `BankingDigitalWalletPayee`."""

    name: str
    identifier: str
    type: str
    provider: str


class BeneficiaryDetails(Shape, frozen=True, kw_only=True):
    """Schema `BankingInternationalPayee_beneficiaryDetails`."""

    country: str
    name: Maybe[str] = UNSET
    message: Maybe[str] = UNSET


class BankAddress(Shape, frozen=True, kw_only=True):
    """Schema `BankingInternationalPayee_bankDetails_bankAddress`."""

    name: str
    address: str


class BankDetails(Shape, frozen=True, kw_only=True):
    """Schema `BankingInternationalPayee_bankDetails`."""

    country: str
    account_number: str
    bank_address: Maybe[BankAddress] = UNSET
    beneficiary_bank_bic: Maybe[str] = field(default=UNSET, name="beneficiaryBankBIC")
    fed_wire_number: Maybe[str] = UNSET
    sort_code: Maybe[str] = UNSET
    chip_number: Maybe[str] = UNSET
    routing_number: Maybe[str] = UNSET
    legal_entity_identifier: Maybe[str] = UNSET


class InternationalPayee(Shape, frozen=True, kw_only=True):
    """Schema `BankingInternationalPayee`."""

    beneficiary_details: BeneficiaryDetails
    bank_details: BankDetails


class PayeeDetail(Shape, frozen=True, kw_only=True):
    """Schema `BankingPayeeDetailV2`."""

    payee_id: str
    nickname: str
    type: str
    payee_u_type: str
    description: Maybe[str] = UNSET
    creation_date: Maybe[str] = UNSET
    biller: Maybe[BillerPayee] = UNSET
    domestic: Maybe[DomesticPayee] = UNSET
    digital_wallet: Maybe[DigitalWalletPayee] = UNSET
    international: Maybe[InternationalPayee] = UNSET


class PayeeResponse(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingPayeeByIdV2`."""

    data: PayeeDetail
    links: Links
    meta: Maybe[OpenObject] = UNSET


class AuthorisedEntity(Shape, frozen=True, kw_only=True):
    """Schema `BankingAuthorisedEntity`."""

    description: Maybe[str] = UNSET
    financial_institution: Maybe[str] = UNSET
    abn: Maybe[str] = UNSET
    acn: Maybe[str] = UNSET
    arbn: Maybe[str] = UNSET


class DirectDebit(Shape, frozen=True, kw_only=True):
    """Schema `BankingDirectDebit`."""

    account_id: str
    authorised_entity: AuthorisedEntity
    last_debit_date_time: Maybe[str] = UNSET
    last_debit_amount: Maybe[str] = UNSET


class DirectDebitsData(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingDirectDebitAuthorisationList_data`."""

    direct_debit_authorisations: list[DirectDebit]


class DirectDebits(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingDirectDebitAuthorisationList`."""

    data: DirectDebitsData
    links: LinksPaginated
    meta: MetaPaginated


class ScheduledPaymentFrom(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentFrom`."""

    account_id: str


class ScheduledPaymentTo(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentToV2`."""

    to_u_type: str
    account_id: Maybe[str] = UNSET
    payee_id: Maybe[str] = UNSET
    nickname: Maybe[str] = UNSET
    payee_reference: Maybe[str] = UNSET
    digital_wallet: Maybe[DigitalWalletPayee] = UNSET
    domestic: Maybe[DomesticPayee] = UNSET
    biller: Maybe[BillerPayee] = UNSET
    international: Maybe[InternationalPayee] = UNSET


class ScheduledPaymentSet(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentSetV2`."""

    to: ScheduledPaymentTo
    is_amount_calculated: Maybe[bool] = UNSET
    amount: Maybe[str] = UNSET
    currency: Maybe[str] = UNSET


class ScheduledPaymentRecurrenceOnceOff(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentRecurrenceOnceOff`."""

    payment_date: str


class ScheduledPaymentInterval(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentInterval`."""

    interval: str
    day_in_interval: Maybe[str] = UNSET


class ScheduledPaymentRecurrenceIntervalSchedule(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentRecurrenceIntervalSchedule`."""

    intervals: list[ScheduledPaymentInterval]
    final_payment_date: Maybe[str] = UNSET
    payments_remaining: Maybe[int] = UNSET
    non_business_day_treatment: Maybe[str] = UNSET


class ScheduledPaymentRecurrenceLastWeekday(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentRecurrenceLastWeekday`."""

    interval: str
    last_week_day: str
    final_payment_date: Maybe[str] = UNSET
    payments_remaining: Maybe[int] = UNSET
    non_business_day_treatment: Maybe[str] = UNSET


class ScheduledPaymentRecurrenceEventBased(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentRecurrenceEventBased`."""

    description: str


class ScheduledPaymentRecurrence(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentRecurrence`."""

    recurrence_u_type: str
    next_payment_date: Maybe[str] = UNSET
    once_off: Maybe[ScheduledPaymentRecurrenceOnceOff] = UNSET
    interval_schedule: Maybe[ScheduledPaymentRecurrenceIntervalSchedule] = UNSET
    last_week_day: Maybe[ScheduledPaymentRecurrenceLastWeekday] = UNSET
    event_based: Maybe[ScheduledPaymentRecurrenceEventBased] = UNSET


class ScheduledPayment(Shape, frozen=True, kw_only=True):
    """Schema `BankingScheduledPaymentV2`."""

    scheduled_payment_id: str
    payer_reference: str
    status: str
    from_: ScheduledPaymentFrom
    payment_set: list[ScheduledPaymentSet]
    recurrence: ScheduledPaymentRecurrence
    nickname: Maybe[str] = UNSET
    payee_reference: Maybe[str] = UNSET


class ScheduledPaymentsData(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingScheduledPaymentsListV2_data`."""

    scheduled_payments: list[ScheduledPayment]


class ScheduledPayments(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingScheduledPaymentsListV2`."""

    data: ScheduledPaymentsData
    links: LinksPaginated
    meta: MetaPaginated
