"""Event subscriptions and polling.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import Links, Meta, Shape


class SetError(Shape, frozen=True, kw_only=True):
    """Member `setErrs` of `EventPolling`."""

    err: str = field(name="err")
    description: str = field(name="description")


class EventPolling(Shape, frozen=True, kw_only=True):
    """Schema `OBEventPolling1`."""

    max_events: Maybe[int] = field(default=UNSET, name="maxEvents")
    return_immediately: Maybe[bool] = field(default=UNSET, name="returnImmediately")
    ack: Maybe[list[str]] = field(default=UNSET, name="ack")
    set_errs: Maybe[dict[str, SetError]] = field(default=UNSET, name="setErrs")


class EventPollingResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBEventPollingResponse1`."""

    more_available: bool = field(name="moreAvailable")
    sets: dict[str, str] = field(name="sets")


class EventSubscriptionData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `EventSubscription`."""

    version: str
    callback_url: Maybe[str] = UNSET
    event_types: Maybe[list[str]] = UNSET


class EventSubscription(Shape, frozen=True, kw_only=True):
    """Schema `OBEventSubscription1`."""

    data: EventSubscriptionData


class EventSubscriptionResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `EventSubscriptionResponse`."""

    event_subscription_id: str
    version: str
    callback_url: Maybe[str] = UNSET
    event_types: Maybe[list[str]] = UNSET


class EventSubscriptionResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBEventSubscriptionResponse1`."""

    data: EventSubscriptionResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class EventSubscriptionsResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `EventSubscriptionsResponse`."""

    event_subscription: Maybe[list[EventSubscriptionResponseData]] = UNSET


class EventSubscriptionsResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBEventSubscriptionsResponse1`."""

    data: EventSubscriptionsResponseData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class CallbackURLData(Shape, frozen=True, kw_only=True):
    """Where the bank sends events: the older way, before event subscriptions."""

    url: str
    version: str
    callback_url_id: Maybe[str] = UNSET


class CallbackURL(Shape, frozen=True, kw_only=True):
    """Request and answer of POST and PUT /callback-urls."""

    data: CallbackURLData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class CallbackURLsData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `CallbackURLs`."""

    callback_url: Maybe[list[CallbackURLData]] = UNSET


class CallbackURLs(Shape, frozen=True, kw_only=True):
    """Answer of GET /callback-urls."""

    data: CallbackURLsData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
