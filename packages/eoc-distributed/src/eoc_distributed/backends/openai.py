"""Any other server of the OpenAI API: all that is asked of it is `/v1/models`."""

from __future__ import annotations

from typing import ClassVar

from .base import EngineLoad, json_object
from .metrics_text import Samples

_OK = 200


class OpenAI:
    """A server of which nothing more is known."""

    name: ClassVar[str] = "openai"
    ports: ClassVar[tuple[int, ...]] = ()
    start_hint: ClassVar[str] = "python -m llama_cpp.server --model model.gguf"
    probe_path: ClassVar[str] = "/v1/models"
    health_path: ClassVar[str] = "/v1/models"
    metrics_path: ClassVar[str | None] = None

    def recognises(self, status: int, body: bytes) -> bool:
        return status == _OK and isinstance(json_object(body).get("data"), list)

    def load(self, samples: Samples) -> EngineLoad:  # noqa: ARG002
        return EngineLoad()
