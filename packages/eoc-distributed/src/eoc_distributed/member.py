"""A worker's place in a cluster: its health, and the load that this process has put on it.

The worker's own report can be seconds old, while what this process has sent it is known
without delay. `Member.load` joins both: counts are the larger of the two, figures are the
report's where it has them.
"""

from __future__ import annotations

from collections import deque

from .first_token import FirstTokenModel
from .units import Quality
from .worker import Load, Worker

KV_SHARE = 0.9
"""Share of a KV cache that requests may be expected to fill; a batch that outgrows it preempts."""
KV_LEARNING = 0.3
"""How far one report moves what is known of the tokens that requests really hold."""
KV_STRETCH = (0.25, 8.0)
"""Bounds of tokens expected for each token held: prompts share prefixes, and estimates err."""
LATENCY_WINDOW = 128
"""Samples kept for each worker; a p99 of 128 samples is their second largest."""
LATENCY_MAX_AGE_S = 60.0
"""Older samples do not count, so that a worker that was slow once is tried again."""
_RECOUNT_EVERY = 8
"""Samples between two counts of the percentiles, which sort the window."""


class LatencyWindow:
    """The last times to first token of one worker, and their percentiles."""

    __slots__ = ("_p50_ms", "_p99_ms", "_samples", "_since_count")

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque(maxlen=LATENCY_WINDOW)
        self._p50_ms: float | None = None
        self._p99_ms: float | None = None
        self._since_count = 0

    def add(self, now_s: float, ttft_ms: float) -> None:
        """Take one sample."""
        self._samples.append((now_s, ttft_ms))
        self._since_count += 1
        if self._since_count >= _RECOUNT_EVERY or len(self._samples) < _RECOUNT_EVERY:
            self._count()

    def percentiles_ms(self, now_s: float) -> tuple[float | None, float | None]:
        """Return the median and the 99th percentile in ms; None without recent samples."""
        oldest_s = now_s - LATENCY_MAX_AGE_S
        samples = self._samples
        if samples and samples[0][0] < oldest_s:
            while samples and samples[0][0] < oldest_s:
                samples.popleft()
            self._count()
        return self._p50_ms, self._p99_ms

    def _count(self) -> None:
        self._since_count = 0
        if not self._samples:
            self._p50_ms = self._p99_ms = None
            return
        ordered = sorted(ms for _, ms in self._samples)
        self._p50_ms = ordered[len(ordered) // 2]
        self._p99_ms = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


class Member:
    """One worker of a cluster.

    Attributes:
        worker: The worker itself.
        id: Its id.
        capability: What it can do.
        models: The models it serves.
        version: Number of the cluster's change that touched it last; unique.
        healthy: Whether it may be given work.
        unhealthy_reason: Why not, in words.
        draining: Whether it finishes what it has and takes nothing else.
        in_flight: Requests that this process has sent and that have not ended.
        queued_tokens: Prompt tokens of those without a first token.
        kv_reserved: Tokens that those in flight are expected to hold in the KV cache.
        reported: The worker's last report.
        zone_g_per_kwh: Carbon intensity of its zone, gCO2e/kWh, where the cluster knows it.
        zone_quality: Where that comes from.
    """

    __slots__ = (
        "_first_token",
        "_kv_limit",
        "_kv_stretch",
        "_latency",
        "capability",
        "draining",
        "healthy",
        "id",
        "in_flight",
        "kv_reserved",
        "max_concurrency",
        "models",
        "queued_tokens",
        "reported",
        "unhealthy_reason",
        "version",
        "worker",
        "zone_g_per_kwh",
        "zone_quality",
    )

    def __init__(self, worker: Worker) -> None:
        self.id = worker.id
        self.version = 0
        self.healthy = True
        self.unhealthy_reason = ""
        self.draining = False
        self.in_flight = 0
        self.queued_tokens = 0
        self.kv_reserved = 0
        self._kv_stretch = 1.0
        self.zone_g_per_kwh: float | None = None
        self.zone_quality = Quality.ESTIMATED
        self.be(worker)
        self._latency: LatencyWindow | None = None
        self._first_token: FirstTokenModel | None = None

    def be(self, worker: Worker) -> None:
        """Stand for this worker, with the requests that are under way."""
        self.worker = worker
        self.capability = worker.capability
        self.models = frozenset(worker.capability.models)
        self.max_concurrency = worker.capability.max_concurrency
        self.report(worker.load)

    def report(self, load: Load) -> None:
        """Take the worker's newest report of itself."""
        self.reported = load
        self._kv_limit = None if load.kv_tokens is None else self._limit_kv(load)

    def _limit_kv(self, load: Load) -> int:
        """Return how many tokens those in flight may be expected to hold.

        What is expected counts a prefix that many share once for each, and guesses the rest; so
        where the engine says how full it is, the limit is moved until that comes to `KV_SHARE`.
        A worker without work takes any request: the engine refuses what is too large for it.
        """
        capacity = load.kv_tokens or 0
        if load.kv_usage and 2 * self.kv_reserved >= capacity * self._kv_stretch:
            least, most = KV_STRETCH
            seen = min(most, max(least, self.kv_reserved / max(1.0, load.kv_usage * capacity)))
            self._kv_stretch += (seen - self._kv_stretch) * KV_LEARNING
        return max(1, int(KV_SHARE * capacity * self._kv_stretch))

    def load(self, now_s: float) -> Load:
        """Return the worker's load as routing sees it."""
        reported = self.reported
        in_flight = self.in_flight
        queued_tokens = self.queued_tokens
        p50_ms = reported.p50_latency_ms
        p99_ms = reported.p99_latency_ms
        g_per_kwh = reported.g_co2e_per_kwh
        # On the path of every request: max() would cost twice as much as the comparison.
        if reported.in_flight > in_flight:  # noqa: PLR1730
            in_flight = reported.in_flight
        if reported.queued_tokens > queued_tokens:  # noqa: PLR1730
            queued_tokens = reported.queued_tokens
        if p50_ms is None and self._latency is not None:
            p50_ms, p99_ms = self._latency.percentiles_ms(now_s)
        model = self._first_token
        carbon_quality = reported.carbon_quality
        if g_per_kwh is None and self.zone_g_per_kwh is not None:
            g_per_kwh = self.zone_g_per_kwh
            carbon_quality = self.zone_quality
        return Load(
            in_flight,
            queued_tokens,
            p50_ms,
            p99_ms,
            reported.micro_joules_per_token,
            g_per_kwh,
            reported.energy_quality,
            reported.prefill_tokens_per_s,
            carbon_quality,
            reported.marginal_micro_joules_per_token,
            reported.opening_micro_joules_per_token,
            None if model is None else model.predict_ms(now_s, unread=queued_tokens),
            reported.kv_tokens,
            reported.kv_usage,
        )

    def eligible(self) -> bool:
        """Return whether it may be given one more request."""
        return (
            self.healthy
            and not self.draining
            and self.in_flight < self.max_concurrency
            and self.reported.in_flight < self.max_concurrency
            and (self._kv_limit is None or self.kv_reserved < self._kv_limit)
        )

    def refusal(self) -> str | None:
        """Say why it may not be given one more request; None if it may."""
        if not self.healthy:
            return f"unhealthy: {self.unhealthy_reason}" if self.unhealthy_reason else "unhealthy"
        if self.draining:
            return "draining"
        in_flight = max(self.in_flight, self.reported.in_flight)
        if in_flight >= self.max_concurrency:
            return f"full: {in_flight} of {self.max_concurrency} requests in flight"
        if self._kv_limit is not None and self.kv_reserved >= self._kv_limit:
            return f"KV cache full: {self.kv_reserved} tokens expected, {self._kv_limit} allowed"
        return None

    def add_latency(self, now_s: float, ttft_ms: float, *, tokens: int = 0, own: int = 0) -> None:
        """Take a time to first token, ms, that this process has seen.

        Args:
            now_s: When it came.
            ttft_ms: The time.
            tokens: Prompt tokens that were read before it, its own included.
            own: Its own.
        """
        if self._latency is None:
            self._latency = LatencyWindow()
            self._first_token = FirstTokenModel()
        self._latency.add(now_s, ttft_ms)
        if self._first_token is not None:
            self._first_token.add(now_s, ttft_ms, tokens=tokens, own=own)
