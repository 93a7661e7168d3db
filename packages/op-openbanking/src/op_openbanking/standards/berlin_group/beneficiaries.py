"""Trusted beneficiaries: payees that need no strong authentication.

Source: Berlin Group document "Trusted beneficiaries" 1.0.0 (2020-05-19), OpenAPI file.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.berlin_group.wire import AccountReference, Address, Shape


class TrustedBeneficiary(Shape, frozen=True, kw_only=True):
    """Schema `trustedBeneficiary`."""

    trusted_beneficiary_id: str
    creditor_account: AccountReference
    creditor_name: str
    debtor_account: Maybe[AccountReference] = UNSET
    creditor_agent: Maybe[str] = UNSET
    creditor_alias: Maybe[str] = UNSET
    creditor_id: Maybe[str] = UNSET
    creditor_address: Maybe[Address] = UNSET


class TrustedBeneficiaries(Shape, frozen=True, kw_only=True):
    """Schema `trustedBeneficiaries`."""

    trusted_beneficiaries: list[TrustedBeneficiary]
