"""Confirmation of the availability of funds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from op_openbanking.flow import Flow
from op_openbanking.model.consent import Consent
from op_openbanking.model.money import Money
from op_openbanking.model.when import When
from op_openbanking.standards.base import Wire

from .wish import FundsAccess


@dataclass(frozen=True, slots=True)
class FundsConfirmation:
    """Whether the funds were there.

    Attributes:
        available: Yes or no; the bank says no more.
        raw: The wire object it was read from.
        at: When, where the bank says.
        id: The bank's id of the answer, where it gives one.
    """

    available: bool
    raw: Wire
    at: When | None = None
    id: str | None = None


class PIIS(Protocol):
    """Asks whether funds are there."""

    def ask(self, access: FundsAccess | Wire) -> Flow[Consent]:
        """Ask for a consent; it waits for the owner."""
        ...

    def confirm(self, consent_id: str, asked: Money, *, reference: str) -> Flow[FundsConfirmation]:
        """Ask whether an amount is there. Nothing is reserved."""
        ...
