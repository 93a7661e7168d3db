"""Single, future-dated, periodic and bulk payments, and their status.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12 (2022-07-01), OpenAPI file.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.berlin_group.wire import (
    AccountOwner,
    AccountReference,
    Address,
    Amount,
    AuthenticationObject,
    ChallengeData,
    Href,
    Shape,
    TPPMessage,
)


class Payment(Shape, frozen=True, kw_only=True):
    """Schema `paymentInitiation_json`.

    The two execution members make it future-dated; the text has them, the file does not.
    """

    debtor_account: AccountReference
    instructed_amount: Amount
    creditor_account: AccountReference
    creditor_name: str
    end_to_end_identification: Maybe[str] = UNSET
    creditor_agent: Maybe[str] = UNSET
    creditor_agent_name: Maybe[str] = UNSET
    creditor_address: Maybe[Address] = UNSET
    remittance_information_unstructured: Maybe[str] = UNSET
    requested_execution_date: Maybe[str] = UNSET
    requested_execution_time: Maybe[str] = UNSET


class PeriodicPayment(Shape, frozen=True, kw_only=True):
    """Schema `periodicPaymentInitiation_json`."""

    debtor_account: AccountReference
    instructed_amount: Amount
    creditor_account: AccountReference
    creditor_name: str
    start_date: str
    frequency: str
    end_to_end_identification: Maybe[str] = UNSET
    creditor_agent: Maybe[str] = UNSET
    creditor_address: Maybe[Address] = UNSET
    remittance_information_unstructured: Maybe[str] = UNSET
    end_date: Maybe[str] = UNSET
    execution_rule: Maybe[str] = UNSET
    day_of_execution: Maybe[str] = UNSET
    months_of_execution: Maybe[list[str]] = UNSET


class BulkElement(Shape, frozen=True, kw_only=True):
    """Schema `paymentInitiationBulkElement_json`."""

    instructed_amount: Amount
    creditor_account: AccountReference
    creditor_name: str
    end_to_end_identification: Maybe[str] = UNSET
    creditor_agent: Maybe[str] = UNSET
    creditor_agent_name: Maybe[str] = UNSET
    creditor_address: Maybe[Address] = UNSET
    remittance_information_unstructured: Maybe[str] = UNSET


class BulkPayment(Shape, frozen=True, kw_only=True):
    """Schema `bulkPaymentInitiation_json`."""

    debtor_account: AccountReference
    payments: list[BulkElement]
    batch_booking_preferred: Maybe[bool] = UNSET
    requested_execution_date: Maybe[str] = UNSET
    requested_execution_time: Maybe[str] = UNSET


class PaymentCreated(Shape, frozen=True, kw_only=True):
    """Schema `paymentInitiationRequestResponse-201`."""

    transaction_status: str
    payment_id: str
    links: dict[str, Href] = field(name="_links")
    transaction_fees: Maybe[Amount] = UNSET
    currency_conversion_fee: Maybe[Amount] = UNSET
    estimated_total_amount: Maybe[Amount] = UNSET
    estimated_interbank_settlement_amount: Maybe[Amount] = UNSET
    transaction_fee_indicator: Maybe[bool] = UNSET
    sca_methods: Maybe[list[AuthenticationObject]] = UNSET
    chosen_sca_method: Maybe[AuthenticationObject] = UNSET
    challenge_data: Maybe[ChallengeData] = UNSET
    psu_message: Maybe[str] = UNSET
    tpp_messages: Maybe[list[TPPMessage]] = UNSET


class PaymentStatusResponse(Shape, frozen=True, kw_only=True):
    """Schema `paymentInitiationStatusResponse-200_json`."""

    transaction_status: str
    funds_available: Maybe[bool] = UNSET
    psu_message: Maybe[str] = UNSET
    owner_names: Maybe[list[AccountOwner]] = UNSET
    psu_name: Maybe[str] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")
    tpp_message: Maybe[list[TPPMessage]] = UNSET


class PaymentCancelled(Shape, frozen=True, kw_only=True):
    """Schema `paymentInitiationCancelResponse-202`."""

    transaction_status: str
    sca_methods: Maybe[list[AuthenticationObject]] = UNSET
    chosen_sca_method: Maybe[AuthenticationObject] = UNSET
    challenge_data: Maybe[ChallengeData] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")


class PaymentInformation(Shape, frozen=True, kw_only=True):
    """Schema `paymentInitiationWithStatusResponse`."""

    debtor_account: AccountReference
    instructed_amount: Amount
    creditor_account: AccountReference
    creditor_name: str
    end_to_end_identification: Maybe[str] = UNSET
    creditor_agent: Maybe[str] = UNSET
    creditor_address: Maybe[Address] = UNSET
    remittance_information_unstructured: Maybe[str] = UNSET
    transaction_status: Maybe[str] = UNSET
    tpp_message: Maybe[list[TPPMessage]] = UNSET


class PeriodicPaymentInformation(Shape, frozen=True, kw_only=True):
    """Schema `periodicPaymentInitiationWithStatusResponse`."""

    debtor_account: AccountReference
    instructed_amount: Amount
    creditor_account: AccountReference
    creditor_name: str
    start_date: str
    frequency: str
    end_to_end_identification: Maybe[str] = UNSET
    creditor_agent: Maybe[str] = UNSET
    creditor_address: Maybe[Address] = UNSET
    remittance_information_unstructured: Maybe[str] = UNSET
    end_date: Maybe[str] = UNSET
    execution_rule: Maybe[str] = UNSET
    day_of_execution: Maybe[str] = UNSET
    transaction_status: Maybe[str] = UNSET
    tpp_message: Maybe[list[TPPMessage]] = UNSET


class BulkPaymentInformation(Shape, frozen=True, kw_only=True):
    """Schema `bulkPaymentInitiationWithStatusResponse`."""

    debtor_account: AccountReference
    payments: list[BulkElement]
    batch_booking_preferred: Maybe[bool] = UNSET
    requested_execution_date: Maybe[str] = UNSET
    acceptor_transaction_date_time: Maybe[str] = UNSET
    payment_information_id: Maybe[str] = UNSET
    transaction_status: Maybe[str] = UNSET
    tpp_message: Maybe[list[TPPMessage]] = UNSET
