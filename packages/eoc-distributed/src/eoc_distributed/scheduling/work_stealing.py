"""Work stealing: a short queue for each worker, and idle workers that help the longest.

A request is put into the queue of the worker that the router chooses, or, if all are full,
of the one with the shortest predicted wait. It is given to its worker only when that has a
free slot: what waits in the engine's own queue can be neither stolen, reordered nor
shed. A worker with a free slot and nothing of its own takes from the queue with the longest
predicted wait: at most half of it, from the tail, as the head is about to start where its
cache is; and only what gains more time than the move costs. What is stolen starts at once.

Who is next: the most urgent class, in it the tenant that was served least, of that the
oldest request. A thief takes that tenant's newest instead. The requests of one session (of
one tenant, for one model, under the same constraints) wait in one queue and start in the
order of their arrival: a thief leaves a request alone while an older one of its session
waits, and none is more urgent than the one before.

The queue of a worker that is ill, drains or is gone moves to the front of others' queues in
the order of arrival; a request that no worker may serve any more waits until one may.

Source: "Scheduling Multithreaded Computations by Work Stealing", Blumofe and Leiserson,
1999, for stealing by the idle; half of the victim's queue as in Tokio.
"""

from __future__ import annotations

from functools import partial
from random import Random

from eoc_distributed.cluster import Cluster
from eoc_distributed.errors import NoWorkerAvailable, QueueFull, WaitTooLong
from eoc_distributed.member import Member
from eoc_distributed.request import Request
from eoc_distributed.routing.base import Router

from .fairness import TokenCounters
from .placement import NOBODY, Placement
from .policy import MoveCost, StealingPolicy
from .queued import ANYWHERE, Constraints, QueuedRequest, Round, Status
from .session_lines import Session, SessionLines, session_of
from .worker_queue import WorkerQueue

_LEARNING = 0.1
"""Weight of the newest completion in the average time of service."""
_SLACK = 64
"""Queues of workers that are gone, kept at most beside one for each worker."""
_MIN_RETRY_AFTER_S = 1.0
"""Least wait that a refused caller is told: the header counts whole seconds."""


