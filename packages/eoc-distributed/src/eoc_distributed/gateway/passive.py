"""Health as seen from requests: workers that fail in a row are left alone for a while.

Two things are counted for each worker: failures to answer at all or to the end, and answers
with a server error. Overload (429, 503) and a client that goes away say nothing about health.
A request speaks against one worker only, or one poisoned prompt that is tried everywhere would
take the fleet out. The time away grows with each return that fails again, and good probes do
not end it: a worker can look well and fail at its work. Only one whose probes failed too, and
pass again, has come back from the dead and is taken at once. The last healthy worker whose
probes pass is not put away: a bad answer is better than none.
Source: Envoy's outlier detection, consecutive_5xx and base_ejection_time.
"""

from __future__ import annotations

from eoc_distributed.cluster import Cluster

MAX_UNREACHABLE = 3
MAX_SERVER_ERRORS = 5
BASE_EJECTION_S = 30.0
MAX_EJECTION_S = 300.0


class _Record:
    __slots__ = (
        "ejections",
        "errors",
        "missed",
        "probe",
        "unreachable",
        "until_s",
        "was_dead",
        "why",
    )

    def __init__(self) -> None:
        self.unreachable = 0
        self.errors = 0
        self.ejections = 0
        self.until_s: float | None = None
        self.why = ""
        self.probe = ""
        self.missed = False
        self.was_dead = False


class Health:
    """Joins what probes and requests say of each worker into one verdict in the cluster.

    Args:
        cluster: Where the verdict goes; its clock counts.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._records: dict[str, _Record] = {}
        self._next_return_s: float | None = None

    def answered(self, worker_id: str) -> None:
        """Note that a request was answered without a server error."""
        record = self._records.get(worker_id)
        if record is not None:
            record.unreachable = record.errors = 0
            if record.until_s is None:
                record.ejections = 0

    def server_error(self, worker_id: str, status: int) -> None:
        """Note that a request was answered with 500, 502 or 504."""
        record = self._record(worker_id)
        record.unreachable = 0
        record.errors += 1
        if record.errors >= MAX_SERVER_ERRORS and self._others_healthy(worker_id):
            self._eject(worker_id, record, f"{record.errors} answers of {status} in a row")

    def unreachable(self, worker_id: str, why: str) -> None:
        """Note that a request got no answer."""
        record = self._record(worker_id)
        record.unreachable += 1
        if record.unreachable >= MAX_UNREACHABLE and (
            record.missed or self._others_healthy(worker_id)
        ):
            self._eject(worker_id, record, why)

    def probe_missed(self, worker_id: str) -> None:
        """Note that one probe has failed: no verdict yet, but it does not look well."""
        self._record(worker_id).missed = True

    def probe_failed(self, worker_id: str, why: str) -> None:
        """Note that enough probes in a row have failed."""
        record = self._record(worker_id)
        record.probe = why
        record.was_dead = True
        self._judge(worker_id, record)

    def probe_passed(self, worker_id: str) -> None:
        """Note that enough probes in a row have passed."""
        record = self._records.get(worker_id)
        if record is None:
            return
        record.probe = ""
        record.missed = False
        if record.was_dead:
            record.was_dead = False
            record.until_s = None
            record.unreachable = 0
        self._judge(worker_id, record)

    def readmit(self) -> None:
        """Let workers back whose time away is over; cheap when there are none."""
        if self._next_return_s is None:
            return
        now_s = self._cluster.clock.now_s()
        if now_s < self._next_return_s:
            return
        later: list[float] = []
        for worker_id, record in tuple(self._records.items()):
            if worker_id not in self._cluster:
                del self._records[worker_id]
            elif record.until_s is not None:
                if record.until_s <= now_s:
                    record.until_s = None
                    # One more failure sends it away again, for longer.
                    record.unreachable = MAX_UNREACHABLE - 1
                    record.errors = MAX_SERVER_ERRORS - 1
                    self._judge(worker_id, record)
                else:
                    later.append(record.until_s)
        self._next_return_s = min(later) if later else None

    def _record(self, worker_id: str) -> _Record:
        return self._records.setdefault(worker_id, _Record())

    def _others_healthy(self, worker_id: str) -> bool:
        return any(member.healthy and member.id != worker_id for member in self._cluster)

    def _eject(self, worker_id: str, record: _Record, why: str) -> None:
        if record.until_s is not None:
            return
        record.ejections += 1
        away_s = min(BASE_EJECTION_S * record.ejections, MAX_EJECTION_S)
        record.until_s = self._cluster.clock.now_s() + away_s
        record.why = why
        if self._next_return_s is None or record.until_s < self._next_return_s:
            self._next_return_s = record.until_s
        self._judge(worker_id, record)

    def _judge(self, worker_id: str, record: _Record) -> None:
        if worker_id in self._cluster:
            away = record.why if record.until_s is not None else ""
            why = record.probe or away
            self._cluster.set_health(worker_id, healthy=not why, reason=why)
