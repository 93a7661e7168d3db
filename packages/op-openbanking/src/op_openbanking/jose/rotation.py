"""When to fetch a JWKS again, and when not to.

A `KeyRing` holds the keys of one issuer and decides. It fetches nothing: where it needs a document
it says so with `FetchKeys`, and is handed the answer. The clock is handed in (seconds of any
monotonic or wall clock, always the same one).

Rules:
  no keys yet, or keys past their age   fetch, then decide
  kid is in the set                     use it, no fetch
  kid is not in the set                 one fetch, then none for `cooldown_s`: forged kids must not
                                        flood the issuer
  after a failed fetch                  none for `retry_s`
  after a fetch the kid is still absent refuse; another key never stands in

The age comes from Cache-Control where the issuer sends it, between `cooldown_s` and `max_age_s`.

Source: OpenID Connect Core 10.1.1 (rotation), RFC 7517 section 5; limits are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from op_openbanking.errors import ConfigError, KeyNotFound, TransportError

from .jwk import JWKSet
from .jws import peek

MIN_COOLDOWN_S: Final = 30.0
DEFAULT_COOLDOWN_S: Final = 300.0
DEFAULT_MAX_AGE_S: Final = 3600.0
DEFAULT_RETRY_S: Final = 5.0

_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_NO_STORE = re.compile(r"(?:^|[,\s])no-(?:store|cache)(?:[,\s]|$)", re.IGNORECASE)


class FetchReason(StrEnum):
    """Why a document is needed."""

    FIRST = "first"
    EXPIRED = "expired"
    UNKNOWN_KID = "unknown-kid"


@dataclass(frozen=True, slots=True)
class FetchKeys:
    """Ask the caller to fetch a JWKS document with GET.

    Attributes:
        uri: Where.
        reason: Why, for logs.
    """

    uri: str
    reason: FetchReason


@dataclass(frozen=True, slots=True)
class FetchedKeys:
    """A document that was fetched.

    Attributes:
        document: The body of a 200 answer.
        cache_control: Its Cache-Control header, or None.
    """

    document: bytes = field(repr=False)
    cache_control: str | None = None


class KeyRing:
    """The keys of one issuer over time.

    Args:
        uri: `jwks_uri` of the issuer.
        cooldown_s: Shortest time between two fetches for unknown kids; at least 30.
        max_age_s: Longest time that a document is used without fetching it again.
        retry_s: Shortest time after a failed fetch.
    """

    def __init__(
        self,
        uri: str,
        *,
        cooldown_s: float = DEFAULT_COOLDOWN_S,
        max_age_s: float = DEFAULT_MAX_AGE_S,
        retry_s: float = DEFAULT_RETRY_S,
    ) -> None:
        if not MIN_COOLDOWN_S <= cooldown_s <= max_age_s or retry_s < 0:
            raise ConfigError(
                f"cooldown_s must be between {MIN_COOLDOWN_S:g} and max_age_s, retry_s at least 0"
            )
        self.uri = uri
        self._cooldown_s = cooldown_s
        self._max_age_s = max_age_s
        self._retry_s = retry_s
        self._keys: JWKSet | None = None
        self._expires_s = 0.0
        self._stored_s = 0.0
        self._asked_s: float | None = None
        self._failed_s: float | None = None

    @property
    def keys(self) -> JWKSet | None:
        """The document last stored, whatever its age."""
        return self._keys

    def decide(self, *, alg: str, kid: str | None, now_s: float) -> JWKSet | FetchKeys:
        """The keys to verify a message with, or what to fetch first.

        Args:
            alg: Algorithm of the message, already checked against what is accepted.
            kid: Its kid, or None.
            now_s: The time.

        Raises:
            KeyNotFound: The kid is absent and the cool-down has not passed, or its key cannot
                serve.
            TransportError: No usable keys, and the last fetch failed less than `retry_s` ago.
        """
        if self._keys is None or now_s >= self._expires_s:
            self._refuse_after_failure(now_s)
            reason = FetchReason.FIRST if self._keys is None else FetchReason.EXPIRED
            return FetchKeys(self.uri, reason)
        try:
            self._keys.fitting(alg, kid)
        except KeyNotFound:
            if (kid is not None and self._keys.has_kid(kid)) or self._asked_recently(now_s):
                raise
            self._refuse_after_failure(now_s)
            self._asked_s = now_s  # from here on: a second forged kid waits, even while we fetch
            return FetchKeys(self.uri, FetchReason.UNKNOWN_KID)
        return self._keys

    def store(self, fetched: FetchedKeys, *, now_s: float) -> None:
        """Take a fetched document; the former one is dropped, with the keys it alone had.

        Raises:
            ProtocolViolation: Not a JWKS. The former document stays, and the failure counts.
        """
        self._failed_s = now_s
        self._keys = JWKSet.parse(fetched.document)
        self._failed_s = None
        self._stored_s = now_s
        age_s = age_from(fetched.cache_control, default_s=self._max_age_s)
        self._expires_s = now_s + min(max(age_s, self._cooldown_s), self._max_age_s)

    def fetch_failed(self, *, now_s: float) -> None:
        """Note that a fetch failed."""
        self._failed_s = now_s

    def _asked_recently(self, now_s: float) -> bool:
        if now_s < self._stored_s + self._retry_s:
            return True  # the document is as good as fresh
        return self._asked_s is not None and now_s < self._asked_s + self._cooldown_s

    def _refuse_after_failure(self, now_s: float) -> None:
        if self._failed_s is not None and now_s < self._failed_s + self._retry_s:
            wait_s = self._failed_s + self._retry_s - now_s
            raise TransportError(
                f"the last fetch of the keys failed; next try in {wait_s:.0f} s",
                retry_after_s=wait_s,
            )


def find_keys(
    ring: KeyRing, token: str | bytes, *, clock: Callable[[], float]
) -> Generator[FetchKeys, FetchedKeys, JWKSet]:
    """Find the keys to verify a compact or detached JWS with, as a flow.

    Yields:
        FetchKeys, at most twice: fetch the document and send `FetchedKeys`, or throw a
        `TransportError` into the flow.

    Returns:
        The set to hand to a verify function; it still selects by kid and algorithm.

    Raises:
        SignatureInvalid: The token has no readable header.
        KeyNotFound: See `KeyRing.decide`.
        TransportError: What was thrown in, or a fetch failed shortly before.
        ProtocolViolation: The document is no JWKS.
    """
    header, _ = peek(token)
    alg, kid = header.get("alg"), header.get("kid")
    while True:
        decision = ring.decide(
            alg=alg if isinstance(alg, str) else "",
            kid=kid if isinstance(kid, str) else None,
            now_s=clock(),
        )
        if isinstance(decision, JWKSet):
            return decision
        try:
            fetched = yield decision
        except TransportError:
            ring.fetch_failed(now_s=clock())
            raise
        ring.store(fetched, now_s=clock())


def age_from(cache_control: str | None, *, default_s: float) -> float:
    """Seconds that a Cache-Control header allows; 0 for no-store and no-cache."""
    if cache_control is None:
        return default_s
    if _NO_STORE.search(cache_control):
        return 0.0
    found = _MAX_AGE.search(cache_control)
    return float(found[1]) if found else default_s
