"""Requests in flight of the workers that serve one model, kept up to date by what changed."""

from __future__ import annotations

import math

from eoc_distributed.cluster import Cluster
from eoc_distributed.member import Member

from .hash_ring import HashRing


class FleetView:
    """The workers of one model.

    Attributes:
        members: Those that serve the model, by id.
        usable: How many of them are healthy and not draining.
        total: Requests in flight on the usable ones.
        ring: All of them, whether usable or not: a worker that is ill for a while finds
            its keys again.
        stale: Whether the fleet has changed in a way that needs `rebuild`.
    """

    __slots__ = ("_counted", "members", "ring", "stale", "total", "usable")

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.usable = 0
        self.total = 0
        self.ring = HashRing()
        self.stale = True
        self._counted: dict[str, int] = {}

    def rebuild(self, cluster: Cluster, model: str) -> None:
        """Take the fleet as it is."""
        self.members = {member.id: member for member in cluster.serving(model)}
        self.ring.assign(self.members)
        self._counted = {id_: _count(member) for id_, member in self.members.items()}
        counts = [count for count in self._counted.values() if count != _UNUSABLE]
        self.usable, self.total = len(counts), sum(counts)
        self.stale = False

    def note(self, member: Member) -> None:
        """Take a change of one member."""
        if self.members.get(member.id) is not member:
            self.stale = True
            return
        before, after = self._counted[member.id], _count(member)
        self._counted[member.id] = after
        self.usable += (after != _UNUSABLE) - (before != _UNUSABLE)
        self.total += max(after, 0) - max(before, 0)

    def bound(self, factor: float) -> int:
        """Return the most requests that a worker may have to be given one by stickiness.

        ceil(factor x (requests in flight + 1) / usable workers).
        Source: Mirrokni, Thorup, Zadimoghaddam, "Consistent Hashing with Bounded Loads",
        SODA 2018.
        """
        return math.ceil(factor * (self.total + 1) / max(1, self.usable))

    def in_flight(self, worker_id: str) -> int:
        """Return a usable worker's requests in flight."""
        return self._counted[worker_id]

    def takes(self, worker_id: str, bound: int) -> Member | None:
        """Return the worker if it may be given one more request within the bound."""
        member = self.members.get(worker_id)
        if member is None or not member.eligible():
            return None
        return member if self._counted[worker_id] < bound else None


_UNUSABLE = -1


def _count(member: Member) -> int:
    if not member.healthy or member.draining:
        return _UNUSABLE
    return max(member.in_flight, member.reported.in_flight)
