"""Latency weighted: recent latency times the requests that would share it.

Cost = median time to first token (ms), to the nearest half power of two, x (in_flight + 1).
Rounded, since medians of equal workers differ by chance, and following the difference would
send everything to the luckiest.

Source: the cost of Finagle's PeakEwma load metric, latency x (pending + 1), on the median
of the last minute instead of a moving average of whole durations, which for a language
model measure the length of the answers.
"""

from __future__ import annotations

from math import exp2, log2
from random import Random
from typing import ClassVar

from eoc_distributed.cluster import Cluster
from eoc_distributed.request import Request
from eoc_distributed.worker import Capability, Load, Worker

from .ranking import Key, Ranking

UNKNOWN_LATENCY_MS = 1000.0
"""Stands for a latency that nobody has measured while the first answer is awaited. An idle
worker of unknown latency costs nothing, so that each newcomer gets one request and is known
then: Finagle's rule and its penalty of a second."""


class LatencyWeighted:
    """Takes the worker with the lowest latency x (in_flight + 1).

    Args:
        rng: Breaks ties.
    """

    name: ClassVar[str] = "latency-weighted"

    def __init__(self, *, rng: Random) -> None:
        self._ranking = Ranking(_cost, rng=rng)

    def choose(self, request: Request, cluster: Cluster) -> Worker:
        return self._ranking.first(request, cluster)


def _cost(_capability: Capability, load: Load) -> Key:
    if load.p50_latency_ms is None:
        return (0, UNKNOWN_LATENCY_MS + load.in_flight if load.in_flight else 0.0)
    return (0, rounded_ms(load.p50_latency_ms) * (load.in_flight + 1))


def rounded_ms(latency_ms: float) -> float:
    """Return a latency to the nearest half power of two: 16, 22.6, 32, 45.3 ... ms."""
    if latency_ms <= 0:
        return 0.0
    return exp2(round(2.0 * log2(latency_ms)) / 2.0)
