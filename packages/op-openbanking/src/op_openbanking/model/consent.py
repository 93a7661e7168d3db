"""Consents: one life over all standards.

    awaiting upload --> awaiting authorisation --> active --> consumed
                              |        ^             | ^ |
                              v        | (part of    | | +--> suspended --> active
                          rejected     |  the        | |
                                       |  signers)   v |
                                       |      revoked by user, revoked by us, expired
                                       +-- partly authorised

* A consent never leaves consumed, rejected, revoked or expired.
* Reading the same status again is no move. A read may skip states: a bank is asked now and then,
  and a consent that was awaiting may be found consumed or expired.
* An active consent may be authorised again (re-authentication): it stays active.
* Expiry may be a status (Berlin Group, FDX) or only a date in the past (OBIE): `status_at` looks at
  both. An absent date means no end.

Source: OBIE 3.1.11 consent state tables; Berlin Group 1.3.12 consentStatus; CDR 1.31 arrangement;
FDX 6 ConsentGrant. STET has no consent object: its token is the consent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from op_openbanking.errors import IllegalTransition
from op_openbanking.model.code import Code
from op_openbanking.model.when import When
from op_openbanking.standards.base import Wire


class ConsentStatus(StrEnum):
    """Where a consent is in its life."""

    AWAITING_UPLOAD = "awaiting-upload"
    AWAITING_AUTHORISATION = "awaiting-authorisation"
    PARTLY_AUTHORISED = "partly-authorised"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    CONSUMED = "consumed"
    REJECTED = "rejected"
    REVOKED_BY_USER = "revoked-by-user"
    REVOKED_BY_CLIENT = "revoked-by-client"
    EXPIRED = "expired"

    @property
    def is_final(self) -> bool:
        """Whether the consent stays so for ever."""
        return not _LATER[self]


_S = ConsentStatus
_ENDS = frozenset({_S.CONSUMED, _S.REVOKED_BY_USER, _S.REVOKED_BY_CLIENT, _S.EXPIRED})
_WAITING = _ENDS | {_S.ACTIVE, _S.SUSPENDED, _S.REJECTED}
_LATER: dict[ConsentStatus, frozenset[ConsentStatus]] = {
    _S.AWAITING_UPLOAD: _WAITING | {_S.AWAITING_AUTHORISATION, _S.PARTLY_AUTHORISED},
    _S.AWAITING_AUTHORISATION: _WAITING | {_S.PARTLY_AUTHORISED},
    _S.PARTLY_AUTHORISED: _WAITING,
    _S.ACTIVE: _ENDS | {_S.SUSPENDED},
    _S.SUSPENDED: _ENDS | {_S.ACTIVE},
    _S.CONSUMED: frozenset(),
    _S.REJECTED: frozenset(),
    _S.REVOKED_BY_USER: frozenset(),
    _S.REVOKED_BY_CLIENT: frozenset(),
    _S.EXPIRED: frozenset(),
}


class ConsentPurpose(StrEnum):
    """What a consent is for."""

    ACCOUNTS = "accounts"
    PAYMENT = "payment"
    FUNDS = "funds-confirmation"
    VRP = "vrp"


@dataclass(frozen=True, slots=True)
class Consent:
    """One consent.

    Attributes:
        id: The bank's id; for CDR the arrangement id.
        purpose: What it is for.
        status: Where it is in its life. `known` is None where the bank's word is not ours: treat
            it as not active.
        raw: The wire object it was read from, or None where the standard has no such object.
        created: When it was made, where the bank says.
        expires: When it ends; None means that the bank names no end.
        permissions: What may be read, in the standard's own words.
    """

    id: str
    purpose: ConsentPurpose
    status: Code[ConsentStatus]
    raw: Wire | None = None
    created: When | None = None
    expires: When | None = None
    permissions: tuple[str, ...] = ()

    def status_at(self, now: datetime) -> ConsentStatus | None:
        """The status at an aware `now`, with the expiry date taken into account."""
        status = self.status.known
        if status is None or status.is_final or self.expires is None:
            return status
        return ConsentStatus.EXPIRED if self.expires.is_before(now) else status

    def is_usable(self, now: datetime) -> bool:
        """Whether the bank should honour it at an aware `now`."""
        return self.status_at(now) is ConsentStatus.ACTIVE

    def moved_to(self, status: Code[ConsentStatus]) -> Self:
        """The consent with the status that the bank reports.

        Raises:
            IllegalTransition: If a consent in the status held cannot become that.
        """
        before, after = self.status.known, status.known
        if before is None or after is None or before is after:
            return replace(self, status=status)
        if after not in _LATER[before]:
            raise IllegalTransition(str(self.status), str(status))
        return replace(self, status=status)
