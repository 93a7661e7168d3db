"""SGLang: `/model_info`, `/health`, metrics with the prefix `sglang:` if it was told to.

Its `token_usage` counts tokens, not blocks, and leaves cached tokens that may be evicted out.
"""

from __future__ import annotations

from typing import ClassVar

from .base import EngineLoad, json_object, whole
from .metrics_text import Samples

_OK = 200


class SGLang:
    """SGLang's OpenAI server."""

    name: ClassVar[str] = "sglang"
    ports: ClassVar[tuple[int, ...]] = (30000,)
    start_hint: ClassVar[str] = (
        "python -m sglang.launch_server --model-path Qwen/Qwen3-0.6B --enable-metrics"
    )
    probe_path: ClassVar[str] = "/model_info"
    health_path: ClassVar[str] = "/health"
    metrics_path: ClassVar[str | None] = "/metrics"

    def recognises(self, status: int, body: bytes) -> bool:
        return status == _OK and isinstance(json_object(body).get("model_path"), str)

    def load(self, samples: Samples) -> EngineLoad:
        return EngineLoad(
            running=whole(samples.total("sglang:num_running_reqs")),
            waiting=whole(samples.total("sglang:num_queue_reqs")),
            kv_tokens=whole(samples.total("sglang:max_total_num_tokens")),
            kv_usage=samples.largest("sglang:token_usage"),
            prompt_tokens=whole(samples.total("sglang:prompt_tokens_total")),
            completion_tokens=whole(samples.total("sglang:generation_tokens_total")),
        )
