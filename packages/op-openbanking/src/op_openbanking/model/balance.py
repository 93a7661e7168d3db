"""Balances: every kind a bank states, each with its sign, and a stated order of preference.

Which kind is "the" balance differs by bank. `preferred` picks by a documented order and adds no
credit line to anything.

Source: OBIE 3.1.11 OBReadBalance1; Berlin Group 1.3.12 balance; STET 1.4.0.47 BalanceResource; CDR
1.31 BankingBalance; FDX 6 DepositAccount.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from op_openbanking.model.code import Code
from op_openbanking.model.money import Money
from op_openbanking.model.when import When
from op_openbanking.standards.base import Wire


class BalanceKind(StrEnum):
    """What a balance counts."""

    INTERIM_AVAILABLE = "interim-available"
    CLOSING_AVAILABLE = "closing-available"
    OPENING_AVAILABLE = "opening-available"
    FORWARD_AVAILABLE = "forward-available"
    INTERIM_BOOKED = "interim-booked"
    CLOSING_BOOKED = "closing-booked"
    OPENING_BOOKED = "opening-booked"
    PREVIOUS_CLOSING_BOOKED = "previous-closing-booked"
    EXPECTED = "expected"
    INTERIM_CLEARED = "interim-cleared"
    CLOSING_CLEARED = "closing-cleared"
    OPENING_CLEARED = "opening-cleared"
    NON_INVOICED = "non-invoiced"
    VALUE_DATE = "value-date"
    INFORMATION = "information"
    MONTH_END = "month-end"
    OTHER = "other"


AVAILABLE_ORDER = (
    BalanceKind.INTERIM_AVAILABLE,
    BalanceKind.FORWARD_AVAILABLE,
    BalanceKind.CLOSING_AVAILABLE,
    BalanceKind.OPENING_AVAILABLE,
    BalanceKind.EXPECTED,
)
"""What may be spent, best first. Ours: the most recent statement of available funds wins."""

BOOKED_ORDER = (
    BalanceKind.INTERIM_BOOKED,
    BalanceKind.CLOSING_BOOKED,
    BalanceKind.OPENING_BOOKED,
    BalanceKind.PREVIOUS_CLOSING_BOOKED,
)
"""What has been entered in the books, most recent first."""


@dataclass(frozen=True, slots=True)
class Balance:
    """One balance of one account.

    Attributes:
        account_id: The account's id under this consent.
        amount: Signed: negative is owed by the owner.
        kind: What it counts.
        raw: The wire object it was read from.
        at: The time or day it holds for, where the bank says.
        credit_included: Whether a credit line is in the amount; None where the bank does not say.
    """

    account_id: str
    amount: Money
    kind: Code[BalanceKind]
    raw: Wire
    at: When | None = None
    credit_included: bool | None = None


def preferred(
    balances: Iterable[Balance], *, order: tuple[BalanceKind, ...] = AVAILABLE_ORDER
) -> Balance | None:
    """The first balance by the order of kinds; None where none of them is stated."""
    by_kind: dict[BalanceKind, Balance] = {}
    for balance in balances:
        if balance.kind.known is not None:
            by_kind.setdefault(balance.kind.known, balance)
    return next((by_kind[kind] for kind in order if kind in by_kind), None)
