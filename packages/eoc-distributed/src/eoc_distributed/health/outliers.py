"""Passive outlier ejection: workers whose answers are worse than the others' sit out.

A worker is ejected after failures in a row, for a success rate far below the fleet's, or
for failing nearly always. It sits out `base_ejection_s` times the number of its ejections,
at most `max_ejection_s`; for each `forgive_s` without an ejection one is forgotten. Never
more than a share of the fleet is ejected, but always one may be. `in_panic` says when so
few are well that health is better ignored: the rest would only be crushed one by one.

Source: Envoy's outlier detection and panic threshold, whose figures are the defaults;
`forgive_s` is ours. Envoy forgets an ejection every `interval_s`, after which a worker that
flaps once a minute never sits out longer than the first time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .outcome import Outcome


@dataclass(frozen=True, slots=True)
class OutlierPolicy:
    """Parameters of the detector.

    Attributes:
        failures_in_row: Failures in a row that eject, at least 1.
        interval_s: Time between two comparisons of success rates, s.
        base_ejection_s: Length of a first ejection, s.
        max_ejection_s: Length of an ejection at most, s.
        forgive_s: Time without ejection after which one is forgotten, s.
        max_ejected_share: Share of the fleet ejected at a time, above 0 to 1.
        min_workers: Workers of enough volume for which rates are compared.
        rate_volume: Answers in an interval for a worker's success rate to be compared.
        rate_stdevs: Standard deviations below the mean rate that eject.
        failure_share: Share of failures in an interval that ejects in any case.
        failure_volume: Answers in an interval for that share to be taken.
        panic_share: Share of well workers below which health is ignored, 0 to 1.

    Raises:
        ValueError: A parameter is out of its range.
    """

    failures_in_row: int = 5
    interval_s: float = 10.0
    base_ejection_s: float = 30.0
    max_ejection_s: float = 300.0
    forgive_s: float = 300.0
    max_ejected_share: float = 0.1
    min_workers: int = 5
    rate_volume: int = 100
    rate_stdevs: float = 1.9
    failure_share: float = 0.85
    failure_volume: int = 50
    panic_share: float = 0.5

    def __post_init__(self) -> None:
        times = (self.interval_s, self.base_ejection_s, self.forgive_s)
        counts = (self.failures_in_row, self.min_workers, self.rate_volume, self.failure_volume)
        shares = (self.max_ejected_share, self.failure_share)
        if (
            min(times) <= 0
            or self.max_ejection_s < self.base_ejection_s
            or min(counts) < 1
            or not all(0 < share <= 1 for share in shares)
            or not 0 <= self.panic_share <= 1
            or self.rate_stdevs <= 0
        ):
            raise ValueError(f"a parameter is out of its range: {self}")


class _Record:
    __slots__ = ("failed", "forgiven_s", "in_row", "times", "until_s", "well")

    def __init__(self, now_s: float) -> None:
        self.well = self.failed = self.in_row = 0
        self.times = 0
        self.until_s = float("-inf")
        self.forgiven_s = now_s


class OutlierDetector:
    """Compares the workers of one fleet."""

    def __init__(self, policy: OutlierPolicy | None = None) -> None:
        self.policy = policy if policy is not None else OutlierPolicy()
        self._records: dict[str, _Record] = {}
        self._ejected: set[str] = set()
        self._compared_s: float | None = None

    @property
    def ejected(self) -> frozenset[str]:
        """Ids of the workers that sit out."""
        return frozenset(self._ejected)

    def add(self, worker_id: str, now_s: float) -> None:
        """Watch a worker; one that is watched already starts anew."""
        self._records[worker_id] = _Record(now_s)
        self._ejected.discard(worker_id)

    def remove(self, worker_id: str) -> None:
        """Stop watching a worker; nothing happens if it is not watched."""
        self._records.pop(worker_id, None)
        self._ejected.discard(worker_id)

    def observe(self, worker_id: str, outcome: Outcome, now_s: float) -> None:
        """Take the outcome of a request; unknown workers and neutral outcomes are ignored."""
        record = self._records.get(worker_id)
        if record is None:
            return
        if outcome is Outcome.SUCCESS:
            record.well += 1
            record.in_row = 0
        elif outcome is Outcome.FAILURE:
            record.failed += 1
            record.in_row += 1
            if record.in_row >= self.policy.failures_in_row and self._may_eject():
                self.eject(worker_id, now_s)

    def eject(self, worker_id: str, now_s: float) -> None:
        """Make a worker sit out, whatever the share of those that do already.

        For detectors that know better than rates, such as a missing heartbeat.
        """
        record = self._records.get(worker_id)
        if record is None or worker_id in self._ejected:
            return
        record.times += 1
        length_s = min(self.policy.base_ejection_s * record.times, self.policy.max_ejection_s)
        record.until_s = record.forgiven_s = now_s + length_s
        record.in_row = 0
        self._ejected.add(worker_id)

    def sweep(self, now_s: float) -> None:
        """Let those return whose time is over, and compare rates if an interval has passed."""
        for worker_id in [w for w in self._ejected if now_s >= self._records[w].until_s]:
            self._ejected.discard(worker_id)
            record = self._records[worker_id]
            record.well = record.failed = record.in_row = 0
        if self._compared_s is None:
            self._compared_s = now_s
        elif now_s - self._compared_s >= self.policy.interval_s:
            self._compared_s = now_s
            self._compare(now_s)

    def _compare(self, now_s: float) -> None:
        policy = self.policy
        for worker_id in [*self._below_the_others(), *self._failing_mostly()]:
            if worker_id not in self._ejected and self._may_eject():
                self.eject(worker_id, now_s)
        for worker_id, record in self._records.items():
            record.well = record.failed = 0
            if worker_id not in self._ejected:
                overdue = int((now_s - record.forgiven_s) / policy.forgive_s)
                if overdue > 0:
                    record.times = max(0, record.times - overdue)
                    record.forgiven_s += overdue * policy.forgive_s

    def _below_the_others(self) -> list[str]:
        """Return the workers whose success rate is too low, the worst first."""
        rates = {
            worker_id: record.well / (record.well + record.failed)
            for worker_id, record in self._records.items()
            if record.well + record.failed >= self.policy.rate_volume
        }
        if len(rates) < self.policy.min_workers:
            return []
        mean = math.fsum(rates.values()) / len(rates)
        deviation = math.sqrt(math.fsum((r - mean) ** 2 for r in rates.values()) / len(rates))
        least = mean - self.policy.rate_stdevs * deviation
        return sorted((w for w, rate in rates.items() if rate < least), key=lambda w: (rates[w], w))

    def _failing_mostly(self) -> list[str]:
        return [
            worker_id
            for worker_id, record in self._records.items()
            if record.well + record.failed >= self.policy.failure_volume
            and record.failed >= self.policy.failure_share * (record.well + record.failed)
        ]

    def _may_eject(self) -> bool:
        most = max(1, int(self.policy.max_ejected_share * len(self._records)))
        return len(self._ejected) < most


def in_panic(*, well: int, workers: int, panic_share: float) -> bool:
    """Return whether so few workers are well that health is ignored."""
    return well < panic_share * workers
