"""Payment initiation."""

from __future__ import annotations

from typing import Protocol

from op_openbanking.flow import Flow
from op_openbanking.model.consent import Consent
from op_openbanking.model.payment import Payment
from op_openbanking.standards.base import Wire

from .piis import FundsConfirmation
from .wish import NewPayment


class PISP(Protocol):
    """Pays. A payment is asked for, authorised, and then submitted at most once.

    Standards without a consent of its own (Berlin Group, STET) make the payment with `ask`; its id
    is the consent's id, and `submit` tells what became of it.
    """

    def ask(self, payment: NewPayment | Wire) -> Flow[Consent]:
        """Put the payment before the bank; it waits for the owner."""
        ...

    def submit(self, consent_id: str) -> Flow[Payment]:
        """Carry out what was authorised. Calling it again pays nothing anew.

        Raises:
            OutcomeUnknown: Sent, and nobody can say what became of it.
            ConsentRequired: It was not authorised, or no longer is.
        """
        ...

    def payment(self, consent_id: str) -> Flow[Payment]:
        """How far the payment of a consent is.

        Raises:
            ConfigError: It was never submitted.
        """
        ...

    def confirm(self, consent_id: str) -> Flow[FundsConfirmation]:
        """Ask whether the funds for an authorised payment are there. Nothing is reserved."""
        ...

    def cancel(self, consent_id: str) -> Flow[Payment]:
        """Stop a payment that is not yet executed, where the standard can."""
        ...


class FileUploads(Protocol):
    """Hands a payment file to a consent that waits for it."""

    def upload(self, consent_id: str, octets: bytes, *, media_type: str) -> Flow[Consent]:
        """Upload the file whose hash the consent names.

        Raises:
            ConfigError: The file is not the one that the consent names.
        """
        ...
