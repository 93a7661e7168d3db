"""File payments: the consent, and the payment of an uploaded file.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe, Number
from op_openbanking.standards.uk_obie.wire import (
    AccountIdentification,
    Authorisation,
    Charge,
    Links,
    Meta,
    MultiAuthorisation,
    OpenObject,
    RemittanceInformation,
    SCASupportData,
    Shape,
)


class FileInitiation(Shape, frozen=True, kw_only=True):
    """Member `Initiation` of `FileConsentData`."""

    file_type: str
    file_hash: str
    file_reference: Maybe[str] = UNSET
    number_of_transactions: Maybe[str] = UNSET
    control_sum: Maybe[Number] = UNSET
    requested_execution_date_time: Maybe[str] = UNSET
    local_instrument: Maybe[str] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    remittance_information: Maybe[RemittanceInformation] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class FileConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `FileConsent`."""

    initiation: FileInitiation
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")


class FileConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteFileConsent3`."""

    data: FileConsentData


class FileConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `FileConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: FileInitiation
    cut_off_date_time: Maybe[str] = UNSET
    charges: Maybe[list[Charge]] = UNSET
    authorisation: Maybe[Authorisation] = UNSET
    sca_support_data: Maybe[SCASupportData] = field(default=UNSET, name="SCASupportData")
    debtor: Maybe[AccountIdentification] = UNSET


class FileConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteFileConsentResponse4`."""

    data: FileConsentResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class FilePaymentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `FilePayment`."""

    consent_id: str
    initiation: FileInitiation


class FilePayment(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteFile2`."""

    data: FilePaymentData


class FilePaymentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `FilePaymentResponse`."""

    file_payment_id: str
    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    initiation: FileInitiation
    charges: Maybe[list[Charge]] = UNSET
    multi_authorisation: Maybe[MultiAuthorisation] = UNSET
    debtor: Maybe[AccountIdentification] = UNSET


class FilePaymentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteFileResponse3`."""

    data: FilePaymentResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
