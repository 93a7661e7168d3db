"""A simulated serving engine inside the process, for demos and tests.

It behaves as an engine does (batches, KV blocks, times, energy) and computes no model: what
it answers is drawn from a small vocabulary, its energy is estimated and never measured, and
its models are called `simulated/...`.

`engine.Engine` is the core, without clock and I/O; `worker.EmbeddedWorker` answers the OpenAI
API with it. To imitate other hardware, add a `Profile` to `accelerators`.
"""

from __future__ import annotations

from .accelerators import MODEL, PROFILES, Profile
from .engine import Engine
from .scaled_clock import ScaledClock
from .worker import EmbeddedWorker

__all__ = ["MODEL", "PROFILES", "EmbeddedWorker", "Engine", "Profile", "ScaledClock"]
