"""The claims of an event notification (RFC 8417 security event token).

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import Shape


class EventLink(Shape, frozen=True, kw_only=True):
    """Schema `OBEventLink1`."""

    version: str = field(name="version")
    link: str = field(name="link")


class EventSubject(Shape, frozen=True, kw_only=True):
    """Schema `OBEventSubject1`."""

    subject_type: str = field(name="subject_type")
    resource_id: str = field(name="http://openbanking.org.uk/rid")
    resource_type: str = field(name="http://openbanking.org.uk/rty")
    resource_links: list[EventLink] = field(name="http://openbanking.org.uk/rlk")


class EventResourceUpdate(Shape, frozen=True, kw_only=True):
    """Schema `OBEventResourceUpdate1`."""

    subject: EventSubject = field(name="subject")


class Event(Shape, frozen=True, kw_only=True):
    """Schema `OBEvent1`: one member for each kind of event, so each is optional here."""

    resource_update: Maybe[EventResourceUpdate] = field(
        default=UNSET, name="urn:uk:org:openbanking:events:resource-update"
    )
    consent_authorization_revoked: Maybe[EventResourceUpdate] = field(
        default=UNSET, name="urn:uk:org:openbanking:events:consent-authorization-revoked"
    )
    linked_account_update: Maybe[EventResourceUpdate] = field(
        default=UNSET,
        name="urn:uk:org:openbanking:events:account-access-consent-linked-account-update",
    )


class EventNotification(Shape, frozen=True, kw_only=True):
    """Schema `OBEventNotification1`."""

    iss: str = field(name="iss")
    iat: int = field(name="iat")
    jti: str = field(name="jti")
    aud: str = field(name="aud")
    sub: str = field(name="sub")
    txn: str = field(name="txn")
    toe: int = field(name="toe")
    events: Event = field(name="events")
