"""Metrics in the Prometheus format, one registry for each gateway.

Labels are bounded: workers and models of the cluster, three-digit statuses. A model that
nobody serves is `unknown`, so that a client cannot make series.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from eoc_distributed.cluster import Cluster

from .record import RequestRecord

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_SECONDS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0),
    *(2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 120.0),
)
_NO_MODEL = "unknown"


class _Series:
    """The series of one worker and model, looked up once."""

    __slots__ = ("completion", "duration", "energy", "grams", "prompt", "statuses", "ttft")

    def __init__(self, metrics: Metrics, worker_id: str, model: str) -> None:
        self.statuses: dict[int, Counter] = {}
        self.prompt = metrics.tokens.labels(worker_id, model, "prompt")
        self.completion = metrics.tokens.labels(worker_id, model, "completion")
        self.energy: dict[str, Counter] = {}
        self.grams = metrics.grams.labels(worker_id, model)
        self.ttft = metrics.ttft.labels(worker_id, model)
        self.duration = metrics.duration.labels(worker_id, model)


class Metrics:
    """What one gateway counts.

    Args:
        cluster: Its workers; their state is read when somebody scrapes.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "eoc_requests",
            "Requests that have ended, by the status the client saw; 499 if it went away.",
            ("worker", "model", "status"),
            registry=self.registry,
        )
        self.tokens = Counter(
            "eoc_tokens",
            "Tokens read and written.",
            ("worker", "model", "kind"),
            registry=self.registry,
        )
        self.joules = Counter(
            "eoc_energy_joules",
            "Energy of requests, by where the figure comes from.",
            ("worker", "model", "quality"),
            registry=self.registry,
        )
        self.grams = Counter(
            "eoc_emissions_grams_co2e",
            "Operational emissions of requests.",
            ("worker", "model"),
            registry=self.registry,
        )
        self.unknown_energy = Counter(
            "eoc_requests_without_energy",
            "Requests whose energy is not known.",
            ("worker",),
            registry=self.registry,
        )
        self.retries = Counter(
            "eoc_retries", "Requests sent to a further worker.", registry=self.registry
        )
        self.ttft = Histogram(
            "eoc_time_to_first_token_seconds",
            "From arrival to the first content.",
            ("worker", "model"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.duration = Histogram(
            "eoc_request_duration_seconds",
            "From arrival to the end of the answer.",
            ("worker", "model"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.registry.register(_Fleet(cluster))
        self._cluster = cluster
        self._series: dict[tuple[str, str], _Series] = {}

    def observe(self, record: RequestRecord) -> None:
        """Count a request that has ended."""
        key = (record.worker_id, record.model)
        series = self._series.get(key)
        if series is None:
            if not record.worker_id or not self._cluster.serving(record.model):
                model = record.model if self._cluster.serving(record.model) else _NO_MODEL
                self.requests.labels(record.worker_id, model, str(record.status)).inc()
                return
            series = self._series[key] = _Series(self, *key)
        counter = series.statuses.get(record.status)
        if counter is None:
            counter = series.statuses[record.status] = self.requests.labels(
                *key, str(record.status)
            )
        counter.inc()
        series.duration.observe(record.duration_ms / 1000.0)
        if record.ttft_ms is not None:
            series.ttft.observe(record.ttft_ms / 1000.0)
        cost = record.cost
        if cost is None:
            return
        series.prompt.inc(cost.prompt_tokens)
        series.completion.inc(cost.completion_tokens)
        if cost.energy is None:
            self.unknown_energy.labels(record.worker_id).inc()
        else:
            quality = cost.energy.quality.value
            energy = series.energy.get(quality)
            if energy is None:
                energy = series.energy[quality] = self.joules.labels(*key, quality)
            energy.inc(cost.energy.micro_joules / 1e6)
        if cost.g_co2e is not None:
            series.grams.inc(cost.g_co2e)

    def exposition(self) -> bytes:
        """Return everything in the text format."""
        return generate_latest(self.registry)


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
