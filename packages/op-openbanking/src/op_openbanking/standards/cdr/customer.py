"""The customer who consented.

Source: Consumer Data Standards 1.31.0, cds_banking.json and cds_common.json.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.cdr.wire import Links, OpenObject, PAFAddress, Shape, SimpleAddress


class Person(Shape, frozen=True, kw_only=True):
    """Schema `CommonPerson`."""

    last_name: str
    middle_names: list[str]
    last_update_time: Maybe[str] = UNSET
    first_name: Maybe[str] = UNSET
    prefix: Maybe[str] = UNSET
    suffix: Maybe[str] = UNSET
    occupation_code: Maybe[str] = UNSET
    occupation_code_version: Maybe[str] = UNSET


class Organisation(Shape, frozen=True, kw_only=True):
    """Schema `CommonOrganisation`."""

    agent_last_name: str
    agent_role: str
    business_name: str
    organisation_type: str
    last_update_time: Maybe[str] = UNSET
    agent_first_name: Maybe[str] = UNSET
    legal_name: Maybe[str] = UNSET
    short_name: Maybe[str] = UNSET
    abn: Maybe[str] = UNSET
    acn: Maybe[str] = UNSET
    is_acnc_registered: Maybe[bool] = field(default=UNSET, name="isACNCRegistered")
    industry_code: Maybe[str] = UNSET
    industry_code_version: Maybe[str] = UNSET
    registered_country: Maybe[str] = UNSET
    establishment_date: Maybe[str] = UNSET


class CustomerData(Shape, frozen=True, kw_only=True):
    """Schema `ResponseCommonCustomer_data`."""

    customer_u_type: str
    person: Maybe[Person] = UNSET
    organisation: Maybe[Organisation] = UNSET


class CustomerResponse(Shape, frozen=True, kw_only=True):
    """Schema `ResponseCommonCustomer`."""

    data: CustomerData
    links: Links
    meta: Maybe[OpenObject] = UNSET


class PhoneNumber(Shape, frozen=True, kw_only=True):
    """Schema `CommonPhoneNumber`."""

    purpose: str
    number: str
    full_number: str
    is_preferred: Maybe[bool] = UNSET
    country_code: Maybe[str] = UNSET
    area_code: Maybe[str] = UNSET
    extension: Maybe[str] = UNSET


class EmailAddress(Shape, frozen=True, kw_only=True):
    """Schema `CommonEmailAddress`."""

    purpose: str
    address: str
    is_preferred: Maybe[bool] = UNSET


class PhysicalAddressWithPurpose(Shape, frozen=True, kw_only=True):
    """Schema `CommonPhysicalAddressWithPurpose`."""

    address_u_type: str
    purpose: str
    simple: Maybe[SimpleAddress] = UNSET
    paf: Maybe[PAFAddress] = UNSET


class PersonDetail(Shape, frozen=True, kw_only=True):
    """Schema `CommonPersonDetailV2`."""

    last_name: str
    middle_names: list[str]
    phone_numbers: list[PhoneNumber]
    email_addresses: list[EmailAddress]
    physical_addresses: list[PhysicalAddressWithPurpose]
    last_update_time: Maybe[str] = UNSET
    first_name: Maybe[str] = UNSET
    prefix: Maybe[str] = UNSET
    suffix: Maybe[str] = UNSET
    occupation_code: Maybe[str] = UNSET
    occupation_code_version: Maybe[str] = UNSET


class OrganisationDetail(Shape, frozen=True, kw_only=True):
    """Schema `CommonOrganisationDetailV2`."""

    agent_last_name: str
    agent_role: str
    business_name: str
    organisation_type: str
    physical_addresses: list[PhysicalAddressWithPurpose]
    last_update_time: Maybe[str] = UNSET
    agent_first_name: Maybe[str] = UNSET
    legal_name: Maybe[str] = UNSET
    short_name: Maybe[str] = UNSET
    abn: Maybe[str] = UNSET
    acn: Maybe[str] = UNSET
    is_acnc_registered: Maybe[bool] = field(default=UNSET, name="isACNCRegistered")
    industry_code: Maybe[str] = UNSET
    industry_code_version: Maybe[str] = UNSET
    registered_country: Maybe[str] = UNSET
    establishment_date: Maybe[str] = UNSET


class CustomerDetailData(Shape, frozen=True, kw_only=True):
    """Schema `ResponseCommonCustomerDetailV2_data`."""

    customer_u_type: str
    person: Maybe[PersonDetail] = UNSET
    organisation: Maybe[OrganisationDetail] = UNSET


class CustomerDetailResponse(Shape, frozen=True, kw_only=True):
    """Schema `ResponseCommonCustomerDetailV2`."""

    data: CustomerDetailData
    links: Links
    meta: Maybe[OpenObject] = UNSET
