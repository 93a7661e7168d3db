"""Keys of routers that hold a latency objective before they save.

Pure greed sends everything to the thriftiest worker until it is full, and the tail pays.
With an objective, a worker whose predicted time to first token breaks it comes after all
that hold it; if all break it, the fastest is chosen.
"""

from __future__ import annotations

from eoc_distributed.worker import Capability, Load

from .ranking import Key, KeyOf

HOLDS = 0
"""Class of workers that hold the objective and whose figure is known."""
FIGURE_MISSING = 1
"""Class of workers that hold the objective and whose figure nobody knows."""
BREAKS = 2
"""Class of workers that are predicted to break the objective."""


def predicted_ttft_ms(load: Load) -> float | None:
    """Predict the time to first token of the next request, ms; None if nothing is known.

    What this process has learnt of the worker wins. Before it has seen anything, what waits in
    front is known at once, while percentiles lag behind: the median of the last minute plus the
    time to read the queued prompt tokens. Without a prefill rate the 99th percentile stands in,
    which errs on the side of the objective.
    """
    if load.predicted_ttft_ms is not None:
        return load.predicted_ttft_ms
    base_ms = load.p50_latency_ms
    if load.prefill_tokens_per_s:
        return (base_ms or 0.0) + 1000.0 * load.queued_tokens / load.prefill_tokens_per_s
    return load.p99_latency_ms if load.p99_latency_ms is not None else base_ms


def cheapest_within(objective_ms: float | None, figure_of: KeyOf) -> KeyOf:
    """Return a key: `figure_of` among the workers that hold the objective.

    Args:
        objective_ms: Longest time to first token, ms; None for no objective.
        figure_of: Key of class HOLDS or FIGURE_MISSING.
    """
    if objective_ms is None:
        return figure_of
    limit_ms = objective_ms

    def key_of(capability: Capability, load: Load) -> Key:
        ttft_ms = predicted_ttft_ms(load)
        if ttft_ms is not None and ttft_ms > limit_ms:
            return (BREAKS, ttft_ms)
        return figure_of(capability, load)

    return key_of
