"""Triton's OpenAI frontend: `/health/ready`; metrics are on a port of their own (8002).

Give that address as `metrics_url`. Triton alone tells energy by itself:
`nv_energy_consumption`, joules of each GPU since the start.
"""

from __future__ import annotations

from typing import ClassVar

from .base import EngineLoad, whole
from .metrics_text import Samples

_OK = 200


class Triton:
    """The OpenAI frontend of Triton Inference Server."""

    name: ClassVar[str] = "triton"
    ports: ClassVar[tuple[int, ...]] = (9000,)
    start_hint: ClassVar[str] = "python3 openai_frontend/main.py --model-repository models"
    probe_path: ClassVar[str] = "/health/ready"
    health_path: ClassVar[str] = "/health/ready"
    metrics_path: ClassVar[str | None] = "/metrics"

    def recognises(self, status: int, body: bytes) -> bool:  # noqa: ARG002
        return status == _OK

    def load(self, samples: Samples) -> EngineLoad:
        return EngineLoad(
            waiting=whole(samples.total("nv_inference_pending_request_count")),
            joules=samples.total("nv_energy_consumption"),
        )
