"""What a run has used: figures of each worker, and of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eoc_distributed.backends.embedded.sequence import Sequence, Status
from eoc_distributed.units import GramsCO2e, grams_co2e

from .fleet import Site


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """One worker in one run; all energy is modelled.

    Attributes:
        site: Which worker.
        g_per_kwh: Carbon intensity where it runs.
        requests: Requests that it finished.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens generated.
        micro_joules: Energy of its steps, shared out among requests, µJ.
        idle_micro_joules: Energy drawn between steps, µJ.
        ttft_s: Time to first token of each request, s, ascending.
    """

    site: Site
    g_per_kwh: float
    requests: int
    prompt_tokens: int
    completion_tokens: int
    micro_joules: int
    idle_micro_joules: int
    ttft_s: tuple[float, ...]

    @property
    def g_co2e(self) -> GramsCO2e:
        """Emissions of its requests, gCO2e."""
        return grams_co2e(self.micro_joules, self.g_per_kwh)

    @property
    def idle_g_co2e(self) -> GramsCO2e:
        """Emissions of its idle time, gCO2e."""
        return grams_co2e(self.idle_micro_joules, self.g_per_kwh)


def worker_report(
    site: Site, sequences: Iterable[Sequence], *, g_per_kwh: float, idle_micro_joules: int
) -> WorkerReport:
    """Sum up the sequences that a worker finished."""
    finished = [sequence for sequence in sequences if sequence.status is Status.FINISHED]
    return WorkerReport(
        site=site,
        g_per_kwh=g_per_kwh,
        requests=len(finished),
        prompt_tokens=sum(sequence.prompt_tokens for sequence in finished),
        completion_tokens=sum(sequence.generated for sequence in finished),
        micro_joules=sum(sequence.micro_joules for sequence in finished),
        idle_micro_joules=idle_micro_joules,
        ttft_s=tuple(
            sorted(
                sequence.first_token_s - sequence.submitted_s
                for sequence in finished
                if sequence.first_token_s is not None
            )
        ),
    )


@dataclass(frozen=True, slots=True)
class RunReport:
    """One trace through one fleet under one router.

    Attributes:
        router: Name of the router.
        over_http: Whether the requests went through the gateway, or it is a replay in
            virtual time.
        workers: A report for each worker, in the order of the fleet.
        failed: Requests without a complete answer.
        seconds: Simulated time over which idle energy is counted, s.
    """

    router: str
    over_http: bool
    workers: tuple[WorkerReport, ...]
    failed: int
    seconds: float

    @property
    def requests(self) -> int:
        """Requests finished."""
        return sum(worker.requests for worker in self.workers)

    @property
    def micro_joules(self) -> int:
        """Energy of the requests, µJ."""
        return sum(worker.micro_joules for worker in self.workers)

    @property
    def idle_micro_joules(self) -> int:
        """Energy drawn between steps, µJ."""
        return sum(worker.idle_micro_joules for worker in self.workers)

    @property
    def g_co2e(self) -> GramsCO2e:
        """Emissions of the requests, gCO2e."""
        return GramsCO2e(sum(worker.g_co2e for worker in self.workers))

    @property
    def idle_g_co2e(self) -> GramsCO2e:
        """Emissions of idle time, gCO2e."""
        return GramsCO2e(sum(worker.idle_g_co2e for worker in self.workers))

    @property
    def ttft_s(self) -> tuple[float, ...]:
        """Time to first token of every request, s, ascending."""
        return tuple(sorted(ttft for worker in self.workers for ttft in worker.ttft_s))


def percentile(ascending: tuple[float, ...], share: float) -> float | None:
    """Return the value below which `share` (0 to 1) of the values lie; None without values."""
    if not ascending:
        return None
    return ascending[min(len(ascending) - 1, int(len(ascending) * share))]
