"""Parties: who owns an account.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import Links, Meta, Shape


class PartyAccount(Shape, frozen=True, kw_only=True):
    """Member `Account` of `PartyRelationships`."""

    related: str
    id: str


class PartyRelationships(Shape, frozen=True, kw_only=True):
    """Schema `OBPartyRelationships1`."""

    account: Maybe[PartyAccount] = UNSET


class PartyAddress(Shape, frozen=True, kw_only=True):
    """Member `Address` of `Party`."""

    country: str
    address_type: Maybe[str] = UNSET
    address_line: Maybe[list[str]] = UNSET
    street_name: Maybe[str] = UNSET
    building_number: Maybe[str] = UNSET
    post_code: Maybe[str] = UNSET
    town_name: Maybe[str] = UNSET
    country_sub_division: Maybe[str] = UNSET


class Party(Shape, frozen=True, kw_only=True):
    """Schema `OBParty2`."""

    party_id: str
    party_number: Maybe[str] = UNSET
    party_type: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    full_legal_name: Maybe[str] = UNSET
    legal_structure: Maybe[str] = UNSET
    beneficial_ownership: Maybe[bool] = UNSET
    account_role: Maybe[str] = UNSET
    email_address: Maybe[str] = UNSET
    phone: Maybe[str] = UNSET
    mobile: Maybe[str] = UNSET
    relationships: Maybe[PartyRelationships] = UNSET
    address: Maybe[list[PartyAddress]] = UNSET


class PartyResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `PartyResponse`."""

    party: Maybe[Party] = UNSET


class PartyResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBReadParty2`."""

    data: PartyResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class PartiesData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `Parties`."""

    party: Maybe[list[Party]] = UNSET


class Parties(Shape, frozen=True, kw_only=True):
    """Schema `OBReadParty3`."""

    data: PartiesData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
