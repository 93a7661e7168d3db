"""Account information consents.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12 (2022-07-01), OpenAPI file.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.berlin_group.wire import (
    AccountReference,
    AuthenticationObject,
    ChallengeData,
    Href,
    Shape,
)


class AdditionalInformationAccess(Shape, frozen=True, kw_only=True):
    """Schema `additionalInformationAccess`."""

    owner_name: Maybe[list[AccountReference]] = UNSET
    trusted_beneficiaries: Maybe[list[AccountReference]] = UNSET


class AccountAccess(Shape, frozen=True, kw_only=True):
    """Schema `accountAccess`."""

    accounts: Maybe[list[AccountReference]] = UNSET
    balances: Maybe[list[AccountReference]] = UNSET
    transactions: Maybe[list[AccountReference]] = UNSET
    additional_information: Maybe[AdditionalInformationAccess] = UNSET
    available_accounts: Maybe[str] = UNSET
    available_accounts_with_balance: Maybe[str] = UNSET
    all_psd2: Maybe[str] = UNSET
    restricted_to: Maybe[list[str]] = UNSET


class ConsentRequest(Shape, frozen=True, kw_only=True):
    """Schema `consents`."""

    access: AccountAccess
    recurring_indicator: bool
    valid_until: str
    frequency_per_day: int
    combined_service_indicator: bool


class ConsentCreated(Shape, frozen=True, kw_only=True):
    """Schema `consentsResponse-201`."""

    consent_status: str
    consent_id: str
    links: dict[str, Href] = field(name="_links")
    sca_methods: Maybe[list[AuthenticationObject]] = UNSET
    chosen_sca_method: Maybe[AuthenticationObject] = UNSET
    challenge_data: Maybe[ChallengeData] = UNSET
    psu_message: Maybe[str] = UNSET


class ConsentStatusResponse(Shape, frozen=True, kw_only=True):
    """Schema `consentStatusResponse-200`."""

    consent_status: str
    psu_message: Maybe[str] = UNSET


class ConsentInformation(Shape, frozen=True, kw_only=True):
    """Schema `consentInformationResponse-200_json`."""

    access: AccountAccess
    recurring_indicator: bool
    valid_until: str
    frequency_per_day: int
    last_action_date: str
    consent_status: str
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")
