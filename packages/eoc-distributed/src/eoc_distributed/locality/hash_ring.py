"""Consistent hashing: a key's workers in an order that a change of the fleet hardly moves.

Each worker has many points on a ring of 2^64; a key belongs to the worker of the next
point. When a worker comes it takes a share of about 1/n from all others, and when it goes
its keys spread over all others; no other key moves.

Source: Karger et al., "Consistent Hashing and Random Trees", STOC 1997.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from hashlib import blake2b

POINTS = 128
"""Points of each worker: shares then differ by about 9 % (one in the square root of it)."""


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


class HashRing:
    """A ring of workers."""

    def __init__(self, worker_ids: Iterable[str] = ()) -> None:
        self._ids: set[str] = set()
        self._points: list[tuple[int, str]] = []
        self.assign(worker_ids)

    def __len__(self) -> int:
        return len(self._ids)

    def assign(self, worker_ids: Iterable[str]) -> None:
        """Make these the workers of the ring."""
        ids = set(worker_ids)
        came, gone = ids - self._ids, self._ids - ids
        if gone:
            self._points = [point for point in self._points if point[1] not in gone]
        if came:
            self._points.extend((_hash(f"{n}|{id_}"), id_) for id_ in came for n in range(POINTS))
            self._points.sort()
        self._ids = ids

    def walk(self, key: str) -> Iterator[str]:
        """Yield all workers, each once: the key's own first, then those that stand in for it."""
        points = self._points
        start = bisect_right(points, (_hash(key), ""))
        seen: set[str] = set()
        for offset in range(len(points)):
            worker_id = points[(start + offset) % len(points)][1]
            if worker_id not in seen:
                seen.add(worker_id)
                yield worker_id
                if len(seen) == len(self._ids):
                    return
