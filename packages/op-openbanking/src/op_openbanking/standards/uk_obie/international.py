"""International payments, scheduled payments and standing orders, each with its consent.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe, Number
from op_openbanking.standards.uk_obie.wire import (
    AccountIdentification,
    Agent,
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


class ExchangeRateInformation(Shape, frozen=True, kw_only=True):
    """Member `ExchangeRateInformation` of `InternationalInitiation`."""

    unit_currency: str
    rate_type: str
    exchange_rate: Maybe[Number] = UNSET
    contract_identification: Maybe[str] = UNSET


class Creditor(Shape, frozen=True, kw_only=True):
    """Member `Creditor` of `InternationalInitiation`."""

    name: Maybe[str] = UNSET
    postal_address: Maybe[PostalAddress] = UNSET


class InternationalInitiation(Shape, frozen=True, kw_only=True):
    """Member `Initiation` of `InternationalConsentData`."""

    instruction_identification: str
    end_to_end_identification: str
    currency_of_transfer: str
    instructed_amount: Amount
    creditor_account: AccountIdentification
    local_instrument: Maybe[str] = UNSET
    instruction_priority: Maybe[str] = UNSET
    purpose: Maybe[str] = UNSET
    extended_purpose: Maybe[str] = UNSET
    charge_bearer: Maybe[str] = UNSET
    destination_country_code: Maybe[str] = UNSET
    exchange_rate_information: Maybe[ExchangeRateInformation] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    creditor: Maybe[Creditor] = UNSET
    creditor_agent: Maybe[Agent] = UNSET
    remittance_information: Maybe[RemittanceInformation] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class InternationalConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalConsent`."""

    initiation: InternationalInitiation
    read_refund_account: Maybe[str] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")


class InternationalConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalConsent5`."""

    data: InternationalConsentData
    risk: Risk


class AgreedExchangeRate(Shape, frozen=True, kw_only=True):
    """Member `ExchangeRateInformation` of `InternationalConsentResponseData`."""

    unit_currency: str
    exchange_rate: Number
    rate_type: str
    contract_identification: Maybe[str] = UNSET
    expiration_date_time: Maybe[str] = UNSET


class InternationalConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: InternationalInitiation
    read_refund_account: Maybe[str] = UNSET
    cut_off_date_time: Maybe[str] = UNSET
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    exchange_rate_information: Maybe[AgreedExchangeRate] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")
    debtor: Maybe[AccountIdentification] = UNSET


class InternationalConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalConsentResponse6`."""

    data: InternationalConsentResponseData
    risk: Risk
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class InternationalPaymentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalPayment`."""

    consent_id: str
    initiation: InternationalInitiation


