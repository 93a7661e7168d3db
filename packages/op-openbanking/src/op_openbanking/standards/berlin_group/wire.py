"""Parts that several resources of Berlin Group NextGenPSD2 share.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12 (2022-07-01), OpenAPI file.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe, Wire


class Shape(Wire, frozen=True, kw_only=True, rename="camel"):
    """An object of this standard: camelCase members."""


class Href(Shape, frozen=True, kw_only=True):
    """Schema `hrefType`."""

    href: str


class AccountOwner(Shape, frozen=True, kw_only=True):
    """Schema `accountOwner`."""

    name: str
    role: Maybe[str] = UNSET


class Amount(Shape, frozen=True, kw_only=True):
    """Schema `amount`."""

    currency: str
    amount: str


class OtherAccount(Shape, frozen=True, kw_only=True):
    """Schema `otherType`."""

    identification: str
    scheme_name_code: Maybe[str] = UNSET
    scheme_name_proprietary: Maybe[str] = UNSET
    issuer: Maybe[str] = UNSET


class AccountReference(Shape, frozen=True, kw_only=True):
    """Schema `accountReference`."""

    iban: Maybe[str] = UNSET
    bban: Maybe[str] = UNSET
    pan: Maybe[str] = UNSET
    masked_pan: Maybe[str] = UNSET
    msisdn: Maybe[str] = UNSET
    other: Maybe[OtherAccount] = UNSET
    currency: Maybe[str] = UNSET
    cash_account_type: Maybe[str] = UNSET


class Address(Shape, frozen=True, kw_only=True):
    """Schema `address`."""

    country: str
    street_name: Maybe[str] = UNSET
    building_number: Maybe[str] = UNSET
    town_name: Maybe[str] = UNSET
    post_code: Maybe[str] = UNSET


class AuthenticationObject(Shape, frozen=True, kw_only=True):
    """Schema `authenticationObject`."""

    authentication_type: str
    authentication_method_id: str
    authentication_version: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    explanation: Maybe[str] = UNSET


class ChallengeData(Shape, frozen=True, kw_only=True):
    """Schema `challengeData`; `data` is one text in the document of 2019, a list since 1.3.12."""

    image: Maybe[str] = UNSET
    data: Maybe[list[str] | str] = UNSET
    image_link: Maybe[str] = UNSET
    otp_max_length: Maybe[int] = UNSET
    otp_format: Maybe[str] = UNSET
    additional_information: Maybe[str] = UNSET


class TPPMessage(Shape, frozen=True, kw_only=True):
    """Schema `tppMessage201PaymentInitiation`."""

    category: str
    code: str
    path: Maybe[str] = UNSET
    text: Maybe[str] = UNSET
