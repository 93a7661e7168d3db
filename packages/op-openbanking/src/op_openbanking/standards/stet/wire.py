"""Parts that several resources of STET share.

Source: STET PSD2 API 1.4.0.47, swagger file.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe, Wire


class Shape(Wire, frozen=True, kw_only=True, rename="camel"):
    """An object of this standard: camelCase members."""


class Link(Shape, frozen=True, kw_only=True):
    """Schema `GenericLink`."""

    href: str
    templated: Maybe[bool] = UNSET


class GenericIdentification(Shape, frozen=True, kw_only=True):
    """Schema `GenericIdentification`."""

    identification: str
    scheme_name: str
    issuer: Maybe[str] = UNSET


class AccountIdentification(Shape, frozen=True, kw_only=True):
    """Schema `AccountIdentification`."""

    iban: Maybe[str] = UNSET
    other: Maybe[GenericIdentification] = UNSET


class Amount(Shape, frozen=True, kw_only=True):
    """Schema `AmountType`."""

    currency: str
    amount: str


class ClearingSystemMemberIdentification(Shape, frozen=True, kw_only=True):
    """Schema `ClearingSystemMemberIdentification`."""

    clearing_system_id: Maybe[str] = UNSET
    member_id: Maybe[str] = UNSET


class PostalAddress(Shape, frozen=True, kw_only=True):
    """Schema `PostalAddress`."""

    country: str
    address_line: list[str]


class FinancialInstitutionIdentification(Shape, frozen=True, kw_only=True):
    """Schema `FinancialInstitutionIdentification`."""

    bic_fi: str
    clearing_system_member_id: Maybe[ClearingSystemMemberIdentification] = UNSET
    name: Maybe[str] = UNSET
    postal_address: Maybe[PostalAddress] = UNSET


class PartyIdentification(Shape, frozen=True, kw_only=True):
    """Schema `PartyIdentification`."""

    name: str
    postal_address: Maybe[PostalAddress] = UNSET
    organisation_id: Maybe[GenericIdentification] = UNSET
    private_id: Maybe[GenericIdentification] = UNSET


class Beneficiary(Shape, frozen=True, kw_only=True):
    """Schema `Beneficiary`."""

    creditor: PartyIdentification
    id: Maybe[str] = UNSET
    is_trusted: Maybe[bool] = UNSET
    creditor_agent: Maybe[FinancialInstitutionIdentification] = UNSET
    creditor_account: Maybe[AccountIdentification] = UNSET


class RemittanceInformation(Shape, frozen=True, kw_only=True):
    """Remittance information of 1.4.2 and later; 1.4.0 has a list of texts."""

    unstructured: Maybe[list[str]] = UNSET
    structured: Maybe[list[str]] = UNSET
