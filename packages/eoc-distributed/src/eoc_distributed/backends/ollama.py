"""Ollama: says `Ollama is running` at `/`; has no metrics, so its load is what we send it."""

from __future__ import annotations

from typing import ClassVar

from .base import EngineLoad
from .metrics_text import Samples

_OK = 200


class Ollama:
    """Ollama's server, through its OpenAI paths."""

    name: ClassVar[str] = "ollama"
    ports: ClassVar[tuple[int, ...]] = (11434,)
    start_hint: ClassVar[str] = "ollama serve"
    probe_path: ClassVar[str] = "/"
    health_path: ClassVar[str] = "/"
    metrics_path: ClassVar[str | None] = None

    def recognises(self, status: int, body: bytes) -> bool:
        return status == _OK and body.strip() == b"Ollama is running"

    def load(self, samples: Samples) -> EngineLoad:  # noqa: ARG002
        return EngineLoad()
