"""Customers and contacts.

Source: facts of FDX Core 5.0, 5.3, 6.0 and 6.4: names, types, requirements.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.fdx.wire import Shape


class CustomerName(Shape, frozen=True, kw_only=True):
    """A person's name."""

    first: str
    last: str
    middle: Maybe[str] = UNSET
    suffix: Maybe[str] = UNSET
    prefix: Maybe[str] = UNSET


class BusinessCustomer(Shape, frozen=True, kw_only=True):
    """A company's name (5.3 and later)."""

    name: Maybe[str] = UNSET


class Customer(Shape, frozen=True, kw_only=True):
    """The customer who consented."""

    customer_id: Maybe[str] = UNSET
    name: Maybe[CustomerName] = UNSET


class Address(Shape, frozen=True, kw_only=True):
    """A postal address."""

    line1: str
    city: str
    country: str
    line2: Maybe[str] = UNSET
    line3: Maybe[str] = UNSET
    region: Maybe[str] = UNSET
    postal_code: Maybe[str] = UNSET


class DeliveryAddress(Shape, frozen=True, kw_only=True):
    """A postal address with its purpose."""

    line1: str
    city: str
    country: str
    line2: Maybe[str] = UNSET
    line3: Maybe[str] = UNSET
    region: Maybe[str] = UNSET
    postal_code: Maybe[str] = UNSET
    type: Maybe[str] = UNSET
    primary: Maybe[bool] = UNSET


class TelephoneNumber(Shape, frozen=True, kw_only=True):
    """A telephone number with its purpose."""

    type: str
    number: str
    country: Maybe[str] = UNSET
    network: Maybe[str] = UNSET
    primary: Maybe[bool] = UNSET


class AccountHolder(Shape, frozen=True, kw_only=True):
    """One who holds an account, and how."""

    name: Maybe[CustomerName] = UNSET
    relationship: Maybe[str] = UNSET
    type: Maybe[str] = UNSET
    business_customer: Maybe[BusinessCustomer] = UNSET


class AccountContact(Shape, frozen=True, kw_only=True):
    """Holders of an account and ways to reach them."""

    holders: list[AccountHolder]
    emails: list[str]
    addresses: list[DeliveryAddress]
    telephones: list[TelephoneNumber]
