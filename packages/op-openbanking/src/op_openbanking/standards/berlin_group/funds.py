"""Confirmation of funds.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12 (2022-07-01), OpenAPI file.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.berlin_group.wire import AccountReference, Amount, Shape


class FundsConfirmation(Shape, frozen=True, kw_only=True):
    """Schema `confirmationOfFunds`."""

    account: AccountReference
    instructed_amount: Amount
    card_number: Maybe[str] = UNSET
    payee: Maybe[str] = UNSET


class FundsConfirmationResponse(Shape, frozen=True, kw_only=True):
    """Answer of POST /v1/funds-confirmations."""

    funds_available: bool
