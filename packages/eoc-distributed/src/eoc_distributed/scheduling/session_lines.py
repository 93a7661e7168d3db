"""The waiting requests of each session, which start in the order of their arrival."""

from __future__ import annotations

from .queued import Constraints, QueuedRequest

Session = tuple[str, str, str, Constraints]
"""Tenant, session, model, constraints: what may always wait for the same worker."""


class SessionLines:
    """Lines of waiting requests; those without a session are in none."""

    def __init__(self) -> None:
        self._lines: dict[Session, dict[QueuedRequest, None]] = {}

    def first(self, queued: QueuedRequest) -> QueuedRequest | None:
        """Return the oldest waiting request of its session; None if there is none."""
        key = session_of(queued)
        line = self._lines.get(key) if key is not None else None
        return next(iter(line)) if line else None

    def last(self, queued: QueuedRequest) -> QueuedRequest | None:
        """Return the newest waiting request of its session; None if there is none."""
        key = session_of(queued)
        line = self._lines.get(key) if key is not None else None
        return next(reversed(line)) if line else None

    def may_leave(self, queued: QueuedRequest) -> bool:
        """Return whether no older request of its session waits."""
        first = self.first(queued)
        return first is None or first is queued

    def add(self, queued: QueuedRequest, *, front: bool) -> None:
        """Put a request at the end, or the front, of its session's line."""
        key = session_of(queued)
        if key is None:
            return
        if front:
            self._lines[key] = {queued: None, **self._lines.get(key, {})}
        else:
            self._lines.setdefault(key, {})[queued] = None

    def remove(self, queued: QueuedRequest) -> None:
        """Take a request out of its session's line."""
        key = session_of(queued)
        if key is None:
            return
        line = self._lines[key]
        del line[queued]
        if not line:
            del self._lines[key]


def session_of(queued: QueuedRequest) -> Session | None:
    """Return what ties a request to others; None if nothing does."""
    request = queued.request
    if request.session is None:
        return None
    return (queued.tenant, request.session, request.model, queued.constraints)
