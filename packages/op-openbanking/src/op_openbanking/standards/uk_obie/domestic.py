"""Domestic payments, scheduled payments and standing orders, each with its consent.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import (
    AccountIdentification,
    Amount,
    Authorisation,
    Charge,
    Links,
    Meta,
    MultiAuthorisation,
    OpenObject,
    PostalAddress,
    RemittanceInformation,
    Risk,
    SCASupportData,
    Shape,
)


class DomesticInitiation(Shape, frozen=True, kw_only=True):
    """Member `Initiation` of `DomesticConsentData`."""

    instruction_identification: str
    end_to_end_identification: str
    instructed_amount: Amount
    creditor_account: AccountIdentification
    local_instrument: Maybe[str] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    creditor_postal_address: Maybe[PostalAddress] = UNSET
    remittance_information: Maybe[RemittanceInformation] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class DomesticConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticConsent`."""

    initiation: DomesticInitiation
    read_refund_account: Maybe[str] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")


class DomesticConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticConsent4`."""

    data: DomesticConsentData
    risk: Risk


class DomesticConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: DomesticInitiation
    read_refund_account: Maybe[str] = UNSET
    cut_off_date_time: Maybe[str] = UNSET
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")
    debtor: Maybe[AccountIdentification] = UNSET


class DomesticConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticConsentResponse5`."""

    data: DomesticConsentResponseData
    risk: Risk
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class DomesticPaymentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticPayment`."""

    consent_id: str
    initiation: DomesticInitiation


class DomesticPayment(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomestic2`."""

    data: DomesticPaymentData
    risk: Risk


class Refund(Shape, frozen=True, kw_only=True):
    """Member `Refund` of `DomesticPaymentResponseData`."""

    account: AccountIdentification


class DomesticPaymentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticPaymentResponse`."""

    domestic_payment_id: str
    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: DomesticInitiation
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    refund: Maybe[Refund] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    multi_authorisation: Maybe[MultiAuthorisation] = UNSET
    debtor: Maybe[AccountIdentification] = UNSET


class DomesticPaymentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticResponse5`."""

    data: DomesticPaymentResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class DomesticScheduledInitiation(Shape, frozen=True, kw_only=True):
    """Member `Initiation` of `DomesticScheduledConsentData`."""

    instruction_identification: str
    requested_execution_date_time: str
    instructed_amount: Amount
    creditor_account: AccountIdentification
    end_to_end_identification: Maybe[str] = UNSET
    local_instrument: Maybe[str] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    creditor_postal_address: Maybe[PostalAddress] = UNSET
    remittance_information: Maybe[RemittanceInformation] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class DomesticScheduledConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticScheduledConsent`."""

    permission: str
    initiation: DomesticScheduledInitiation
    read_refund_account: Maybe[str] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")


class DomesticScheduledConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticScheduledConsent4`."""

    data: DomesticScheduledConsentData
    risk: Risk


class DomesticScheduledConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticScheduledConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    permission: str
    initiation: DomesticScheduledInitiation
    read_refund_account: Maybe[str] = UNSET
    cut_off_date_time: Maybe[str] = UNSET
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")
    debtor: Maybe[AccountIdentification] = UNSET


class DomesticScheduledConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticScheduledConsentResponse5`."""

    data: DomesticScheduledConsentResponseData
    risk: Risk
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class DomesticScheduledPaymentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticScheduledPayment`."""

    consent_id: str
    initiation: DomesticScheduledInitiation


class DomesticScheduledPayment(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticScheduled2`."""

    data: DomesticScheduledPaymentData
    risk: Risk


class DomesticScheduledPaymentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticScheduledPaymentResponse`."""

    domestic_scheduled_payment_id: str
    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: DomesticScheduledInitiation
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    refund: Maybe[Refund] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    multi_authorisation: Maybe[MultiAuthorisation] = UNSET
    debtor: Maybe[AccountIdentification] = UNSET


class DomesticScheduledPaymentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticScheduledResponse5`."""

    data: DomesticScheduledPaymentResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class DomesticStandingOrderInitiation(Shape, frozen=True, kw_only=True):
    """Member `Initiation` of `DomesticStandingOrderConsentData`."""

    frequency: str
    first_payment_date_time: str
    first_payment_amount: Amount
    creditor_account: AccountIdentification
    reference: Maybe[str] = UNSET
    number_of_payments: Maybe[str] = UNSET
    recurring_payment_date_time: Maybe[str] = UNSET
    final_payment_date_time: Maybe[str] = UNSET
    recurring_payment_amount: Maybe[Amount] = UNSET
    final_payment_amount: Maybe[Amount] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class DomesticStandingOrderConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticStandingOrderConsent`."""

    permission: str
    initiation: DomesticStandingOrderInitiation
    read_refund_account: Maybe[str] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")


class DomesticStandingOrderConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticStandingOrderConsent5`."""

    data: DomesticStandingOrderConsentData
    risk: Risk


class DomesticStandingOrderConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticStandingOrderConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    permission: str
    initiation: DomesticStandingOrderInitiation
    read_refund_account: Maybe[str] = UNSET
    cut_off_date_time: Maybe[str] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")
    debtor: Maybe[AccountIdentification] = UNSET


class DomesticStandingOrderConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticStandingOrderConsentResponse6`."""

    data: DomesticStandingOrderConsentResponseData
    risk: Risk
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class DomesticStandingOrderData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticStandingOrder`."""

    consent_id: str
    initiation: DomesticStandingOrderInitiation


class DomesticStandingOrder(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticStandingOrder3`."""

    data: DomesticStandingOrderData
    risk: Risk


class DomesticStandingOrderResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `DomesticStandingOrderResponse`."""

    domestic_standing_order_id: str
    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: DomesticStandingOrderInitiation
    refund: Maybe[Refund] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    multi_authorisation: Maybe[MultiAuthorisation] = UNSET
    debtor: Maybe[AccountIdentification] = UNSET


class DomesticStandingOrderResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteDomesticStandingOrderResponse6`."""

    data: DomesticStandingOrderResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
