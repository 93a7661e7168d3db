"""Statements and offers.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe, Number
from op_openbanking.standards.uk_obie.wire import Amount, BalanceAmount, Links, Meta, Shape


class StatementBenefit(Shape, frozen=True, kw_only=True):
    """Member `StatementBenefit` of `Statement`."""

    type: str
    amount: Amount


class StatementFee(Shape, frozen=True, kw_only=True):
    """Member `StatementFee` of `Statement`."""

    credit_debit_indicator: str
    type: str
    amount: Amount
    description: Maybe[str] = UNSET
    rate: Maybe[Number] = UNSET
    rate_type: Maybe[str] = UNSET
    frequency: Maybe[str] = UNSET


class StatementAmount(Shape, frozen=True, kw_only=True):
    """Member `StatementAmount` of `Statement`."""

    credit_debit_indicator: str
    type: str
    amount: BalanceAmount
    local_amount: Maybe[BalanceAmount] = UNSET


class StatementDateTime(Shape, frozen=True, kw_only=True):
    """Member `StatementDateTime` of `Statement`."""

    date_time: str
    type: str


class StatementRate(Shape, frozen=True, kw_only=True):
    """Member `StatementRate` of `Statement`."""

    rate: str
    type: str


class StatementValue(Shape, frozen=True, kw_only=True):
    """Member `StatementValue` of `Statement`."""

    value: str
    type: str


class Statement(Shape, frozen=True, kw_only=True):
    """Schema `OBStatement2`."""

    account_id: str
    type: str
    start_date_time: str
    end_date_time: str
    creation_date_time: str
    statement_id: Maybe[str] = UNSET
    statement_reference: Maybe[str] = UNSET
    statement_description: Maybe[list[str]] = UNSET
    statement_benefit: Maybe[list[StatementBenefit]] = UNSET
    statement_fee: Maybe[list[StatementFee]] = UNSET
    statement_interest: Maybe[list[StatementFee]] = UNSET
    statement_amount: Maybe[list[StatementAmount]] = UNSET
    statement_date_time: Maybe[list[StatementDateTime]] = UNSET
    statement_rate: Maybe[list[StatementRate]] = UNSET
    statement_value: Maybe[list[StatementValue]] = UNSET
    total_value: Maybe[Amount] = UNSET


class StatementsData(Shape, frozen=True, kw_only=True):
    """Schema `OBReadDataStatement2`."""

    statement: Maybe[list[Statement]] = UNSET


class Statements(Shape, frozen=True, kw_only=True):
    """Schema `OBReadStatement2`."""

    data: StatementsData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class Offer(Shape, frozen=True, kw_only=True):
    """Member `Offer` of `OffersData`."""

    account_id: str
    offer_id: Maybe[str] = UNSET
    offer_type: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    start_date_time: Maybe[str] = UNSET
    end_date_time: Maybe[str] = UNSET
    rate: Maybe[str] = UNSET
    value: Maybe[int] = UNSET
    term: Maybe[str] = UNSET
    url: Maybe[str] = field(default=UNSET, name="URL")
    amount: Maybe[Amount] = UNSET
    fee: Maybe[Amount] = UNSET


class OffersData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `Offers`."""

    offer: Maybe[list[Offer]] = UNSET


class Offers(Shape, frozen=True, kw_only=True):
    """Schema `OBReadOffer1`."""

    data: OffersData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
