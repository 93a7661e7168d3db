"""Parts that several resources of UK Open Banking Read/Write share.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe, Wire


class Shape(Wire, frozen=True, kw_only=True, rename="pascal"):
    """An object of this standard: PascalCase members."""


class OpenObject(Shape, frozen=True, kw_only=True):
    """An object whose members are left open: all are kept in `unknown`."""


class Links(Shape, frozen=True, kw_only=True):
    """Schema `Links`."""

    self: str
    first: Maybe[str] = UNSET
    prev: Maybe[str] = UNSET
    next: Maybe[str] = UNSET
    last: Maybe[str] = UNSET


class Meta(Shape, frozen=True, kw_only=True):
    """Schema `Meta`."""

    total_pages: Maybe[int] = UNSET
    first_available_date_time: Maybe[str] = UNSET
    last_available_date_time: Maybe[str] = UNSET


class AccountIdentification(Shape, frozen=True, kw_only=True):
    """Schema `OBCashAccount5`, `OBCashAccount6`."""

    scheme_name: Maybe[str] = UNSET
    identification: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    secondary_identification: Maybe[str] = UNSET


class Servicer(Shape, frozen=True, kw_only=True):
    """Schema `OBBranchAndFinancialInstitutionIdentification5`."""

    scheme_name: str
    identification: str


class BalanceAmount(Shape, frozen=True, kw_only=True):
    """Member `Amount` of `Balance`."""

    amount: str
    currency: str
    sub_type: Maybe[str] = UNSET


class Amount(Shape, frozen=True, kw_only=True):
    """Schema `OBActiveOrHistoricCurrencyAndAmount`."""

    amount: str
    currency: str


class PostalAddress(Shape, frozen=True, kw_only=True):
    """Schema `OBPostalAddress6`."""

    address_type: Maybe[str] = UNSET
    department: Maybe[str] = UNSET
    sub_department: Maybe[str] = UNSET
    street_name: Maybe[str] = UNSET
    building_number: Maybe[str] = UNSET
    post_code: Maybe[str] = UNSET
    town_name: Maybe[str] = UNSET
    country_sub_division: Maybe[str] = UNSET
    country: Maybe[str] = UNSET
    address_line: Maybe[list[str]] = UNSET


class Agent(Shape, frozen=True, kw_only=True):
    """Schema `OBBranchAndFinancialInstitutionIdentification6`."""

    scheme_name: Maybe[str] = UNSET
    identification: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    postal_address: Maybe[PostalAddress] = UNSET


class RemittanceInformation(Shape, frozen=True, kw_only=True):
    """Schema `OBVRPRemittanceInformation`."""

    unstructured: Maybe[str] = UNSET
    reference: Maybe[str] = UNSET


class Authorisation(Shape, frozen=True, kw_only=True):
    """Member `Authorisation` of `DomesticConsentData`."""

    authorisation_type: str
    completion_date_time: Maybe[str] = UNSET


class SCASupportData(Shape, frozen=True, kw_only=True):
    """Schema `OBSCASupportData1`."""

    requested_sca_exemption_type: Maybe[str] = field(
        default=UNSET, name="RequestedSCAExemptionType"
    )
    applied_authentication_approach: Maybe[str] = UNSET
    reference_payment_order_id: Maybe[str] = UNSET


class DeliveryAddress(Shape, frozen=True, kw_only=True):
    """Member `DeliveryAddress` of `Risk`."""

    town_name: str
    country: str
    address_line: Maybe[list[str]] = UNSET
    street_name: Maybe[str] = UNSET
    building_number: Maybe[str] = UNSET
    post_code: Maybe[str] = UNSET
    country_sub_division: Maybe[str] = UNSET


class Risk(Shape, frozen=True, kw_only=True):
    """Schema `OBRisk1`.

    The published payment file misspells the contract's indicator; the text does not. Send the one
    that the bank's file has.
    """

    payment_context_code: Maybe[str] = UNSET
    merchant_category_code: Maybe[str] = UNSET
    merchant_customer_identification: Maybe[str] = UNSET
    contract_present_indicator: Maybe[bool] = UNSET
    contract_present_inidicator: Maybe[bool] = UNSET
    beneficiary_prepopulated_indicator: Maybe[bool] = UNSET
    payment_purpose_code: Maybe[str] = UNSET
    beneficiary_account_type: Maybe[str] = UNSET
    delivery_address: Maybe[DeliveryAddress] = UNSET


class Charge(Shape, frozen=True, kw_only=True):
    """Member `Charges` of `DomesticConsentResponseData`."""

    charge_bearer: str
    type: str
    amount: Amount


class MultiAuthorisation(Shape, frozen=True, kw_only=True):
    """Member `MultiAuthorisation` of `DomesticPaymentResponseData`."""

    status: str
    number_required: Maybe[int] = UNSET
    number_received: Maybe[int] = UNSET
    last_update_date_time: Maybe[str] = UNSET
    expiration_date_time: Maybe[str] = UNSET


class StatusDetail(Shape, frozen=True, kw_only=True):
    """Member `StatusDetail` of `PaymentStatusEntry`."""

    status: str
    local_instrument: Maybe[str] = UNSET
    status_reason: Maybe[str] = UNSET
    status_reason_description: Maybe[str] = UNSET


class PaymentStatusEntry(Shape, frozen=True, kw_only=True):
    """Member `PaymentStatus` of `PaymentDetailsData`."""

    payment_transaction_id: str
    status: str
    status_update_date_time: str
    status_detail: Maybe[StatusDetail] = UNSET


class PaymentDetailsData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `PaymentDetails`."""

    payment_status: Maybe[list[PaymentStatusEntry]] = UNSET


class FundsConfirmationData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `FundsConfirmation`."""

    consent_id: str
    instructed_amount: Amount
    reference: Maybe[str] = UNSET


class FundsConfirmation(Shape, frozen=True, kw_only=True):
    """Schema `OBFundsConfirmation1`, `OBVRPFundsConfirmationRequest`."""

    data: FundsConfirmationData
