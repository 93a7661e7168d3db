"""Pending authorization requests in the memory of one process."""

from __future__ import annotations

import threading
from collections import OrderedDict

from op_openbanking.errors import ConfigError
from op_openbanking.flow import Clock

from .pending import PendingAuthorization


class MemoryPendingStore:
    """Pending requests in this process, bounded; safe to use from several threads.

    Args:
        clock: Seconds since 1970.
        limit: Most requests kept. When full the oldest goes: its answer will be refused.
    """

    def __init__(self, *, clock: Clock, limit: int = 10_000) -> None:
        if limit < 1:
            raise ConfigError("limit must be at least 1")
        self._clock = clock
        self._limit = limit
        self._lock = threading.Lock()
        self._pending: OrderedDict[str, PendingAuthorization] = OrderedDict()

    def put(self, pending: PendingAuthorization) -> None:
        with self._lock:
            now_s = self._clock()
            while self._pending and next(iter(self._pending.values())).expires_at_s < now_s:
                self._pending.popitem(last=False)
            self._pending[pending.state] = pending
            while len(self._pending) > self._limit:
                self._pending.popitem(last=False)

    def take(self, state: str) -> PendingAuthorization | None:
        with self._lock:
            return self._pending.pop(state, None)

    def __len__(self) -> int:
        return len(self._pending)
