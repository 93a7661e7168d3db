"""Transactions: wrapped by category in 5.x, flat with a category in 6.x.

Source: facts of FDX Core 5.0, 5.3, 6.0 and 6.4: names, types, requirements.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe, Number
from op_openbanking.standards.fdx.wire import FiAttribute, PageLinks, PageMetadata, Shape


class Transaction(Shape, frozen=True, kw_only=True):
    """A transaction of any account category, as `Account` is of any category."""

    transaction_id: str
    transaction_timestamp: str
    description: str
    debit_credit_memo: str
    status: str
    amount: Number
    reference_transaction_id: Maybe[str] = UNSET
    posted_timestamp: Maybe[str] = UNSET
    category: Maybe[str] = UNSET
    sub_category: Maybe[str] = UNSET
    foreign_amount: Maybe[Number] = UNSET
    foreign_currency: Maybe[str] = UNSET
    payee: Maybe[str] = UNSET
    check_number: Maybe[int] = UNSET
    transaction_type: Maybe[str] = UNSET
    security_id: Maybe[str] = UNSET
    security_id_type: Maybe[str] = UNSET
    security_type: Maybe[str] = UNSET
    symbol: Maybe[str] = UNSET
    commission: Maybe[Number] = UNSET
    fees: Maybe[Number] = UNSET
    unit_price: Maybe[Number] = UNSET
    units: Maybe[Number] = UNSET
    unit_type: Maybe[str] = UNSET
    fi_attributes: Maybe[list[FiAttribute]] = UNSET
    account_category: Maybe[str] = UNSET
    card_number_display: Maybe[str] = UNSET


class Transactions(Shape, frozen=True, kw_only=True):
    """A page of transactions, 6.x."""

    transactions: list[Transaction]
    page: Maybe[PageMetadata] = UNSET
    links: Maybe[PageLinks] = UNSET


class WrappedTransaction(Shape, frozen=True, kw_only=True):
    """One transaction of 5.x: exactly one member, named for its category."""

    deposit_transaction: Maybe[Transaction] = UNSET
    loan_transaction: Maybe[Transaction] = UNSET
    loc_transaction: Maybe[Transaction] = UNSET
    investment_transaction: Maybe[Transaction] = UNSET


class WrappedTransactions(Shape, frozen=True, kw_only=True):
    """A page of transactions, 5.x."""

    transactions: list[WrappedTransaction]
    page: Maybe[PageMetadata] = UNSET
    links: Maybe[PageLinks] = UNSET
