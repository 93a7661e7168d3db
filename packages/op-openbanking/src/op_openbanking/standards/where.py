"""Where a mapping stands in a body, so that a value of no meaning is refused with its place.

A wire object keeps every text; only the model needs amounts and dates that mean something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from op_openbanking.errors import InvalidValue, MalformedBody
from op_openbanking.model.money import MAX_DIGITS, Money
from op_openbanking.model.when import When
from op_openbanking.standards.base import Maybe, Number, known

R = TypeVar("R")
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a body.

    Attributes:
        standard: Registered name of the standard.
        resource: What is being mapped.
        path: The object, for example `$.Data.Transaction[3]`.
    """

    standard: str
    resource: str
    path: str = "$"

    def at(self, path: str) -> Self:
        """The same body at another path below this one, for example `.Data.Account[0]`."""
        return replace(self, path=f"{self.path}{path}")

    def each(self, path: str, rows: Sequence[R], mapped: Callable[[R, Where], M]) -> tuple[M, ...]:
        """Map rows; a refusal names the row's place.

        A place costs more than most rows: it is made for the row that is refused, which is then
        mapped again to be refused with it.
        """
        found = []
        for index, row in enumerate(rows):
            try:
                found.append(mapped(row, self))
            except MalformedBody:
                found.append(mapped(row, self.at(f"{path}[{index}]")))
        return tuple(found)

    def refusal(self, message: str, *, member: str = "") -> MalformedBody:
        """The error for a value of this object."""
        path = f"{self.path}.{member}" if member else self.path
        return MalformedBody(message, standard=self.standard, resource=self.resource, path=path)

    def money(self, text: str, currency: str, *, member: str) -> Money:
        """An amount of this object.

        Raises:
            MalformedBody: If the text is no plain amount or the currency has not its form.
        """
        try:
            return Money.parse(text, currency)
        except InvalidValue as error:
            raise self.refusal(str(error), member=member) from None

    def number(self, number: Number, currency: str, *, member: str) -> Money:
        """An amount of this object that is a JSON number.

        Raises:
            MalformedBody: If the number or the currency is out of range.
        """
        try:
            value = number.decimal()
            exponent = value.as_tuple().exponent
            if value.adjusted() >= MAX_DIGITS or int(exponent) < -MAX_DIGITS:
                raise self.refusal("more digits than any amount has", member=member)
            return Money(amount=value, currency=currency)
        except ValueError as error:
            raise self.refusal(str(error), member=member) from None

    def when(self, text: Maybe[str], *, member: str) -> When | None:
        """A date of this object, or None where it has none.

        Raises:
            MalformedBody: If the text is neither a date nor a date and time.
        """
        written = known(text)
        try:
            return None if written is None else When.parse(written)
        except InvalidValue as error:
            raise self.refusal(str(error), member=member) from None


def first(*values: Maybe[str]) -> str | None:
    """The first of several texts that is there and not empty."""
    for value in values:
        if isinstance(value, str) and value:
            return value
    return None
