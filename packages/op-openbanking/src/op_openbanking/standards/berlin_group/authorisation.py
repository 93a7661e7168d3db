"""Authorisation sub-resources (SCA), and signing baskets.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12 (2022-07-01), OpenAPI file.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.berlin_group.wire import (
    Amount,
    AuthenticationObject,
    ChallengeData,
    Href,
    Shape,
    TPPMessage,
)


class Authorisations(Shape, frozen=True, kw_only=True):
    """Schema `authorisations`."""

    authorisation_ids: list[str]


class AuthorisationStarted(Shape, frozen=True, kw_only=True):
    """Schema `startScaprocessResponse`."""

    sca_status: str
    authorisation_id: str
    links: dict[str, Href] = field(name="_links")
    sca_methods: Maybe[list[AuthenticationObject]] = UNSET
    chosen_sca_method: Maybe[AuthenticationObject] = UNSET
    challenge_data: Maybe[ChallengeData] = UNSET
    psu_message: Maybe[str] = UNSET


class SCAStatusResponse(Shape, frozen=True, kw_only=True):
    """Schema `scaStatusResponse`."""

    sca_status: str
    psu_message: Maybe[str] = UNSET
    psu_name: Maybe[str] = UNSET
    trusted_beneficiary_flag: Maybe[bool] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")
    tpp_message: Maybe[list[TPPMessage]] = UNSET


class PSUIdentified(Shape, frozen=True, kw_only=True):
    """Schema `updatePsuIdentificationResponse`."""

    links: dict[str, Href] = field(name="_links")
    sca_status: str
    transaction_fees: Maybe[Amount] = UNSET
    currency_conversion_fees: Maybe[Amount] = UNSET
    estimated_total_amount: Maybe[Amount] = UNSET
    estimated_interbank_settlement_amount: Maybe[Amount] = UNSET
    sca_methods: Maybe[list[AuthenticationObject]] = UNSET
    psu_message: Maybe[str] = UNSET


class PSUData(Shape, frozen=True, kw_only=True):
    """Schema `psuData`."""

    password: Maybe[str] = UNSET
    encrypted_password: Maybe[str] = UNSET
    additional_password: Maybe[str] = UNSET
    additional_encrypted_password: Maybe[str] = UNSET


class UpdatePSUAuthentication(Shape, frozen=True, kw_only=True):
    """Schema `updatePsuAuthentication`."""

    psu_data: PSUData


class PSUAuthenticated(Shape, frozen=True, kw_only=True):
    """Schema `updatePsuAuthenticationResponse`."""

    sca_status: str
    transaction_fees: Maybe[Amount] = UNSET
    currency_conversion_fees: Maybe[Amount] = UNSET
    estimated_total_amount: Maybe[Amount] = UNSET
    estimated_interbank_settlement_amount: Maybe[Amount] = UNSET
    chosen_sca_method: Maybe[AuthenticationObject] = UNSET
    challenge_data: Maybe[ChallengeData] = UNSET
    sca_methods: Maybe[list[AuthenticationObject]] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")
    psu_message: Maybe[str] = UNSET
    authorisation_id: Maybe[str] = UNSET


class SelectMethod(Shape, frozen=True, kw_only=True):
    """Schema `selectPsuAuthenticationMethod`."""

    authentication_method_id: str


class MethodSelected(Shape, frozen=True, kw_only=True):
    """Schema `selectPsuAuthenticationMethodResponse`."""

    sca_status: str
    transaction_fees: Maybe[Amount] = UNSET
    currency_conversion_fees: Maybe[Amount] = UNSET
    estimated_total_amount: Maybe[Amount] = UNSET
    estimated_interbank_settlement_amount: Maybe[Amount] = UNSET
    chosen_sca_method: Maybe[AuthenticationObject] = UNSET
    challenge_data: Maybe[ChallengeData] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")
    psu_message: Maybe[str] = UNSET


class AuthoriseTransaction(Shape, frozen=True, kw_only=True):
    """Schema `transactionAuthorisation`."""

    sca_authentication_data: str


class AuthorisationConfirmation(Shape, frozen=True, kw_only=True):
    """Schema `authorisationConfirmation`."""

    confirmation_code: str


class AuthorisationConfirmationResponse(Shape, frozen=True, kw_only=True):
    """Schema `authorisationConfirmationResponse`."""

    sca_status: str
    links: dict[str, Href] = field(name="_links")
    psu_message: Maybe[str] = UNSET


class SigningBasket(Shape, frozen=True, kw_only=True):
    """Schema `signingBasket`."""

    payment_ids: Maybe[list[str]] = UNSET
    consent_ids: Maybe[list[str]] = UNSET


class SigningBasketCreated(Shape, frozen=True, kw_only=True):
    """Schema `signingBasketResponse-201`."""

    transaction_status: str
    basket_id: str
    links: dict[str, Href] = field(name="_links")
    sca_methods: Maybe[list[AuthenticationObject]] = UNSET
    chosen_sca_method: Maybe[AuthenticationObject] = UNSET
    challenge_data: Maybe[ChallengeData] = UNSET
    psu_message: Maybe[str] = UNSET
    tpp_messages: Maybe[list[TPPMessage]] = UNSET


class SigningBasketInformation(Shape, frozen=True, kw_only=True):
    """Schema `signingBasketResponse-200`."""

    transaction_status: str
    payments: Maybe[list[str]] = UNSET
    consents: Maybe[list[str]] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")


class SigningBasketStatusResponse(Shape, frozen=True, kw_only=True):
    """Schema `signingBasketStatusResponse-200`."""

    transaction_status: str
