"""What a bank tells us unasked: consents revoked, payments moved, accounts unlinked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from op_openbanking.flow import Flow
from op_openbanking.model.code import Code
from op_openbanking.standards.base import Wire


class EventKind(StrEnum):
    """What happened."""

    RESOURCE_UPDATED = "resource-updated"
    CONSENT_REVOKED = "consent-revoked"
    ACCOUNTS_CHANGED = "accounts-changed"


@dataclass(frozen=True, slots=True)
class Event:
    """One verified event.

    Attributes:
        id: Unique at this bank: the same id again is the same event again.
        kind: What happened; the text is the standard's own name.
        resource_id: Which consent, payment or account.
        resource_type: The standard's own word for what that is.
        happened_at_s: Seconds since 1970, or None where the bank does not say.
        raw: The wire object it was read from.
    """

    id: str
    kind: Code[EventKind]
    resource_id: str
    resource_type: str
    happened_at_s: float | None
    raw: Wire


@dataclass(frozen=True, slots=True)
class EventBatch:
    """What one poll brought.

    Attributes:
        events: Verified events.
        refused: Ids of those that did not verify, each with the reason: report them with the next
            poll, which happens by itself if you hand the batch on.
        more: Whether the bank has more.
    """

    events: tuple[Event, ...]
    refused: Mapping[str, str]
    more: bool


class Events(Protocol):
    """Notifications, pushed or fetched."""

    def verify(self, notification: bytes) -> Flow[Event]:
        """Judge the octets that a bank posted to us.

        The event is not deduplicated: keep `Event.id` for as long as the bank may repeat it.

        Raises:
            SecurityError: Signature, issuer, audience or age.
        """
        ...

    def poll(self, *, after: EventBatch | None = None, limit: int = 100) -> Flow[EventBatch]:
        """Fetch events, and acknowledge those of the batch before.

        Args:
            after: The batch that was handled: its events are acknowledged, its refused reported.
            limit: Most events; 0 acknowledges alone.
        """
        ...

    def subscribe(self, callback_url: str | None, kinds: tuple[str, ...]) -> Flow[str]:
        """Ask for events by push, or by poll where there is no URL; returns the subscription's id.

        Args:
            callback_url: Where the bank posts them.
            kinds: The standard's own names.
        """
        ...

    def unsubscribe(self, subscription_id: str) -> Flow[None]:
        """End a subscription."""
        ...
