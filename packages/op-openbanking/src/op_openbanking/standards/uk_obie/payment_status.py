"""What a payment can be asked: funds, and its path through the schemes.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import Links, Meta, OpenObject, PaymentDetailsData, Shape


class FundsAvailableResult(Shape, frozen=True, kw_only=True):
    """Member `FundsAvailableResult` of `PaymentFundsConfirmationData`."""

    funds_available_date_time: str
    funds_available: bool


class PaymentFundsConfirmationData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `PaymentFundsConfirmation`."""

    funds_available_result: Maybe[FundsAvailableResult] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class PaymentFundsConfirmation(Shape, frozen=True, kw_only=True):
    """Schema `OBWriteFundsConfirmationResponse1`."""

    data: PaymentFundsConfirmationData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class PaymentDetails(Shape, frozen=True, kw_only=True):
    """Schema `OBWritePaymentDetailsResponse1`."""

    data: PaymentDetailsData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
