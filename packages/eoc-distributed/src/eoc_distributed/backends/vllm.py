"""vLLM (V1 engine): `/version`, `/health`, metrics with the prefix `vllm:`.

With data parallelism there is one series for each replica: requests are summed, KV usage
is the fullest replica's, since a request lands on one of them.
"""

from __future__ import annotations

from typing import ClassVar

from .base import MAX_COUNT, EngineLoad, json_object, whole
from .metrics_text import Samples

_OK = 200


class VLLM:
    """vLLM's OpenAI server."""

    name: ClassVar[str] = "vllm"
    ports: ClassVar[tuple[int, ...]] = (8000,)
    start_hint: ClassVar[str] = "vllm serve Qwen/Qwen3-0.6B"
    probe_path: ClassVar[str] = "/version"
    health_path: ClassVar[str] = "/health"
    metrics_path: ClassVar[str | None] = "/metrics"

    def recognises(self, status: int, body: bytes) -> bool:
        return status == _OK and isinstance(json_object(body).get("version"), str)

    def load(self, samples: Samples) -> EngineLoad:
        kv_usage = samples.largest("vllm:kv_cache_usage_perc")
        if kv_usage is None:
            kv_usage = samples.largest("vllm:gpu_cache_usage_perc")  # before V1
        return EngineLoad(
            running=whole(samples.total("vllm:num_requests_running")),
            waiting=whole(samples.total("vllm:num_requests_waiting")),
            kv_tokens=_kv_tokens(samples),
            kv_usage=kv_usage,
            prompt_tokens=whole(samples.total("vllm:prompt_tokens_total")),
            completion_tokens=whole(samples.total("vllm:generation_tokens_total")),
        )


def _kv_tokens(samples: Samples) -> int | None:
    """Return what the caches of all replicas hold; None where one of them does not say."""
    tokens = 0
    for labels in samples.labels("vllm:cache_config_info"):
        try:
            blocks, size = int(labels["num_gpu_blocks"]), int(labels["block_size"])
        except (KeyError, ValueError):  # figures are texts, and may be "None"
            return None
        if not (0 < blocks <= MAX_COUNT and 0 < size <= MAX_COUNT):
            return None
        tokens += blocks * size
    return whole(tokens or None)
