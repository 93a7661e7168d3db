"""Variable recurring payments: a mandate with limits, and the payments made under it.

Source: OBIE 3.1.11 OBDomesticVRPControlParameters, OBDomesticVRPRequest. Only OBIE has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from op_openbanking.model.account import AccountReference
from op_openbanking.model.code import Code
from op_openbanking.model.consent import Consent
from op_openbanking.model.money import Money
from op_openbanking.model.payment import PaymentStatus
from op_openbanking.model.when import When
from op_openbanking.standards.base import Wire


class Period(StrEnum):
    """Over what a limit counts."""

    DAY = "day"
    WEEK = "week"
    FORTNIGHT = "fortnight"
    MONTH = "month"
    HALF_YEAR = "half-year"
    YEAR = "year"


class Alignment(StrEnum):
    """Whether periods count from the consent or from the calendar."""

    CONSENT = "consent"
    CALENDAR = "calendar"


@dataclass(frozen=True, slots=True)
class PeriodicLimit:
    """The most that may be paid in one period."""

    period: Code[Period]
    alignment: Code[Alignment]
    amount: Money


@dataclass(frozen=True, slots=True)
class VRPMandate:
    """What may be paid without asking again.

    Attributes:
        consent: The consent that holds it.
        raw: The wire object it was read from.
        maximum: The most that one payment may be.
        limits: The most for each period; all of them hold at once.
        kinds: The standard's own words, for example `UK.OBIE.VRPType.Sweeping`.
        valid_from: First moment, where set.
        valid_to: Last moment, where set.
        creditor: The only payee, where fixed.
        debtor: The account to pay from, where fixed.
    """

    consent: Consent
    raw: Wire
    maximum: Money
    limits: tuple[PeriodicLimit, ...]
    kinds: tuple[str, ...] = ()
    valid_from: When | None = None
    valid_to: When | None = None
    creditor: AccountReference | None = None
    debtor: AccountReference | None = None


@dataclass(frozen=True, slots=True)
class VRPPayment:
    """One payment under a mandate.

    Attributes:
        id: The bank's id.
        consent_id: The mandate's consent.
        amount: What was paid.
        status: How far it is.
        raw: The wire object it was read from.
        creditor: Who is paid.
        reference: What the payee sees.
        end_to_end_id: Identifier that travels with the payment.
        updated: When the status was reached.
    """

    id: str
    consent_id: str
    amount: Money
    status: Code[PaymentStatus]
    raw: Wire
    creditor: AccountReference | None = None
    reference: str | None = None
    end_to_end_id: str | None = None
    updated: When | None = None
