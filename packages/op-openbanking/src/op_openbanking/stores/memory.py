"""A store in the memory of one process, for tests and for what may be forgotten."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from op_openbanking.errors import ConfigError, StoreFailed

from .base import MAX_KEY_CHARS, MAX_VALUE_BYTES


class MemoryStore:
    """Octets in a dict, bounded; safe to use from several threads. Its repr shows no record.

    Args:
        limit: Most records; when full, `swap` refuses further ones: dropping one could be the
            key that keeps a payment from being made twice.
    """

    def __init__(self, *, limit: int = 100_000) -> None:
        if limit < 1:
            raise ConfigError("limit must be at least 1")
        self._limit = limit
        self._lock = threading.Lock()
        self._records: dict[tuple[str, str], bytes] = {}

    def get(self, kind: str, key: str) -> bytes | None:
        with self._lock:
            return self._records.get((kind, key))

    def swap(self, kind: str, key: str, *, before: bytes | None, after: bytes | None) -> bool:
        check_record(key, after)
        with self._lock:
            if self._records.get((kind, key)) != before:
                return False
            if after is None:
                self._records.pop((kind, key), None)
                return True
            if before is None and len(self._records) >= self._limit:
                raise StoreFailed(f"the store is full: {self._limit} records")
            self._records[(kind, key)] = after
            return True

    def scan(self, kind: str) -> Iterator[tuple[str, bytes]]:
        with self._lock:
            found = sorted((key, value) for (of, key), value in self._records.items() if of == kind)
        return iter(found)

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._records)} records)"


def check_record(key: str, value: bytes | None) -> None:
    """Refuse a key or octets beyond the limits of `base`.

    Raises:
        ConfigError: Too long, or an empty key.
    """
    if not 0 < len(key) <= MAX_KEY_CHARS:
        raise ConfigError(f"a record's key has 1 to {MAX_KEY_CHARS} characters")
    if value is not None and len(value) > MAX_VALUE_BYTES:
        raise ConfigError(f"a record has at most {MAX_VALUE_BYTES} bytes")
