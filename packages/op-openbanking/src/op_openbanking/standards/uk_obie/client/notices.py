"""Event notifications of a UK bank: security event tokens, pushed or polled.

Source: OBIE Read/Write 3.1.11, event notification, event subscription and aggregated polling; RFC
8417 (security event token); RFC 8936 as OBIE profiles it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from msgspec import UNSET

from op_openbanking.errors import (
    ConfigError,
    ProtocolViolation,
    SecurityError,
    TokenInvalid,
    quoted,
)
from op_openbanking.fapi.client import fetch_keys
from op_openbanking.flow import Flow
from op_openbanking.jose.jws import peek
from op_openbanking.jose.jwt import ClaimRules, verify_jwt
from op_openbanking.model.code import Code
from op_openbanking.standards.base import decode, encode, known
from op_openbanking.standards.uk_obie import events, notifications
from op_openbanking.standards.uk_obie.client.channel import Channel
from op_openbanking.traits.events import Event, EventBatch, EventKind

MAX_TOKEN_BYTES: Final = 64 * 1024
_KINDS: Final[Mapping[str, EventKind]] = MappingProxyType(
    {
        "urn:uk:org:openbanking:events:resource-update": EventKind.RESOURCE_UPDATED,
        "urn:uk:org:openbanking:events:consent-authorization-revoked": EventKind.CONSENT_REVOKED,
        "urn:uk:org:openbanking:events:account-access-consent-linked-account-update": (
            EventKind.ACCOUNTS_CHANGED
        ),
    }
)
_MAX_EVENTS: Final = 1000


@dataclass(frozen=True, slots=True)
class OBIEEvents:
    """Fills `traits.events.Events`."""

    channel: Channel

    def verify(self, notification: bytes) -> Flow[Event]:
        """See `Events.verify`. The signature is PS256, by a key of the bank.

        Raises:
            TokenInvalid: `iss`, `aud`, or a claim of RFC 8417 is missing or wrong.
            MalformedBody: The claims are not of OBIE's shape.
        """
        if len(notification) > MAX_TOKEN_BYTES or not notification.isascii():
            raise TokenInvalid(
                "the notification is no security event token",
                check="set-form",
                section="RFC 8417 2",
            )
        token = notification.decode("ascii").strip()
        link, quirks = self.channel.link, self.channel.quirks
        keys = yield from fetch_keys(self.channel.keys, token, clock=link.client.clock)
        rules = ClaimRules(
            issuer=quirks.event_issuer or link.profile.issuer,
            audience=quirks.event_audience or link.client.client_id,
            required=("iat", "jti", "events"),
            requires_expiry=False,
            section="RFC 8417 2.2",
        )
        verify_jwt(token, keys, rules=rules, now_s=link.now_s, algorithms=("PS256",))
        _, payload = peek(token)
        body = decode(
            payload,
            notifications.EventNotification,
            standard="uk-obie",
            resource="event-notification",
        )
        return _event(body)

    def poll(self, *, after: EventBatch | None = None, limit: int = 100) -> Flow[EventBatch]:
        """See `Events.poll`. The bank is asked to answer at once.

        Raises:
            ConfigError: `limit` is not between 0 and 1000.
            ProtocolViolation: The bank sent more events than were asked for.
        """
        if not 0 <= limit <= _MAX_EVENTS:
            raise ConfigError(f"a poll asks for 0 to {_MAX_EVENTS} events")
        link = self.channel.link
        refused = {} if after is None else after.refused
        faults = {
            name: events.SetError(err="authentication_failed", description=reason)
            for name, reason in refused.items()
        }
        request = events.EventPolling(
            max_events=limit,
            return_immediately=True,
            ack=UNSET if after is None else [event.id for event in after.events],
            set_errs=faults or UNSET,
        )
        response = yield from self.channel.post(
            link.url("events", "/events"),
            encode(request),
            scope=self.channel.quirks.event_scope,
        )
        body = link.decode(response, events.EventPollingResponse, "events")
        if len(body.sets) > limit:
            raise ProtocolViolation(
                f"the bank sent {len(body.sets)} events, asked for were {limit}",
                section="RFC 8936 2.4",
            )
        return (yield from self._batch(body))

    def subscribe(self, callback_url: str | None, kinds: tuple[str, ...]) -> Flow[str]:
        """See `Events.subscribe`."""
        link = self.channel.link
        request = events.EventSubscription(
            data=events.EventSubscriptionData(
                callback_url=UNSET if callback_url is None else callback_url,
                version=link.profile.version.rpartition(".")[0],
                event_types=list(kinds),
            )
        )
        response = yield from self.channel.post(
            link.url("events", "/event-subscriptions"),
            encode(request),
            scope=self.channel.quirks.event_scope,
            signed=True,
        )
        body = link.decode(response, events.EventSubscriptionResponse, "event-subscription")
        return body.data.event_subscription_id

    def unsubscribe(self, subscription_id: str) -> Flow[None]:
        """See `Events.unsubscribe`."""
        url = self.channel.link.url(
            "events", "/event-subscriptions/{subscription_id}", subscription_id=subscription_id
        )
        yield from self.channel.delete(url, scope=self.channel.quirks.event_scope)

    def _batch(self, body: events.EventPollingResponse) -> Flow[EventBatch]:
        found: list[Event] = []
        refused: dict[str, str] = {}
        for name, token in body.sets.items():
            try:
                event = yield from self.verify(token.encode("utf-8", "surrogatepass"))
            except (SecurityError, ProtocolViolation) as error:
                refused[name] = str(error)[:200]
            else:
                if event.id == name:
                    found.append(event)
                else:
                    refused[name] = f"jti is {quoted(event.id)}"
        return EventBatch(tuple(found), refused, body.more_available)


def _event(body: notifications.EventNotification) -> Event:
    stated = {
        "urn:uk:org:openbanking:events:resource-update": known(body.events.resource_update),
        "urn:uk:org:openbanking:events:consent-authorization-revoked": known(
            body.events.consent_authorization_revoked
        ),
        "urn:uk:org:openbanking:events:account-access-consent-linked-account-update": known(
            body.events.linked_account_update
        ),
    }
    for name, update in stated.items():
        if update is not None:
            return Event(
                id=body.jti,
                kind=Code.of(name, _KINDS),
                resource_id=update.subject.resource_id,
                resource_type=update.subject.resource_type,
                happened_at_s=float(body.toe),
                raw=body,
            )
    # A kind that no list of ours has: still an event, with all of it in `raw`.
    unknown = body.events.unknown
    name = "" if unknown is UNSET else next(iter(unknown), "")
    return Event(body.jti, Code(name, None), "", "", float(body.toe), body)
