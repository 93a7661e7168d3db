"""llama.cpp's server: `/props`, `/health`, metrics with the prefix `llamacpp:` if told to."""

from __future__ import annotations

from typing import ClassVar

from .base import EngineLoad, json_object, whole
from .metrics_text import Samples

_OK = 200


class LlamaCpp:
    """`llama-server` of llama.cpp."""

    name: ClassVar[str] = "llama-cpp"
    ports: ClassVar[tuple[int, ...]] = (8080,)
    start_hint: ClassVar[str] = "llama-server -m model.gguf --metrics"
    probe_path: ClassVar[str] = "/props"
    health_path: ClassVar[str] = "/health"
    metrics_path: ClassVar[str | None] = "/metrics"

    def recognises(self, status: int, body: bytes) -> bool:
        return status == _OK and "default_generation_settings" in json_object(body)

    def load(self, samples: Samples) -> EngineLoad:
        return EngineLoad(
            running=whole(samples.total("llamacpp:requests_processing")),
            waiting=whole(samples.total("llamacpp:requests_deferred")),
            kv_usage=samples.largest("llamacpp:kv_cache_usage_ratio"),  # removed in 2025
            prompt_tokens=whole(samples.total("llamacpp:prompt_tokens_total")),
            completion_tokens=whole(samples.total("llamacpp:tokens_predicted_total")),
        )
