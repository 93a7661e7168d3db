"""What was resolved of late: fresh, stale, expired, or known not to be there.

Source: reference section 10.4.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from smart_byte_atproto.errors import ATProtoError

T = TypeVar("T")


class Age(Enum):
    """How far an entry may be trusted."""

    FRESH = "fresh"
    """It is used."""
    STALE = "stale"
    """It is used where nothing newer can be had."""
    EXPIRED = "expired"
    """It is not used, or not there."""


@dataclass(frozen=True, slots=True)
class Cached(Generic[T]):
    """What is known of a key.

    Attributes:
        age: How far it may be trusted.
        value: What was resolved; None for a failure, or where nothing is known.
        failure: Why it could not be resolved.
    """

    age: Age
    value: T | None = None
    failure: ATProtoError | None = None


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """Times and sizes.

    Attributes:
        stale_s: When an entry is asked for anew.
        expired_s: When it is of no use at all.
        failed_s: How long a failure that is final is believed.
        entries: Most entries; the one unused the longest goes first.
    """

    stale_s: float = 3600.0
    expired_s: float = 86_400.0
    failed_s: float = 300.0
    entries: int = 100_000


class Cache(Generic[T]):
    """Entries by key. Not for several threads without a lock."""

    def __init__(self, limits: CacheLimits | None = None) -> None:
        self.limits = limits if limits is not None else CacheLimits()
        self._entries: OrderedDict[str, tuple[float, T | None, ATProtoError | None]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str, *, now_s: float) -> Cached[T]:
        """Return what is known of a key."""
        entry = self._entries.get(key)
        if entry is None:
            return Cached(Age.EXPIRED)
        since_s, value, failure = entry
        age_s = now_s - since_s
        if failure is not None:
            fresh = age_s < self.limits.failed_s
            return Cached(Age.FRESH, None, failure) if fresh else Cached(Age.EXPIRED)
        if age_s >= self.limits.expired_s:
            return Cached(Age.EXPIRED)
        self._entries.move_to_end(key)
        return Cached(Age.FRESH if age_s < self.limits.stale_s else Age.STALE, value)

    def put(self, key: str, value: T, *, now_s: float) -> None:
        """Keep what was resolved."""
        self._keep(key, (now_s, value, None))

    def put_failure(self, key: str, failure: ATProtoError, *, now_s: float) -> None:
        """Keep a failure, if trying again would change nothing."""
        if not failure.retryable:
            self._keep(key, (now_s, None, failure))

    def purge(self, key: str) -> None:
        """Forget a key."""
        self._entries.pop(key, None)

    def _keep(self, key: str, entry: tuple[float, T | None, ATProtoError | None]) -> None:
        self._entries[key] = entry
        self._entries.move_to_end(key)
        while len(self._entries) > self.limits.entries:
            self._entries.popitem(last=False)
