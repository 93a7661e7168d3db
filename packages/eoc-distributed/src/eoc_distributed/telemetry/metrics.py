"""Metrics in the Prometheus format, one registry for each gateway.

Requests add to plain numbers; families are made of them when somebody scrapes, which costs
a tenth of a client library's locked counters on the path of a request. A gateway lives in
one event loop, so that nothing else writes meanwhile.

Labels are bounded: workers and models of the cluster, three-digit statuses. A model that
nobody serves is `unknown`, so that a client cannot make series.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from eoc_distributed.cluster import Cluster
from eoc_distributed.units import Quality

from .record import RequestRecord

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
BUCKETS_MS: Final = (
    *(1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1e3),
    *(2.5e3, 5e3, 10e3, 20e3, 40e3, 60e3, 120e3),
)
"""Upper bounds of the histograms, ms; exposed in seconds."""
_BOUNDS = (*(f"{bound / 1e3:g}" for bound in BUCKETS_MS), "+Inf")
_NO_MODEL = "unknown"


class _Times:
    """A histogram of times."""

    __slots__ = ("counts", "sum_ms")

    def __init__(self) -> None:
        self.counts = [0] * len(_BOUNDS)
        self.sum_ms = 0.0

    def add(self, time_ms: float) -> None:
        """Take one time, ms."""
        self.counts[bisect_left(BUCKETS_MS, time_ms)] += 1
        self.sum_ms += time_ms


class _Series:
    """The numbers of one worker and model; energy and grams by rank of their quality."""

    __slots__ = (
        "completion",
        "duration",
        "grams",
        "micro_joules",
        "prompt",
        "statuses",
        "ttft",
        "unknown_energy",
    )

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}
        self.prompt = 0
        self.completion = 0
        self.micro_joules: list[int | None] = [None] * len(Quality)
        self.unknown_energy = 0
        self.grams: list[float | None] = [None] * len(Quality)
        self.ttft = _Times()
        self.duration = _Times()


class Metrics:
    """What one gateway counts.

    Args:
        cluster: Its workers; their state is read when somebody scrapes.

    Attributes:
        registry: Where everything is; further collectors may be added.
        retries: Requests sent to a further worker.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.registry = CollectorRegistry()
        self.retries = 0
        self._cluster = cluster
        self._series: dict[tuple[str, str], _Series] = {}
        self.registry.register(_Requests(self._series, self))
        self.registry.register(_Fleet(cluster))

    def observe(self, record: RequestRecord) -> None:
        """Count a request that has ended."""
        key = (record.worker_id, record.model)
        series = self._series.get(key)
        if series is None:
            if not self._cluster.serving(record.model):
                key = (record.worker_id, _NO_MODEL)
            series = self._series.setdefault(key, _Series())
        status = record.status
        series.statuses[status] = series.statuses.get(status, 0) + 1
        series.duration.add(record.duration_ms)
        if record.ttft_ms is not None:
            series.ttft.add(record.ttft_ms)
        cost = record.cost
        if cost is None:
            return
        series.prompt += cost.prompt_tokens or 0
        series.completion += cost.completion_tokens or 0
        if cost.energy is None:
            series.unknown_energy += 1
        else:
            rank = cost.energy.quality.rank
            spent = series.micro_joules[rank] or 0
            series.micro_joules[rank] = spent + cost.energy.micro_joules
        if cost.g_co2e is not None:
            rank = (cost.carbon_quality or Quality.DECLARED).rank
            series.grams[rank] = (series.grams[rank] or 0.0) + cost.g_co2e

    def exposition(self) -> bytes:
        """Return everything in the text format."""
        return generate_latest(self.registry)


class _Requests(Collector):
    """Makes families of what has been counted."""

    def __init__(self, series: dict[tuple[str, str], _Series], metrics: Metrics) -> None:
        self._series = series
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        yield CounterMetricFamily(
            "eoc_retries", "Requests sent to a further worker.", value=self._metrics.retries
        )
        yield from self._counters()
        both = ("worker", "model")
        ttft = HistogramMetricFamily(
            "eoc_time_to_first_token_seconds", "From arrival to the first content.", labels=both
        )
        duration = HistogramMetricFamily(
            "eoc_request_duration_seconds", "From arrival to the end of the answer.", labels=both
        )
        for key, series in self._series.items():
            for family, times in ((ttft, series.ttft), (duration, series.duration)):
                buckets = list(zip(_BOUNDS, map(float, accumulate(times.counts)), strict=True))
                family.add_metric(key, buckets, times.sum_ms / 1e3)
        yield ttft
        yield duration

    def _counters(self) -> Iterable[Metric]:
        both = ("worker", "model")
        requests = CounterMetricFamily(
            "eoc_requests",
            "Requests that have ended, by status; 499 if the client went away, 502 if the "
            "engine was lost in mid-stream.",
            labels=(*both, "status"),
        )
        tokens = CounterMetricFamily(
            "eoc_tokens", "Tokens read and written.", labels=(*both, "kind")
        )
        joules = CounterMetricFamily(
            "eoc_energy_joules",
            "Energy of requests, by where the figure comes from.",
            labels=(*both, "quality"),
        )
        grams = CounterMetricFamily(
            "eoc_emissions_grams_co2e",
            "Operational emissions of requests, by where the figure comes from.",
            labels=(*both, "quality"),
        )
        unknown = CounterMetricFamily(
            "eoc_requests_without_energy", "Requests whose energy is not known.", labels=both
        )
        for key, series in self._series.items():
            for status, count in series.statuses.items():
                requests.add_metric((*key, str(status)), count)
            tokens.add_metric((*key, "prompt"), series.prompt)
            tokens.add_metric((*key, "completion"), series.completion)
            for quality, micro_joules in zip(Quality, series.micro_joules, strict=True):
                if micro_joules is not None:
                    joules.add_metric((*key, quality.value), micro_joules / 1e6)
            for quality, emitted in zip(Quality, series.grams, strict=True):
                if emitted is not None:
                    grams.add_metric((*key, quality.value), emitted)
            unknown.add_metric(key, series.unknown_energy)
        return (requests, tokens, joules, grams, unknown)


class _Fleet(Collector):
    """Reads the state of the workers at the moment of the scrape."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def collect(self) -> Iterable[Metric]:
        in_flight = GaugeMetricFamily(
            "eoc_worker_in_flight", "Requests that run on a worker.", labels=("worker",)
        )
        healthy = GaugeMetricFamily(
            "eoc_worker_healthy", "1 if a worker may be given work.", labels=("worker",)
        )
        per_token = GaugeMetricFamily(
            "eoc_worker_joules_per_token", "Energy of a token, where known.", labels=("worker",)
        )
        intensity = GaugeMetricFamily(
            "eoc_worker_carbon_intensity_grams_per_kwh",
            "Carbon intensity where a worker runs, where known.",
            labels=("worker",),
        )
        for member in self._cluster:
            load = self._cluster.load_of(member.id)
            in_flight.add_metric((member.id,), load.in_flight)
            healthy.add_metric((member.id,), float(member.healthy and not member.draining))
            if load.micro_joules_per_token is not None:
                per_token.add_metric((member.id,), load.micro_joules_per_token / 1e6)
            if load.g_co2e_per_kwh is not None:
                intensity.add_metric((member.id,), load.g_co2e_per_kwh)
        return (in_flight, healthy, per_token, intensity)
