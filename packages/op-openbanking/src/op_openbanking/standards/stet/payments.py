"""Payment requests and coverage of funds.

Source: STET PSD2 API 1.4.0.47, swagger file.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.stet.wire import (
    AccountIdentification,
    Amount,
    Beneficiary,
    FinancialInstitutionIdentification,
    Link,
    PartyIdentification,
    RemittanceInformation,
    Shape,
)


class PaymentTypeInformation(Shape, frozen=True, kw_only=True):
    """Schema `PaymentTypeInformation`."""

    service_level: str
    instruction_priority: Maybe[str] = UNSET
    local_instrument: Maybe[str] = UNSET
    category_purpose: Maybe[str] = UNSET


class PaymentIdentification(Shape, frozen=True, kw_only=True):
    """Schema `PaymentIdentification`."""

    instruction_id: str
    end_to_end_id: str
    resource_id: Maybe[str] = UNSET


class CreditTransferTransaction(Shape, frozen=True, kw_only=True):
    """Schema `CreditTransferTransaction`."""

    payment_id: PaymentIdentification
    instructed_amount: Amount
    remittance_information: list[str] | RemittanceInformation
    requested_execution_date: Maybe[str] = UNSET
    end_date: Maybe[str] = UNSET
    execution_rule: Maybe[str] = UNSET
    frequency: Maybe[str] = UNSET
    beneficiary: Maybe[Beneficiary] = UNSET
    ultimate_creditor: Maybe[PartyIdentification] = UNSET
    regulatory_reporting_codes: Maybe[list[str]] = UNSET
    transaction_status: Maybe[str] = UNSET
    status_reason_information: Maybe[str] = UNSET


class SupplementaryData(Shape, frozen=True, kw_only=True):
    """Schema `SupplementaryData`."""

    accepted_authentication_approach: Maybe[list[str]] = UNSET
    applied_authentication_approach: Maybe[str] = UNSET
    sca_hint: Maybe[str] = UNSET
    successful_report_url: Maybe[str] = UNSET
    unsuccessful_report_url: Maybe[str] = UNSET


class PaymentRequestResource(Shape, frozen=True, kw_only=True):
    """Schema `PaymentRequestResource`."""

    payment_information_id: str
    creation_date_time: str
    number_of_transactions: int
    initiating_party: PartyIdentification
    payment_type_information: PaymentTypeInformation
    credit_transfer_transaction: list[CreditTransferTransaction]
    supplementary_data: SupplementaryData
    resource_id: Maybe[str] = UNSET
    debtor: Maybe[PartyIdentification] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    debtor_agent: Maybe[FinancialInstitutionIdentification] = UNSET
    beneficiary: Maybe[Beneficiary] = UNSET
    ultimate_creditor: Maybe[PartyIdentification] = UNSET
    purpose: Maybe[str] = UNSET
    charge_bearer: Maybe[str] = UNSET
    payment_information_status: Maybe[str] = UNSET
    status_reason_information: Maybe[str] = UNSET
    funds_availability: Maybe[bool] = UNSET
    booking: Maybe[bool] = UNSET
    requested_execution_date: Maybe[str] = UNSET


class PaymentRequest(Shape, frozen=True, kw_only=True):
    """Schema `HalPaymentRequest`."""

    payment_request: PaymentRequestResource
    links: dict[str, Link] = field(name="_links")


class PaymentRequestCreated(Shape, frozen=True, kw_only=True):
    """Schema `HalPaymentRequestCreation`."""

    applied_authentication_approach: Maybe[str] = UNSET
    links: Maybe[dict[str, Link]] = field(default=UNSET, name="_links")


class Confirmation(Shape, frozen=True, kw_only=True):
    """Schema `ConfirmationResource`."""

    psu_authentication_factor: Maybe[str] = UNSET


class PaymentCoverageRequest(Shape, frozen=True, kw_only=True):
    """Schema `PaymentCoverageRequestResource`."""

    payment_coverage_request_id: str
    instructed_amount: Amount
    account_id: AccountIdentification
    payee: Maybe[str] = UNSET


class PaymentCoverageReport(Shape, frozen=True, kw_only=True):
    """Schema `HalPaymentCoverageReport`."""

    request: PaymentCoverageRequest
    result: bool
    links: dict[str, Link] = field(name="_links")
