"""What a serving engine must tell so that the gateway can use it."""

from __future__ import annotations

from typing import ClassVar, Protocol

import msgspec

from .metrics_text import Samples

MAX_COUNT = 1e15
"""Larger figures are noise: no engine counts so far."""


class EngineLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine's own metrics say; None where they say nothing.

    Attributes:
        running: Requests in the running batch.
        waiting: Requests in the queue.
        kv_tokens: Tokens that the KV caches of all replicas hold.
        kv_usage: Share of the KV cache in use, 0 to 1; the fullest replica's.
        prompt_tokens: Prompt tokens read since the start.
        completion_tokens: Tokens generated since the start.
        joules: Energy used since the start, J.
    """

    running: int | None = None
    waiting: int | None = None
    kv_tokens: int | None = None
    kv_usage: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    joules: float | None = None

    @property
    def in_flight(self) -> int | None:
        """Requests accepted and not finished."""
        if self.running is None:
            return None
        return self.running + (self.waiting or 0)


class Backend(Protocol):
    """One kind of engine. Has no state; does no I/O.

    Attributes:
        name: Stable, lower case.
        ports: Where it listens by default.
        start_hint: A command that starts one.
        probe_path: Path whose answer tells the engine from others.
        health_path: 200 if the engine can take requests.
        metrics_path: Where its metrics are; None if it has none.
    """

    name: ClassVar[str]
    ports: ClassVar[tuple[int, ...]]
    start_hint: ClassVar[str]
    probe_path: ClassVar[str]
    health_path: ClassVar[str]
    metrics_path: ClassVar[str | None]

    def recognises(self, status: int, body: bytes) -> bool:
        """Return whether an answer to `probe_path` comes from such an engine."""
        ...

    def load(self, samples: Samples) -> EngineLoad:
        """Read its metrics."""
        ...


def whole(value: float | None) -> int | None:
    """Return a gauge as a count; what is no count of anything real is unknown."""
    return int(value) if value is not None and 0 <= value <= MAX_COUNT else None


def json_object(body: bytes) -> dict[str, object]:
    """Return a JSON object; empty if the body is anything else."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
