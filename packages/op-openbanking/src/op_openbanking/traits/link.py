"""What a standard is handed to speak to one bank: profile, client, store, and the tokens.

`exchange` is the one way out. It sends a request with a token (or without, at banks that have
none), renews a token that has ended, and turns every answer that is not good into an error of one
taxonomy. Signatures are each standard's own, before and after it.

A token of the owner is kept under its consent, one of the client under its scope. A refresh token
is used by one caller at a time, as far as the store can tell: who finds that another has renewed
it takes that one's result.

Source: RFC 6749 section 6 (refresh); FAPI 1.0 Advanced section 5.2.3; each standard's headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from op_openbanking.banks.profile import BankProfile
from op_openbanking.errors import (
    AccessDenied,
    BankError,
    CapabilityMissing,
    ConfigError,
    ConsentRequired,
    ReauthenticationRequired,
    StateMismatch,
    TokenInvalid,
    quoted,
)
from op_openbanking.fapi.client import Client
from op_openbanking.fapi.pending import PendingStore
from op_openbanking.fapi.resource import call
from op_openbanking.fapi.tokens import TokenSet, client_credentials, refresh
from op_openbanking.flow import Clock, Entropy, Flow, Request, Response, fetch
from op_openbanking.jose.rotation import KeyRing
from op_openbanking.signing.base import AsyncSigner, Signer
from op_openbanking.standards.base import Wire, decode
from op_openbanking.standards.refusal import Meanings, refuse
from op_openbanking.stores import records
from op_openbanking.stores.base import Store
from op_openbanking.stores.records import ConsentRecord

from .capability import Operation

W = TypeVar("W", bound=Wire)


class _Landing(msgspec.Struct, frozen=True):
    consent_id: str
    expires_at_s: float


SPARE_S: Final = 15.0
"""A token that ends within this time is renewed first. Ours: longer than a slow exchange starts."""
_CLIENT: Final = "client:"
_UNAUTHORIZED: Final = 401


@dataclass(frozen=True, slots=True)
class CertificateOnly:
    """A client that proves itself by its TLS certificate alone, at banks without tokens.

    Attributes:
        client_certificate: x5t#S256 of the certificate.
        clock: Seconds since 1970.
        entropy: Unpredictable octets.
    """

    client_certificate: str
    clock: Clock = field(repr=False)
    entropy: Entropy = field(repr=False)


@dataclass(frozen=True, slots=True)
class Link:
    """One client at one bank.

    Attributes:
        profile: The bank.
        caller: The client registered there, or one that has a certificate alone.
        store: Consents, tokens, submissions.
        pending: Authorization requests that wait for their answer.
        message_signer: Signs messages, where the profile wants that.
        bank_keys: The bank's signing keys; made from the profile where left out.
    """

    profile: BankProfile
    caller: Client | CertificateOnly = field(repr=False)
    store: Store = field(repr=False)
    pending: PendingStore = field(repr=False)
    message_signer: Signer | AsyncSigner | None = field(default=None, repr=False)
    bank_keys: KeyRing | None = field(default=None, repr=False)

    @property
    def client(self) -> Client:
        """The registered client.

        Raises:
            ConfigError: The caller has a certificate alone, and this needs tokens.
        """
        if isinstance(self.caller, CertificateOnly):
            raise ConfigError("this needs a registered client, and there is a certificate alone")
        return self.caller

    @property
    def now_s(self) -> float:
        """Seconds since 1970."""
        return self.caller.clock()

    @property
    def now(self) -> datetime:
        """Aware, UTC."""
        return datetime.fromtimestamp(self.now_s, UTC)

    def url(self, service: str, path: str, **parts: str) -> str:
        """A URL of a service; parts are percent-encoded whole, so no id can leave its place.

        Raises:
            ConfigError: The profile has no such service, or a part is `.`, `..` or empty.
        """
        for name, part in parts.items():
            if part in {"", ".", ".."}:
                raise ConfigError(f"{name} {quoted(part)} is no identifier")
        safe = {name: quote(part, safe="") for name, part in parts.items()}
        return self.profile.service(service) + path.format(**safe)

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        body: bytes = b"",
        idempotency_header: str | None = None,
    ) -> Request:
        """A request within the bank's limits.

        Args:
            method: Method.
            url: From `url`, or a link that `Pages` allowed.
            headers: Further headers.
            body: Octets.
            idempotency_header: The header that carries a fixed key, where there is one: then the
                request may be sent again.
        """
        limits = self.profile.limits
        return Request(
            method,
            url,
            headers=headers,
            body=body,
            client_certificate=self.caller.client_certificate,
            timeout_s=limits.timeout_s,
            idempotent=method in {"GET", "DELETE"} or idempotency_header is not None,
            idempotency_header=idempotency_header,
            max_response_bytes=limits.max_response_bytes,
        )

    def as_client(self, scope: str) -> Flow[TokenSet]:
        """A token for the client itself; kept until it ends."""
        key = f"{_CLIENT}{scope}"
        held = self._held(key)
        if held is not None and not self._ends(held):
            return held
        fresh = yield from client_credentials(self.client, scope=scope)
        records.put(self.store, records.TOKEN, key, fresh.to_bytes())
        return fresh

    def as_owner(self, consent_id: str) -> Flow[TokenSet]:
        """The owner's token under a consent, renewed where it has ended.

        Raises:
            ConsentRequired: There is none, or it cannot be renewed.
            ReauthenticationRequired: The bank's own time for that is over.
        """
        self._check_age(consent_id)
        held = self._held(consent_id)
        if held is None:
            raise ConsentRequired("the account owner has not authorised this consent")
        return (yield from self._renewed(consent_id, held)) if self._ends(held) else held

    def keep(self, consent_id: str, tokens: TokenSet) -> None:
        """Keep the owner's tokens in the place of any before: those must not be used again."""
        records.put(self.store, records.TOKEN, consent_id, tokens.to_bytes())

    def drop(self, consent_id: str) -> None:
        """Forget the owner's tokens of a consent."""
        records.put(self.store, records.TOKEN, consent_id, None)

    def exchange(
        self,
        request: Request,
        *,
        meanings: Meanings,
        good: tuple[int, ...] = (200,),
        consent_id: str | None = None,
        scope: str | None = None,
    ) -> Flow[Response]:
        """Send a request with the owner's token of a consent, or the client's of a scope.

        A caller that has a certificate alone sends it without a token.

        A 401 to the owner's token means that the token or the consent has ended: the token is
        renewed once and the request repeated if it may be; then the answer stands.

        Args:
            request: Without Authorization.
            meanings: See `standards.refusal.refuse`.
            good: Statuses that are no refusal.
            consent_id: Whose token.
            scope: Which token of the client's, where `consent_id` is None.

        Raises:
            BankError: The answer is not good.
            SecurityError: The token does not belong to this client or certificate.
            TransportError: No answer.
        """
        if isinstance(self.caller, CertificateOnly):
            response = yield from fetch(request)
        else:
            response = yield from self._with_token(request, consent_id, scope)
        if response.status not in good:
            unauthorized = AccessDenied if consent_id is None else ConsentRequired
            refuse(
                response,
                request,
                meanings=meanings,
                now_s=self.now_s,
                unauthorized=unauthorized,
            )
        return response

    def lacks(self, operation: Operation, reason: str) -> CapabilityMissing:
        """The refusal of an operation that the standard has not, or not for this consent."""
        return CapabilityMissing(
            operation.value,
            standard=self.profile.standard,
            version=self.profile.version,
            bank=self.profile.name,
            reason=reason,
        )

    def decode(self, response: Response, shape: type[W], resource: str) -> W:
        """Read a body.

        Raises:
            MalformedBody: It is not of that shape.
        """
        return decode(
            response.body,
            shape,
            standard=self.profile.standard,
            resource=resource,
            limit_bytes=self.profile.limits.max_response_bytes,
        )

    def consent(self, consent_id: str) -> ConsentRecord:
        """What we know of a consent.

        Raises:
            ConfigError: It is not in the store.
        """
        record = records.load(self.store, ConsentRecord, consent_id)
        if record is None:
            raise ConfigError(f"the store knows no consent {quoted(consent_id)}")
        return record

    def remember(self, record: ConsentRecord) -> None:
        """Keep a consent that is asked for.

        Raises:
            ConfigError: The store has another one of that id.
        """
        if not records.replace(self.store, None, record):
            raise ConfigError(f"the store has a consent {quoted(record.id)} already")

    def amend(
        self,
        consent_id: str,
        *,
        answer: bytes | None = None,
        authorised_at_s: float | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> ConsentRecord:
        """Change what we know of a consent; what is left out stays."""
        for _ in range(records.MAX_RACES):
            before = self.consent(consent_id)
            after = ConsentRecord(
                id=before.id,
                purpose=before.purpose,
                product=before.product,
                request=before.request,
                answer=before.answer if answer is None else answer,
                created_at_s=before.created_at_s,
                authorised_at_s=(
                    before.authorised_at_s if authorised_at_s is None else authorised_at_s
                ),
                facts={**before.facts, **(facts or {})},
            )
            if records.replace(self.store, before, after):
                return after
        raise records.lost_races(records.CONSENT)

    def await_landing(self, state: str, consent_id: str, *, expires_at_s: float) -> None:
        """Remember which consent a redirect is for; forgets those that came to nothing."""
        for key, octets in self.store.scan(records.LANDING):
            if msgspec.json.decode(octets, type=_Landing).expires_at_s < self.now_s:
                self.store.swap(records.LANDING, key, before=octets, after=None)
        octets = msgspec.json.encode(_Landing(consent_id, expires_at_s))
        records.put(self.store, records.LANDING, state, octets)

    def landed(self, state: str) -> str:
        """The consent of a redirect that came back; it is forgotten.

        Raises:
            StateMismatch: None waits for it.
        """
        octets = self.store.get(records.LANDING, state)
        if octets is None or not self.store.swap(records.LANDING, state, before=octets, after=None):
            raise StateMismatch(
                "no consent waits for this answer", check="state", section="RFC 6749 10.12"
            )
        return msgspec.json.decode(octets, type=_Landing).consent_id

    def _with_token(
        self, request: Request, consent_id: str | None, scope: str | None
    ) -> Flow[Response]:
        if consent_id is not None:
            tokens = yield from self.as_owner(consent_id)
        else:
            tokens = yield from self.as_client(scope or "")
        response = yield from call(self.client, tokens, request)
        if response.status != _UNAUTHORIZED:
            return response
        if consent_id is None:
            # Not used again, even where this request must not be repeated.
            records.put(self.store, records.TOKEN, f"{_CLIENT}{scope or ''}", None)
        if not request.idempotent:
            return response
        renewed = yield from self._after_401(consent_id, scope, tokens)
        return response if renewed is None else (yield from call(self.client, renewed, request))

    def _check_age(self, consent_id: str) -> None:
        record = records.load(self.store, ConsentRecord, consent_id)
        if record is None or record.authorised_at_s is None:
            return
        ends_s = self.profile.consent.reauthenticate_at_s(record.authorised_at_s)
        if ends_s is not None and self.now_s >= ends_s:
            raise ReauthenticationRequired(
                f"this bank asks for a fresh authentication every "
                f"{self.profile.consent.reauthenticate_after_days} days"
            )

    def _held(self, key: str) -> TokenSet | None:
        octets = self.store.get(records.TOKEN, key)
        return None if octets is None else TokenSet.from_bytes(octets)

    def _ends(self, tokens: TokenSet) -> bool:
        if tokens.bound_to != self.client.binding.thumbprint:
            return True  # bound to a certificate or key that we no longer use [RFC 8705 3]
        return tokens.expires_at_s is not None and self.now_s >= tokens.expires_at_s - SPARE_S

    def _renewed(self, consent_id: str, held: TokenSet) -> Flow[TokenSet]:
        if held.refresh_token is None:
            raise ConsentRequired("the access token has ended and cannot be renewed")
        try:
            fresh = yield from refresh(self.client, held)
        except ConsentRequired:
            # Another process may have used the refresh token first; then its tokens are there.
            other = self._held(consent_id)
            if other is not None and other.access_token != held.access_token:
                return other
            raise
        for _ in range(records.MAX_RACES):
            octets = self.store.get(records.TOKEN, consent_id)
            if octets is None:
                raise ConsentRequired("the consent was ended while its token was renewed")
            if TokenSet.from_bytes(octets).access_token != held.access_token:
                return fresh  # somebody renewed it too: both are good
            if self.store.swap(records.TOKEN, consent_id, before=octets, after=fresh.to_bytes()):
                return fresh
        raise records.lost_races(records.TOKEN)

    def _after_401(
        self, consent_id: str | None, scope: str | None, tokens: TokenSet
    ) -> Flow[TokenSet | None]:
        if consent_id is None:
            return (yield from self.as_client(scope or ""))
        if tokens.refresh_token is None:
            return None
        try:
            return (yield from self._renewed(consent_id, tokens))
        except (BankError, TokenInvalid):
            return None  # the bank's 401 stands
