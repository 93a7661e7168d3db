"""Variable recurring payments: consent with limits, payment, funds.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import (
    AccountIdentification,
    Amount,
    Charge,
    Links,
    OpenObject,
    PaymentDetailsData,
    PostalAddress,
    RemittanceInformation,
    Risk,
    Shape,
)


class PeriodicLimit(Shape, frozen=True, kw_only=True):
    """Member `PeriodicLimits` of `ControlParameters`."""

    period_type: str
    period_alignment: str
    amount: str
    currency: str


class ControlParameters(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPControlParameters`."""

    maximum_individual_amount: Amount
    periodic_limits: list[PeriodicLimit]
    vrp_type: list[str] = field(name="VRPType")
    psu_authentication_methods: list[str] = field(name="PSUAuthenticationMethods")
    valid_from_date_time: Maybe[str] = UNSET
    valid_to_date_time: Maybe[str] = UNSET
    psu_interaction_types: Maybe[list[str]] = field(default=UNSET, name="PSUInteractionTypes")
    supplementary_data: Maybe[OpenObject] = UNSET


class VRPInitiation(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPInitiation`."""

    debtor_account: Maybe[AccountIdentification] = UNSET
    creditor_account: Maybe[AccountIdentification] = UNSET
    creditor_postal_address: Maybe[PostalAddress] = UNSET
    remittance_information: Maybe[RemittanceInformation] = UNSET


class VRPConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `VRPConsent`."""

    control_parameters: ControlParameters
    initiation: VRPInitiation
    read_refund_account: Maybe[str] = UNSET


class VRPConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPConsentRequest`."""

    data: VRPConsentData
    risk: Risk


class VRPConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `VRPConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    control_parameters: ControlParameters
    initiation: VRPInitiation
    read_refund_account: Maybe[str] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET


class VRPConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPConsentResponse`."""

    data: VRPConsentResponseData
    risk: Risk
    links: Links
    meta: OpenObject


class VRPInstruction(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPInstruction`."""

    instruction_identification: str
    end_to_end_identification: str
    instructed_amount: Amount
    creditor_account: AccountIdentification
    remittance_information: Maybe[RemittanceInformation] = UNSET
    local_instrument: Maybe[str] = UNSET
    creditor_postal_address: Maybe[PostalAddress] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class VRPPaymentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `VRPPayment`."""

    consent_id: str
    psu_authentication_method: str = field(name="PSUAuthenticationMethod")
    vrp_type: str = field(name="VRPType")
    initiation: VRPInitiation
    instruction: VRPInstruction
    psu_interaction_type: Maybe[str] = field(default=UNSET, name="PSUInteractionType")


class VRPPayment(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPRequest`."""

    data: VRPPaymentData
    risk: Risk


class VRPPaymentDataWithoutType(Shape, frozen=True, kw_only=True):
    """Member `Data` of `OBDomesticVRPRequest` in 3.1.10, which has no `VRPType`."""

    consent_id: str
    psu_authentication_method: str = field(name="PSUAuthenticationMethod")
    initiation: VRPInitiation
    instruction: VRPInstruction
    psu_interaction_type: Maybe[str] = field(default=UNSET, name="PSUInteractionType")


class VRPPaymentWithoutType(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPRequest` of 3.1.10."""

    data: VRPPaymentDataWithoutType
    risk: Risk


class VRPPaymentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `VRPPaymentResponse`."""

    domestic_vrp_id: str = field(name="DomesticVRPId")
    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: VRPInitiation
    instruction: VRPInstruction
    status_reason: Maybe[str] = UNSET
    status_reason_description: Maybe[str] = UNSET
    expected_execution_date_time: Maybe[str] = UNSET
    expected_settlement_date_time: Maybe[str] = UNSET
    refund: Maybe[AccountIdentification] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET


class VRPPaymentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPResponse`."""

    data: VRPPaymentResponseData
    risk: Risk
    links: Links
    meta: OpenObject


class VRPDetails(Shape, frozen=True, kw_only=True):
    """Schema `OBDomesticVRPDetails`."""

    data: Maybe[PaymentDetailsData] = UNSET


class VRPFundsAvailableResult(Shape, frozen=True, kw_only=True):
    """Schema `OBPAFundsAvailableResult1`."""

    funds_available_date_time: str
    funds_available: str


class VRPFundsConfirmationResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `VRPFundsConfirmationResponse`."""

    funds_confirmation_id: str
    consent_id: str
    creation_date_time: str
    funds_available_result: VRPFundsAvailableResult
    instructed_amount: Amount
    reference: Maybe[str] = UNSET


class VRPFundsConfirmationResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBVRPFundsConfirmationResponse`."""

    data: VRPFundsConfirmationResponseData
