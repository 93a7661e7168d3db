"""Text Generation Inference: `/info`, `/health`, metrics with the prefix `tgi_`; no KV gauge."""

from __future__ import annotations

from typing import ClassVar

from .base import EngineLoad, json_object, whole
from .metrics_text import Samples

_OK = 200


class TGI:
    """TGI's router."""

    name: ClassVar[str] = "tgi"
    ports: ClassVar[tuple[int, ...]] = (8080, 3000)
    start_hint: ClassVar[str] = "text-generation-launcher --model-id Qwen/Qwen3-0.6B --port 8080"
    probe_path: ClassVar[str] = "/info"
    health_path: ClassVar[str] = "/health"
    metrics_path: ClassVar[str | None] = "/metrics"

    def recognises(self, status: int, body: bytes) -> bool:
        info = json_object(body)
        return status == _OK and isinstance(info.get("model_id"), str)

    def load(self, samples: Samples) -> EngineLoad:
        return EngineLoad(
            running=whole(samples.total("tgi_batch_current_size")),
            waiting=whole(samples.total("tgi_queue_size")),
            prompt_tokens=whole(samples.total("tgi_request_input_length_sum")),
            completion_tokens=whole(samples.total("tgi_request_generated_tokens_sum")),
        )
