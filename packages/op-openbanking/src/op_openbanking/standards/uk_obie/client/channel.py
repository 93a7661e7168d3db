"""The one way out to a UK bank: headers, message signatures, errors.

Payments, VRP and event subscriptions are signed, request and answer; accounts and funds are not.
The octets that are signed are the octets that are sent, and an answer is verified over the octets
received, before it is read. An error needs no signature.

Source: OBIE Read/Write 3.1.11, "Headers", "Message Signing", "Idempotency".
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Final

from op_openbanking.errors import ConfigError, SignatureInvalid
from op_openbanking.fapi.client import fetch_keys
from op_openbanking.flow import Flow, Response, signature
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.rotation import KeyRing
from op_openbanking.signing.obie_signature import OBIESignatures, OBIEVerifier, is_encoded
from op_openbanking.standards.uk_obie.client.quirks import Quirks
from op_openbanking.standards.uk_obie.meanings import MEANINGS
from op_openbanking.stores.records import Submission
from op_openbanking.traits.link import Link
from op_openbanking.traits.submission import submit
from op_openbanking.traits.wish import Presence

IDEMPOTENCY: Final = "x-idempotency-key"
SIGNATURE: Final = "x-jws-signature"
MAX_KEY_CHARS: Final = 40
"""OBIE Read/Write "Idempotency": a key has at most 40 characters."""
WINDOW_S: Final = 24 * 3600
"""OBIE Read/Write "Idempotency": a bank recognises a key for 24 hours."""
_MARGIN_S: Final = 600
"""Ours: a repetition that is under way when the time ends must still fall inside."""
_UUID_BYTES: Final = 16
JSON_UTF8: Final = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Channel:
    """One client at one UK bank.

    Attributes:
        link: The link.
        quirks: The bank's switches.
        keys: The bank's signing keys.
    """

    link: Link
    quirks: Quirks
    keys: KeyRing = field(repr=False)

    @classmethod
    def over(cls, link: Link) -> Channel:
        """The channel of a link.

        Raises:
            ConfigError: The profile's quirks or signing are not those of this standard, or it
                wants signatures and there is no signer.
        """
        signing = link.profile.signing
        if signing.mode == "http-signature":
            raise ConfigError("uk-obie signs with obie-jws or not at all, not with http-signature")
        if signing.mode == "obie-jws":
            if link.message_signer is None or not signing.issuer:
                raise ConfigError("the profile signs messages: it needs a signer and an issuer")
            if signing.answers != "ignored" and not signing.bank_issuer:
                raise ConfigError("signatures of the bank are verified: its issuer is missing")
        own = KeyRing(signing.bank_jwks_uri) if signing.bank_jwks_uri else link.client.keys
        return cls(link, link.profile.quirks_as(Quirks), link.bank_keys or own)

    def get(
        self,
        url: str,
        *,
        consent_id: str | None = None,
        scope: str | None = None,
        presence: Presence | None = None,
        signed: bool = False,
        accept: str = "application/json",
    ) -> Flow[Response]:
        """GET with the owner's token of a consent, or the client's of a scope."""
        headers = (("accept", accept), *self._headers(presence))
        request = self.link.request("GET", url, headers=headers)
        response = yield from self.link.exchange(
            request, meanings=MEANINGS, consent_id=consent_id, scope=scope
        )
        if signed:
            yield from self._verify(response)
        return response

    def post(
        self,
        url: str,
        body: bytes,
        *,
        consent_id: str | None = None,
        scope: str | None = None,
        key: str | None = None,
        signed: bool = False,
        presence: Presence | None = None,
        media_type: str = JSON_UTF8,
        method: str = "POST",
    ) -> Flow[Response]:
        """POST; with an idempotency key the same octets may be sent again."""
        headers = [
            ("content-type", media_type),
            ("accept", "application/json"),
            *self._headers(presence),
        ]
        if key is not None:
            headers.append((IDEMPOTENCY, key))
        if signed and self.link.profile.signing.mode == "obie-jws":
            headers.append((SIGNATURE, (yield from self._sign(body))))
        request = self.link.request(
            method,
            url,
            headers=tuple(headers),
            body=body,
            idempotency_header=None if key is None else IDEMPOTENCY,
        )
        response = yield from self.link.exchange(
            request, meanings=MEANINGS, good=(200, 201), consent_id=consent_id, scope=scope
        )
        if signed:
            yield from self._verify(response)
        return response

    def submit(
        self, wanted: Submission, *, consent_id: str, presence: Presence | None = None
    ) -> Flow[Response]:
        """POST once, signed, and remember it; see `traits.submission.submit`."""

        def send(submission: Submission) -> Flow[Response]:
            return (
                yield from self.post(
                    submission.url,
                    submission.body,
                    consent_id=consent_id,
                    key=submission.idempotency_key,
                    signed=True,
                    presence=presence,
                    media_type=submission.content_type,
                )
            )

        link = self.link
        return (
            yield from submit(link.store, wanted, send, window_s=self.window_s, now_s=link.now_s)
        )

    def delete(self, url: str, *, scope: str) -> Flow[Response]:
        """DELETE with the client's token."""
        request = self.link.request("DELETE", url, headers=self._headers(None))
        return (
            yield from self.link.exchange(request, meanings=MEANINGS, good=(200, 204), scope=scope)
        )

    @property
    def window_s(self) -> float:
        """How long a submission may be repeated, in seconds."""
        return (self.link.profile.limits.idempotency_window_s or WINDOW_S) - _MARGIN_S

    def fresh_key(self) -> str:
        """An idempotency key: a UUID, 36 characters."""
        return str(self._uuid())

    def fresh_id(self) -> str:
        """An identifier of at most 35 characters: 32 hexadecimal digits."""
        return self._uuid().hex

    def moment(self, moment: datetime) -> str:
        """A date and time for a body: with offset, and with fractions where the bank wants them.

        Raises:
            ConfigError: The datetime is naive.
        """
        digits = "milliseconds" if self.quirks.milliseconds else "seconds"
        return _aware(moment).isoformat(timespec=digits)

    def body_moment(self, moment: date | datetime, *, ends: bool) -> str:
        """A date and time for a body, of a date too; see `query_moment`."""
        return self.moment(_whole_day(moment, ends=ends))

    def query_moment(self, moment: date | datetime, *, ends: bool) -> str:
        """A date and time for a query: without offset, in UTC.

        Args:
            moment: A date means its first second, or its last.
            ends: Whether it is the end of a time.
        """
        text = self.moment(_aware(_whole_day(moment, ends=ends)).astimezone(UTC))
        return text if self.quirks.query_offset else text.removesuffix("+00:00")

    def _uuid(self) -> uuid.UUID:
        return uuid.UUID(bytes=self.link.caller.entropy(_UUID_BYTES), version=4)

    def _headers(self, presence: Presence | None) -> tuple[tuple[str, str], ...]:
        headers = [("x-fapi-interaction-id", str(self._uuid()))]
        if self.quirks.financial_id:
            headers.append(("x-fapi-financial-id", self.quirks.financial_id))
        if presence is not None:
            headers.append(("x-fapi-customer-ip-address", presence.ip_address))
            if presence.user_agent is not None:
                headers.append(("x-customer-user-agent", presence.user_agent))
            if presence.authenticated_at is not None:
                at = _aware(presence.authenticated_at).astimezone(UTC)
                headers.append(("x-fapi-auth-date", format_datetime(at, usegmt=True)))
        return tuple(headers)

    def _sign(self, body: bytes) -> Flow[str]:
        signer, signing = self.link.message_signer, self.link.profile.signing
        if signer is None:
            raise ConfigError("messages are signed, and there is no message_signer")
        ours = OBIESignatures(
            issuer=signing.issuer,
            trust_anchor=signing.trust_anchor,
            b64=is_encoded(self.link.profile.version) and not signing.raw_body,
        )
        ready = ours.prepare(body, alg=signer.alg, kid=signer.kid, now_s=int(self.link.now_s))
        made = yield from signature(signer, ready.octets)
        return ready.attach(made, public_key=getattr(signer, "public_key", None))

    def _verify(self, response: Response) -> Flow[None]:
        signing = self.link.profile.signing
        if signing.mode == "none" or signing.answers == "ignored":
            return
        stated = response.header(SIGNATURE)
        if stated is None:
            if signing.answers == "required":
                raise SignatureInvalid(
                    "the bank's answer is not signed",
                    check="obie-unsigned",
                    section="OBIE R/W 3.1.11, message signing",
                )
            return
        keys: JWKSet = yield from fetch_keys(self.keys, stated, clock=self.link.caller.clock)
        verifier = OBIEVerifier(
            keys, signing.bank_issuer, trust_anchors=frozenset({signing.trust_anchor})
        )
        verifier.verify(stated, response.body, now_s=self.link.now_s)


def _whole_day(moment: date | datetime, *, ends: bool) -> datetime:
    if isinstance(moment, datetime):
        return moment
    return datetime.combine(moment, time(23, 59, 59) if ends else time(), UTC)


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ConfigError("a datetime must be aware: it names no instant without an offset")
    return moment