class InternationalPayment(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternational3`."""

    data: InternationalPaymentData
    risk: Risk


class InternationalRefund(Shape, frozen=True, kw_only=True):
    """Member `Refund` of `InternationalPaymentResponseData`."""

    account: AccountIdentification
    creditor: Maybe[Creditor] = UNSET
    agent: Maybe[Agent] = UNSET


class InternationalPaymentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalPaymentResponse`."""

    international_payment_id: str
    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: InternationalInitiation
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    refund: Maybe[InternationalRefund] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    exchange_rate_information: Maybe[AgreedExchangeRate] = UNSET
    multi_authorisation: Maybe[MultiAuthorisation] = UNSET
    debtor: Maybe[AccountIdentification] = UNSET


class InternationalPaymentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalResponse5`."""

    data: InternationalPaymentResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class InternationalScheduledInitiation(Shape, frozen=True, kw_only=True):
    """Member `Initiation` of `InternationalScheduledConsentData`."""

    instruction_identification: str
    requested_execution_date_time: str
    currency_of_transfer: str
    instructed_amount: Amount
    creditor_account: AccountIdentification
    end_to_end_identification: Maybe[str] = UNSET
    local_instrument: Maybe[str] = UNSET
    instruction_priority: Maybe[str] = UNSET
    purpose: Maybe[str] = UNSET
    extended_purpose: Maybe[str] = UNSET
    charge_bearer: Maybe[str] = UNSET
    destination_country_code: Maybe[str] = UNSET
    exchange_rate_information: Maybe[ExchangeRateInformation] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    creditor: Maybe[Creditor] = UNSET
    creditor_agent: Maybe[Agent] = UNSET
    remittance_information: Maybe[RemittanceInformation] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class InternationalScheduledConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalScheduledConsent`."""

    permission: str
    initiation: InternationalScheduledInitiation
    read_refund_account: Maybe[str] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")


class InternationalScheduledConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalScheduledConsent5`."""

    data: InternationalScheduledConsentData
    risk: Risk


class InternationalScheduledConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalScheduledConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    permission: str
    initiation: InternationalScheduledInitiation
    read_refund_account: Maybe[str] = UNSET
    cut_off_date_time: Maybe[str] = UNSET
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    exchange_rate_information: Maybe[AgreedExchangeRate] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")
    debtor: Maybe[AccountIdentification] = UNSET


class InternationalScheduledConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalScheduledConsentResponse6`."""

    data: InternationalScheduledConsentResponseData
    risk: Risk
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class InternationalScheduledPaymentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalScheduledPayment`."""

    consent_id: str
    initiation: InternationalScheduledInitiation


class InternationalScheduledPayment(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalScheduled3`."""

    data: InternationalScheduledPaymentData
    risk: Risk


class InternationalScheduledPaymentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalScheduledPaymentResponse`."""

    international_scheduled_payment_id: str
    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: InternationalScheduledInitiation
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    refund: Maybe[InternationalRefund] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    exchange_rate_information: Maybe[AgreedExchangeRate] = UNSET
    multi_authorisation: Maybe[MultiAuthorisation] = UNSET
    debtor: Maybe[AccountIdentification] = UNSET


class InternationalScheduledPaymentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalScheduledResponse6`."""

    data: InternationalScheduledPaymentResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class InternationalStandingOrderInitiation(Shape, frozen=True, kw_only=True):
    """Member `Initiation` of `InternationalStandingOrderConsentData`."""

    frequency: str
    first_payment_date_time: str
    currency_of_transfer: str
    instructed_amount: Amount
    creditor_account: AccountIdentification
    reference: Maybe[str] = UNSET
    number_of_payments: Maybe[str] = UNSET
    final_payment_date_time: Maybe[str] = UNSET
    purpose: Maybe[str] = UNSET
    extended_purpose: Maybe[str] = UNSET
    charge_bearer: Maybe[str] = UNSET
    destination_country_code: Maybe[str] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    creditor: Maybe[Creditor] = UNSET
    creditor_agent: Maybe[Agent] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class InternationalStandingOrderConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalStandingOrderConsent`."""

    permission: str
    initiation: InternationalStandingOrderInitiation
    read_refund_account: Maybe[str] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")


class InternationalStandingOrderConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalStandingOrderConsent6`."""

    data: InternationalStandingOrderConsentData
    risk: Risk


class InternationalStandingOrderConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalStandingOrderConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    permission: str
    initiation: InternationalStandingOrderInitiation
    read_refund_account: Maybe[str] = UNSET
    cut_off_date_time: Maybe[str] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")
    debtor: Maybe[AccountIdentification] = UNSET


class InternationalStandingOrderConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalStandingOrderConsentResponse7`."""

    data: InternationalStandingOrderConsentResponseData
    risk: Risk
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class InternationalStandingOrderData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalStandingOrder`."""

    consent_id: str
    initiation: InternationalStandingOrderInitiation


class InternationalStandingOrder(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalStandingOrder4`."""

    data: InternationalStandingOrderData
    risk: Risk


class InternationalStandingOrderResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `InternationalStandingOrderResponse`."""

    international_standing_order_id: str
    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: InternationalStandingOrderInitiation
    refund: Maybe[InternationalRefund] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    multi_authorisation: Maybe[MultiAuthorisation] = UNSET
    debtor: Maybe[AccountIdentification] = UNSET


class InternationalStandingOrderResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteInternationalStandingOrderResponse7`."""

    data: InternationalStandingOrderResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
