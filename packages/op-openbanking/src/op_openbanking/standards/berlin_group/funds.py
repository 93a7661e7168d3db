"""Confirmation of funds, and the consent to ask for it.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12 (2022-07-01), OpenAPI file; for the consent its own
document, "Confirmation of funds consent" 2.0 (2019-06-07).
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.berlin_group.wire import (
    AccountReference,
    Amount,
    AuthenticationObject,
    ChallengeData,
    Href,
    Shape,
    TPPMessage,
)


class FundsConfirmation(Shape, frozen=True, kw_only=True):
    """Schema `confirmationOfFunds`."""

    account: AccountReference
    instructed_amount: Amount
    card_number: Maybe[str] = UNSET
    payee: Maybe[str] = UNSET


class FundsConfirmationResponse(Shape, frozen=True, kw_only=True):
    """Answer of POST /v1/funds-confirmations."""

    funds_available: bool


class FundsConsentRequest(Shape, frozen=True, kw_only=True):
    """Schema `consentsConfirmationOfFunds`."""

    account: AccountReference
    card_number: Maybe[str] = UNSET
    card_expiry_date: Maybe[str] = UNSET
    card_information: Maybe[str] = UNSET
    registration_information: Maybe[str] = UNSET


class FundsConsentCreated(Shape, frozen=True, kw_only=True):
    """Both schemas of the answer: with one authorisation, and with several (multilevel SCA)."""

    consent_status: str
    consent_id: str
    links: dict[str, Href] = field(name="_links")
    sca_methods: Maybe[list[AuthenticationObject]] = UNSET
    chosen_sca_method: Maybe[AuthenticationObject] = UNSET
    challenge_data: Maybe[ChallengeData] = UNSET
    psu_message: Maybe[str] = UNSET
    sca_status: Maybe[str] = UNSET
    tpp_message: Maybe[list[TPPMessage]] = UNSET
    tpp_messages: Maybe[list[TPPMessage]] = UNSET


class FundsConsent(Shape, frozen=True, kw_only=True):
    """Schema `ConsentConfirmationOfFundsContentResponse`."""

    account: AccountReference
    consent_status: str
    card_number: Maybe[str] = UNSET
    card_expiry_date: Maybe[str] = UNSET
    card_information: Maybe[str] = UNSET
    registration_information: Maybe[str] = UNSET


class FundsConsentStatus(Shape, frozen=True, kw_only=True):
    """Schema `ConsentConfirmationOfFundsStatusResponse`."""

    consent_status: str
