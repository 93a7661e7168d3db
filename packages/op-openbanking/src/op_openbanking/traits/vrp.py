"""Variable recurring payments. Only UK OBIE has them."""

from __future__ import annotations

from typing import Protocol

from op_openbanking.flow import Flow
from op_openbanking.model.consent import Consent
from op_openbanking.model.money import Money
from op_openbanking.model.vrp import VRPMandate, VRPPayment
from op_openbanking.standards.base import Wire

from .piis import FundsConfirmation
from .wish import NewMandate, NewVRPPayment, Presence


class VRP(Protocol):
    """Pays again and again inside agreed limits."""

    def ask(self, mandate: NewMandate | Wire) -> Flow[Consent]:
        """Ask for a mandate; it waits for the owner."""
        ...

    def mandate(self, consent_id: str) -> Flow[VRPMandate]:
        """The mandate as the bank holds it."""
        ...

    def confirm(self, consent_id: str, asked: Money, *, reference: str) -> Flow[FundsConfirmation]:
        """Ask whether an amount is there. Nothing is reserved."""
        ...

    def pay(
        self, consent_id: str, payment: NewVRPPayment, *, presence: Presence | None = None
    ) -> Flow[VRPPayment]:
        """Pay under a mandate. The same `instruction_id` again pays nothing anew.

        Raises:
            LimitExceeded: A limit of the mandate.
            OutcomeUnknown: Sent, and nobody can say what became of it.
        """
        ...

    def payment(self, consent_id: str, instruction_id: str) -> Flow[VRPPayment]:
        """How far a payment is."""
        ...
