"""Open codes: what a bank wrote, and what we understand by it.

Code lists grow and banks add their own, so no value is refused: `Code.text` is what was written and
`Code.known` is the unified meaning, or None where no list of ours has it.

Source: OBIE 3.1.11 "Enumerations" (namespaced, open); ISO 20022 external code sets grow each
quarter.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, Self, TypeVar

import msgspec

K = TypeVar("K", bound=StrEnum)


class Code(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """One code.

    Attributes:
        text: As the bank wrote it; empty where the standard has no such member and the meaning
            follows from elsewhere (a Berlin Group transaction's status is the list it is in).
        known: What it means in the model, or None.
    """

    text: str
    known: K | None

    @classmethod
    def of(cls, text: str, meanings: Mapping[str, K]) -> Self:
        """The code of `text` in a standard's table of meanings."""
        return cls(text=text, known=meanings.get(text))

    def __str__(self) -> str:
        return self.text if self.known is None else self.known.value