class WorkStealingScheduler:
    """Queues in front of the workers of one cluster. Not for several threads.

    Args:
        cluster: The workers; requests that run are counted on them by tickets.
        router: Chooses the queue of a request while some worker has a free slot.
        policy: Limits.
        move_cost: What moving a request costs; nothing if None.
        counters: Fairness among tenants; equal weights if None.
        rng: Where no worker has a free slot and there are many, a random few are compared
            instead of all; None to compare all.
    """

    def __init__(
        self,
        cluster: Cluster,
        router: Router,
        *,
        policy: StealingPolicy | None = None,
        move_cost: MoveCost | None = None,
        counters: TokenCounters | None = None,
        rng: Random | None = None,
    ) -> None:
        self.policy = policy if policy is not None else StealingPolicy()
        self.waiting = 0
        """Requests that wait."""
        self.running = 0
        """Requests that were started and have not finished."""
        self.stolen = 0
        """Requests that started on another worker than the one they waited for; counts up."""
        self._cluster = cluster
        self._move_cost = move_cost
        self._counters = counters if counters is not None else TokenCounters()
        self._arrivals = 0
        self._seen = -1
        self._placement = Placement(cluster, router, self.policy, rng)
        self._busy: dict[str, WorkerQueue] = {}
        self._wake: dict[str, None] = {}
        self._idle: dict[str, None] = {}
        self._abandoned: dict[str, None] = {}
        self._members: dict[str, Member] = {}
        self._lines = SessionLines()
        self._started: list[QueuedRequest] = []
        self._expired: list[QueuedRequest] = []
        self._shed: list[QueuedRequest] = []

    def submit(
        self,
        request: Request,
        *,
        now_s: float,
        tenant: str = "",
        priority: int = 0,
        deadline_s: float | None = None,
        constraints: Constraints = ANYWHERE,
    ) -> QueuedRequest:
        """Put a request into a queue; `dispatch` starts it.

        Raises:
            UnknownModel: No worker serves the model.
            NoWorkerAvailable: None that may serve it is well.
            QueueFull: No queue has room, and nothing that waits is less urgent.
            WaitTooLong: It would wait beyond its deadline.
        """
        queued = QueuedRequest(
            request,
            tenant=tenant,
            priority=priority,
            deadline_s=deadline_s,
            constraints=constraints,
            submitted_s=now_s,
        )
        before = self._lines.last(queued)
        if before is not None:
            queued.priority = max(priority, before.priority)
            queues = [self._placement.queues[before.worker_id]]
        else:
            may_wait = self.waiting < self.policy.total_limit
            queues = self._placement.places(queued, may_wait=may_wait)
        queue = self._with_room(queues, now_s)
        wait_s = self._placement.wait_s(queue or queues[0], behind_all=True)
        if deadline_s is not None and now_s + wait_s > deadline_s:
            raise WaitTooLong(
                "a deadline",
                limit=self.waiting,
                predicted_wait_s=wait_s,
                retry_after_s=self._retry_after_s(wait_s),
            )
        if queue is None:
            queue = self._shed_for(queued, queues)
        self._arrivals += 1
        queued.number = self._arrivals
        self._enqueue(queue, queued)
        return queued

    def cancel(self, queued: QueuedRequest) -> bool:
        """Drop a request that waits; its place in the queue is skipped when met.

        Returns False for one that runs, which the caller ends at its worker before it calls
        `finish`, and for one that has ended.
        """
        if queued.status is not Status.WAITING:
            return False
        self._stop_waiting(queued, Status.CANCELLED)
        return True

    def finish(self, queued: QueuedRequest, *, now_s: float, answer_tokens: int = 0) -> None:
        """Say that a request that ran has ended, in whatever way; later calls change nothing."""
        if queued.status is not Status.RUNNING:
            return
        queued.status = Status.FINISHED
        self._release(queued)
        self._counters.charge(queued.tenant, answer_tokens=answer_tokens)
        queue = self._placement.queues.get(queued.worker_id)
        if queue is not None and queued.started_s is not None:
            queue.service_s += _LEARNING * (now_s - queued.started_s - queue.service_s)

    def give_back(self, queued: QueuedRequest) -> None:
        """Let a request that ran wait again, before all others: its worker has failed.

        Only for one of whose answer the client has seen nothing. It keeps its handle, and
        no limit refuses it.

        Raises:
            NoWorkerAvailable: No worker that may serve it is well; it has ended.
        """
        if queued.status is not Status.RUNNING:
            return
        queued.status = Status.FINISHED
        self._release(queued)
        after = self._lines.first(queued)
        if after is not None:
            queued.priority = min(queued.priority, after.priority)
            queue = self._placement.queues[after.worker_id]
        else:
            queue = min(self._placement.well(queued), key=self._placement.wait_s)
        queued.status = Status.WAITING
        self._enqueue(queue, queued, front=True)

    def dispatch(self, now_s: float) -> Round:
        """Start what can start; call it after submissions, completions and changes."""
        self._take_changes()
        for worker_id in self._abandoned.copy():
            self._rehome(worker_id)
        wake, self._wake = self._wake, {}
        for worker_id in wake:
            self._serve_own(worker_id, now_s)
        if self._busy:
            for worker_id in list(self._idle):
                self._steal(worker_id, now_s)
        done = Round(tuple(self._started), tuple(self._expired), tuple(self._shed))
        self._started, self._expired, self._shed = [], [], []
        return done

    def queue_length(self, worker_id: str) -> int:
        """Return the requests that wait for a worker."""
        queue = self._placement.queues.get(worker_id)
        return queue.live if queue is not None else 0

    # Placing

    def _with_room(self, queues: list[WorkerQueue], now_s: float) -> WorkerQueue | None:
        """Return the first queue with room, dropping what has expired if there is none."""
        policy = self.policy
        for attempt in (1, 2):
            if self.waiting < policy.total_limit:
                for queue in queues:
                    if queue.live < policy.worker_limit:
                        return queue
            if attempt == 1:
                for queue in queues:
                    for queued in queue.waiting():
                        if _is_late(queued, now_s):
                            self._stop_waiting(queued, Status.EXPIRED)
                            self._expired.append(queued)
        return None

    def _shed_for(self, queued: QueuedRequest, queues: list[WorkerQueue]) -> WorkerQueue:
        """Give up the least urgent waiting request of these queues; return whose it was.

        Raises:
            QueueFull: None is less urgent.
        """
        waiting = [last for queue in queues if (last := queue.least_urgent()) is not None]
        worst = max(waiting, key=lambda last: (last.priority, last.number), default=None)
        if worst is None or worst.priority <= queued.priority:
            policy = self.policy
            raise QueueFull(
                "the queue",
                limit=min(policy.worker_limit * len(queues), policy.total_limit),
                retry_after_s=self._retry_after_s(min(map(self._placement.wait_s, queues))),
            )
        self._stop_waiting(worst, Status.SHED)
        self._shed.append(worst)
        return self._placement.queues[worst.worker_id]

    def _retry_after_s(self, wait_s: float) -> float:
        return min(max(wait_s, _MIN_RETRY_AFTER_S), self.policy.max_retry_after_s)

    # Starting

    def _take_changes(self) -> None:
        cluster = self._cluster
        if cluster.changes == self._seen:
            return
        for member in cluster.newest_first():
            if member.version <= self._seen:
                break
            known = self._members.get(member.id, member)
            self._members[member.id] = member
            if member.healthy and not member.draining:
                self._wake[member.id] = None
                if known is member:
                    continue
            else:
                self._idle.pop(member.id, None)
            if member.id in self._busy:
                # It cannot serve, or is another worker under the same name.
                self._abandoned[member.id] = None
        for worker_id in self._busy:
            if worker_id not in cluster:
                self._abandoned[worker_id] = None
        if len(self._placement.queues) > 2 * len(cluster) + _SLACK:
            keep = self._busy.keys() | {member.id for member in cluster}
            self._placement.queues = {
                id_: queue for id_, queue in self._placement.queues.items() if id_ in keep
            }
            self._members = {member.id: member for member in cluster}
            self._idle = {id_: None for id_ in self._idle if id_ in cluster}
        self._seen = cluster.changes

    def _rehome(self, worker_id: str) -> None:
        """Move what waits for a worker that cannot serve to the front of others' queues."""
        self._abandoned.pop(worker_id, None)
        self._busy.pop(worker_id, None)
        moved: dict[str, list[QueuedRequest]] = {}
        homes: dict[Session, WorkerQueue] = {}
        for queued in self._placement.queues[worker_id].take_all():
            session = session_of(queued)
            queue = homes.get(session) if session is not None else None
            if queue is None:
                try:
                    queue = min(self._placement.well(queued), key=self._placement.wait_s)
                except NoWorkerAvailable:
                    queue = self._placement.queue(NOBODY)
            if session is not None:
                homes[session] = queue
            queued.worker_id = queue.worker_id
            moved.setdefault(queue.worker_id, []).append(queued)
        for home_id, several in moved.items():
            queue = self._busy[home_id] = self._placement.queues[home_id]
            queue.push_front(several)
            self._idle.pop(home_id, None)
            self._wake[home_id] = None

    def _serve_own(self, worker_id: str, now_s: float) -> None:
        """Start what waits for a worker while it has free slots."""
        member = self._placement.member(worker_id)
        if member is None:
            return
        queue = self._placement.queue(worker_id)
        while member.eligible():
            queued = queue.take_first(self._counters)
            if queued is None:
                break
            self._start(queued, member, now_s)
        self._settle(queue, member)

    def _steal(self, thief_id: str, now_s: float) -> None:
        """Let an idle worker take from others, those with the longest wait first."""
        thief = self._placement.member(thief_id)
        if thief is None:
            del self._idle[thief_id]
            return
        waits = [
            (self._placement.wait_s(queue, behind_all=False), worker_id)
            for worker_id, queue in self._busy.items()
            if worker_id not in {thief_id, NOBODY}
        ]
        waits.sort(key=lambda wait: (-wait[0], wait[1]))
        for _, victim_id in waits:
            if not thief.eligible():
                break
            self._take_from(self._busy[victim_id], thief, now_s)
        self._settle(self._placement.queue(thief_id), thief)

    def _take_from(self, queue: WorkerQueue, thief: Member, now_s: float) -> None:
        """Start up to half of another's queue on an idle worker."""
        for _ in range((queue.live + 1) // 2):
            wait_s = self._placement.wait_s(queue, behind_all=False)
            fits = partial(self._worth_moving, queue.worker_id, thief, wait_s)
            queued = queue.take_last(self._counters, fits) if thief.eligible() else None
            if queued is None:
                break
            if self._start(queued, thief, now_s):
                self.stolen += 1
                queued.stolen_from, queued.worker_id = queue.worker_id, thief.id
        if not queue.live:
            del self._busy[queue.worker_id]

    def _worth_moving(
        self, victim_id: str, thief: Member, wait_s: float, queued: QueuedRequest
    ) -> bool:
        if not queued.may_run_on(thief) or not self._lines.may_leave(queued):
            return False
        if queued.stolen_from is not None:
            return False
        cost = self._move_cost
        cost_s = cost.cost_s(queued, victim_id=victim_id, thief=thief) if cost is not None else 0.0
        return wait_s - cost_s > self.policy.min_gain_s

    def _start(self, queued: QueuedRequest, member: Member, now_s: float) -> bool:
        """Start a request taken from a queue; False if its deadline has passed."""
        self._forget_waiting(queued)
        if _is_late(queued, now_s):
            queued.status = Status.EXPIRED
            self._expired.append(queued)
            return False
        queued.status = Status.RUNNING
        queued.started_s = now_s
        queued.attempts += 1
        tokens = queued.request.prompt_tokens
        queued.ticket = self._cluster.begin(member.id, tokens=tokens)
        self.running += 1
        self._counters.charge(queued.tenant, prompt_tokens=tokens)
        self._started.append(queued)
        return True

    # Bookkeeping

    def _enqueue(self, queue: WorkerQueue, queued: QueuedRequest, *, front: bool = False) -> None:
        queued.worker_id = queue.worker_id
        self._lines.add(queued, front=front)
        member = self._placement.member(queue.worker_id)
        if member is not None:
            self._members.setdefault(queue.worker_id, member)
        if front:
            queue.push_front([queued])
        else:
            queue.push(queued)
        self._busy[queue.worker_id] = queue
        self._wake[queue.worker_id] = None
        self._idle.pop(queue.worker_id, None)
        self.waiting += 1
        self._counters.arrive(queued.tenant)

    def _stop_waiting(self, queued: QueuedRequest, status: Status) -> None:
        """End a request that is still in a queue."""
        self._forget_waiting(queued)
        queued.status = status
        queue = self._placement.queues[queued.worker_id]
        queue.discard()
        if not queue.live:
            self._busy.pop(queued.worker_id, None)
            self._abandoned.pop(queued.worker_id, None)
            self._wake[queued.worker_id] = None

    def _forget_waiting(self, queued: QueuedRequest) -> None:
        self.waiting -= 1
        self._counters.leave(queued.tenant)
        self._lines.remove(queued)

    def _release(self, queued: QueuedRequest) -> None:
        self.running -= 1
        if queued.ticket is not None:
            queued.ticket.end()
            queued.ticket = None

    def _settle(self, queue: WorkerQueue, member: Member) -> None:
        """Note whether a worker has something waiting, or could help others."""
        worker_id = member.id
        if queue.live:
            self._busy[worker_id] = queue
            self._idle.pop(worker_id, None)
            return
        self._busy.pop(worker_id, None)
        if member.eligible():
            self._idle[worker_id] = None
        else:
            self._idle.pop(worker_id, None)


def _is_late(queued: QueuedRequest, now_s: float) -> bool:
    return queued.deadline_s is not None and now_s > queued.deadline_s
