"""Amounts: exact decimals, strict text, one currency.

An amount's text is ASCII digits with an optional minus and an optional point: no exponent, blank,
underscore, plus, bare point or other script's digit (all of which `decimal.Decimal` reads). The
digits written are kept but for zeros in front: `10.00` is written `10.00` again, and is equal to
`10`.

The sign is never implied. `Money` carries it in the amount; a transaction says `Direction` and a
positive amount, whatever way its standard says it.

Limits: 18 digits before the point, 18 after it. The standards allow 13.5 (OBIE), 14.3 (Berlin
Group), 16.any (CDR); FDX and Myinfo do not say.

Source: OBIE 3.1.11 OBActiveCurrencyAndAmount_SimpleType; Berlin Group 1.3.12 amountValue; CDR 1.31
"AmountString"; ISO 4217 for the form of a currency.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from typing import Self

import msgspec

from op_openbanking.errors import InvalidValue

MAX_DIGITS = 18
"""Most digits before the point of an amount, and most after it."""

_AMOUNT = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}(?:\.[0-9]{{1,{MAX_DIGITS}}})?", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)


class Direction(StrEnum):
    """Which way money moves, seen from the account: in (credit) or out (debit)."""

    CREDIT = "credit"
    DEBIT = "debit"


class Money(msgspec.Struct, frozen=True, gc=False):
    """An amount in one currency.

    Attributes:
        amount: Exact, with the digits that were written; negative is out of the account.
        currency: Three capital letters (ISO 4217 form; `XXX` and local codes are let through).

    Raises:
        InvalidValue: If the currency is not of that form or the amount is not finite.
    """

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        if not self.amount.is_finite():
            raise InvalidValue("amount", self.amount, expected="a finite Decimal")
        if _CURRENCY.fullmatch(self.currency) is None:
            raise InvalidValue("currency", self.currency, expected="three capital letters")

    @classmethod
    def parse(cls, text: str, currency: str) -> Self:
        """Read an amount from its strict text.

        Raises:
            InvalidValue: If the text or the currency is not of the form above.
        """
        return cls(amount=parse_amount(text), currency=currency)

    @property
    def text(self) -> str:
        """The amount as it was written, for example `10.00`."""
        return f"{self.amount:f}"

    def towards(self, direction: Direction) -> Self:
        """The amount with the sign that says `direction`: negative for a debit."""
        size = self.amount.copy_abs()
        amount = size.copy_negate() if direction is Direction.DEBIT else size
        return type(self)(amount=amount, currency=self.currency)

    @property
    def direction(self) -> Direction:
        """Debit for a negative amount, else credit."""
        return Direction.DEBIT if self.amount.is_signed() else Direction.CREDIT

    @property
    def size(self) -> Self:
        """The amount without its sign."""
        if not self.amount.is_signed():
            return self
        return type(self)(amount=self.amount.copy_abs(), currency=self.currency)

    def __str__(self) -> str:
        return f"{self.text} {self.currency}"


def parse_amount(text: str) -> Decimal:
    """Read a decimal from its strict text.

    Raises:
        InvalidValue: If it is not ASCII digits with an optional minus and an optional point.
    """
    if _AMOUNT.fullmatch(text) is None:
        raise InvalidValue("amount", text, expected="digits with an optional minus and point")
    return Decimal(text)
