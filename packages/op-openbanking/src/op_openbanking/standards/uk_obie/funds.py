"""Confirmation of funds for card issuers.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import AccountIdentification, Amount, Links, Meta, Shape


class FundsConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `FundsConsent`."""

    debtor_account: AccountIdentification
    expiration_date_time: Maybe[str] = UNSET


class FundsConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBFundsConfirmationConsent1`."""

    data: FundsConsentData


class FundsConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `FundsConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    debtor_account: AccountIdentification
    expiration_date_time: Maybe[str] = UNSET


class FundsConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBFundsConfirmationConsentResponse1`."""

    data: FundsConsentResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class FundsConfirmationResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `FundsConfirmationResponse`."""

    funds_confirmation_id: str
    consent_id: str
    creation_date_time: str
    funds_available: bool
    reference: str
    instructed_amount: Amount


class FundsConfirmationResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBFundsConfirmationResponse1`."""

    data: FundsConfirmationResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
