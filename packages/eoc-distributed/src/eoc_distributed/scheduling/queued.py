"""A request in the scheduler: one handle from submission to end, whoever serves it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from eoc_distributed.cluster import Ticket
from eoc_distributed.member import Member
from eoc_distributed.request import Request
from eoc_distributed.worker import Accelerator


class Status(Enum):
    """Where a request stands."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    """Cancelled before it ran."""
    EXPIRED = "expired"
    """Its deadline passed before it ran."""
    SHED = "shed"
    """Given up for a more urgent one, as the queue was full."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """Where a request may run, beside on a worker of its model.

    Attributes:
        zones: Electricity zones; None for any.
        accelerators: Kinds of hardware; None for any.
        worker_id: The only worker that may serve it, as it holds state; None for any.

    Raises:
        TypeError: A collection is a single string.
    """

    zones: Collection[str] | None = None
    accelerators: Collection[Accelerator] | None = None
    worker_id: str | None = None

    def __post_init__(self) -> None:
        for name in ("zones", "accelerators"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise TypeError(f"{name} is a collection, not one string: {value!r}")
            if value is not None:
                object.__setattr__(self, name, frozenset(value))

    def allow(self, member: Member) -> bool:
        """Return whether a worker satisfies them."""
        capability = member.capability
        return (
            (self.zones is None or capability.zone in self.zones)
            and (self.accelerators is None or capability.accelerator in self.accelerators)
            and (self.worker_id is None or self.worker_id == member.id)
        )


ANYWHERE = Constraints()


class QueuedRequest:
    """A request's handle; the scheduler writes it, others read it.

    Attributes:
        request: What is asked.
        tenant: Whose share of the fleet it uses.
        priority: Lower is served earlier, as in vLLM.
        deadline_s: Time after which it need not start, on the scheduler's time line.
        constraints: Where it may run.
        number: Its place in the order of arrival; unique.
        submitted_s: When it came.
        started_s: When it was given to a worker last; None before.
        worker_id: In whose queue it is, or who serves it; empty while it waits and no
            worker may serve it.
        stolen_from: From whose queue it was taken by another worker; None if it was not.
        attempts: How often it was given to a worker.
        ticket: Its count on the worker; the scheduler ends it.
        status: Where it stands.
    """

    __slots__ = (
        "attempts",
        "constraints",
        "deadline_s",
        "number",
        "priority",
        "request",
        "started_s",
        "status",
        "stolen_from",
        "submitted_s",
        "tenant",
        "ticket",
        "worker_id",
    )

    def __init__(
        self,
        request: Request,
        *,
        tenant: str,
        priority: int,
        deadline_s: float | None,
        constraints: Constraints,
        submitted_s: float,
    ) -> None:
        self.request = request
        self.tenant = tenant
        self.priority = priority
        self.deadline_s = deadline_s
        self.constraints = constraints
        self.submitted_s = submitted_s
        self.number = 0
        self.started_s: float | None = None
        self.worker_id = ""
        self.stolen_from: str | None = None
        self.attempts = 0
        self.ticket: Ticket | None = None
        self.status = Status.WAITING

    def may_run_on(self, member: Member) -> bool:
        """Return whether a worker serves its model and satisfies its constraints."""
        return self.request.model in member.models and self.constraints.allow(member)


@dataclass(frozen=True, slots=True)
class Round:
    """What one call of `dispatch` did.

    Attributes:
        started: Requests given to their `worker_id`, in order; the caller sends them.
        expired: Requests whose deadline has passed; the caller refuses them.
        shed: Requests given up for more urgent ones; likewise.

    What expired or was shed since the call before is told as well.
    """

    started: tuple[QueuedRequest, ...]
    expired: tuple[QueuedRequest, ...]
    shed: tuple[QueuedRequest, ...]
