"""Parts that several resources of Australia's Consumer Data Standards share.

Source: Consumer Data Standards 1.31.0, cds_banking.json and cds_common.json.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe, Wire


class Shape(Wire, frozen=True, kw_only=True, rename="camel"):
    """An object of this standard: camelCase members."""


class OpenObject(Shape, frozen=True, kw_only=True):
    """An object whose members are left open: all are kept in `unknown`."""


class LinksPaginated(Shape, frozen=True, kw_only=True):
    """Schema `LinksPaginated`."""

    self: str
    first: Maybe[str] = UNSET
    prev: Maybe[str] = UNSET
    next: Maybe[str] = UNSET
    last: Maybe[str] = UNSET


class MetaPaginated(Shape, frozen=True, kw_only=True):
    """Schema `MetaPaginated`."""

    total_records: int
    total_pages: int


class SimpleAddress(Shape, frozen=True, kw_only=True):
    """Schema `CommonSimpleAddress`."""

    address_line1: str
    city: str
    state: str
    mailing_name: Maybe[str] = UNSET
    address_line2: Maybe[str] = UNSET
    address_line3: Maybe[str] = UNSET
    postcode: Maybe[str] = UNSET
    country: Maybe[str] = UNSET


class PAFAddress(Shape, frozen=True, kw_only=True):
    """Schema `CommonPAFAddress`."""

    locality_name: str
    postcode: str
    state: str
    dpid: Maybe[str] = UNSET
    thoroughfare_number1: Maybe[int] = UNSET
    thoroughfare_number1_suffix: Maybe[str] = UNSET
    thoroughfare_number2: Maybe[int] = UNSET
    thoroughfare_number2_suffix: Maybe[str] = UNSET
    flat_unit_type: Maybe[str] = UNSET
    flat_unit_number: Maybe[str] = UNSET
    floor_level_type: Maybe[str] = UNSET
    floor_level_number: Maybe[str] = UNSET
    lot_number: Maybe[str] = UNSET
    building_name1: Maybe[str] = UNSET
    building_name2: Maybe[str] = UNSET
    street_name: Maybe[str] = UNSET
    street_type: Maybe[str] = UNSET
    street_suffix: Maybe[str] = UNSET
    postal_delivery_type: Maybe[str] = UNSET
    postal_delivery_number: Maybe[int] = UNSET
    postal_delivery_number_prefix: Maybe[str] = UNSET
    postal_delivery_number_suffix: Maybe[str] = UNSET


class Links(Shape, frozen=True, kw_only=True):
    """Schema `Links`."""

    self: str
