"""Workers: what they can do, what they carry, and the Protocol that they fulfil.

A worker is anything that serves models: an engine behind a URL, an engine inside the
process, or a plain record in a test. Routing needs its `Capability`, which does not
change, and its `Load`, which does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

import msgspec

from .http import HTTPRequest, HTTPResponse
from .units import GramsCO2e, MicroJoules, Quality, grams_co2e

IN_FLIGHT_WEIGHT = 4.0
QUEUED_TOKEN_WEIGHT = 0.1
_INFINITY = float("inf")


class Accelerator(Enum):
    """The kind of hardware that a worker computes on."""

    CPU = "cpu"
    GPU = "gpu"
    TPU = "tpu"
    NPU = "npu"
    MIXED = "mixed"

    @property
    def tag(self) -> str:
        """The lower-case name used in configuration files, metrics and headers."""
        return self.value


@dataclass(frozen=True, slots=True)
class Capability:
    """What a worker can do; fixed while the worker lives.

    Attributes:
        models: Names of the models it serves, compared to the letter.
        accelerator: What it computes on.
        max_concurrency: Most requests that it is given at a time, at least 1.
        continuous_batching: Whether requests join and leave a running batch.
        paged_kv: Whether its KV cache is held in blocks.
        zone: Electricity zone where it draws its power (`FR`, `US-CAL-CISO`), if known.

    Raises:
        TypeError: `models` is a single string.
        ValueError: `max_concurrency` is below 1.
    """

    models: Collection[str]
    accelerator: Accelerator = Accelerator.GPU
    max_concurrency: int = 256
    continuous_batching: bool = True
    paged_kv: bool = True
    zone: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.models, str):
            raise TypeError(f"models is a collection of names, not one string: {self.models!r}")
        if self.max_concurrency < 1:
            raise ValueError(f"max_concurrency is at least 1, not {self.max_concurrency}")
        object.__setattr__(self, "models", frozenset(self.models))

    def serves(self, model: str) -> bool:
        """Return whether the worker serves the model of that name."""
        return model in self.models


class Load(msgspec.Struct, frozen=True):
    """What a worker carries at an instant: absolute values, never deltas.

    A figure that nobody has is None. It is never 0, which would draw all traffic to the
    worker that measures nothing.

    Attributes:
        in_flight: Requests accepted and not finished.
        queued_tokens: Prompt tokens of requests that have not produced a token yet.
        p50_latency_ms: Median time to the first token over the last minute, ms.
        p99_latency_ms: Its 99th percentile, ms.
        micro_joules_per_token: Energy for each token read or written, µJ.
        g_co2e_per_kwh: Carbon intensity of the electricity it draws, gCO2e/kWh.
        energy_quality: Where `micro_joules_per_token` comes from.
        prefill_tokens_per_s: Prompt tokens that it reads in a second, if known.
        carbon_quality: Where `g_co2e_per_kwh` comes from.
        marginal_micro_joules_per_token: Energy of one more token, read or written, where
            passes run anyway, µJ.
        opening_micro_joules_per_token: What a token costs more where no pass would run
            without it, µJ.
        kv_tokens: Tokens that its KV cache holds; None where it does not tell.
        kv_usage: Share of its KV cache that is in use, 0 to 1; None where it does not tell.
        predicted_ttft_ms: Time to the first token of one more request, on the side of caution,
            ms; where somebody has learnt to predict it.

    Raises:
        ValueError: A figure is negative or not finite.
    """

    in_flight: int = 0
    queued_tokens: int = 0
    p50_latency_ms: float | None = None
    p99_latency_ms: float | None = None
    micro_joules_per_token: int | None = None
    g_co2e_per_kwh: float | None = None
    energy_quality: Quality = Quality.DECLARED
    prefill_tokens_per_s: float | None = None
    carbon_quality: Quality = Quality.DECLARED
    marginal_micro_joules_per_token: float | None = None
    opening_micro_joules_per_token: float | None = None
    predicted_ttft_ms: float | None = None
    kv_tokens: int | None = None
    kv_usage: float | None = None

    def __post_init__(self) -> None:
        p50, p99 = self.p50_latency_ms, self.p99_latency_ms
        energy, carbon = self.micro_joules_per_token, self.g_co2e_per_kwh
        prefill = self.prefill_tokens_per_s
        marginal = self.marginal_micro_joules_per_token
        opening = self.opening_micro_joules_per_token
        if not (
            self.in_flight >= 0
            and self.queued_tokens >= 0
            and (p50 is None or 0 <= p50 < _INFINITY)
            and (p99 is None or 0 <= p99 < _INFINITY)
            and (energy is None or energy >= 0)
            and (carbon is None or 0 <= carbon < _INFINITY)
            and (prefill is None or 0 <= prefill < _INFINITY)
            and (marginal is None or 0 <= marginal < _INFINITY)
            and (opening is None or 0 <= opening < _INFINITY)
            and (self.kv_tokens is None or self.kv_tokens >= 0)
            and (self.kv_usage is None or 0 <= self.kv_usage < _INFINITY)
        ):
            raise ValueError(f"each figure of a load is at least 0 and finite: {self}")

    def idle(self) -> bool:
        """Return whether nothing runs and nothing waits."""
        return self.in_flight == 0 and self.queued_tokens == 0

    def busyness(self) -> float:
        """Return 4.0 x in_flight + 0.1 x queued_tokens; lower is less busy."""
        return IN_FLIGHT_WEIGHT * self.in_flight + QUEUED_TOKEN_WEIGHT * self.queued_tokens

    def projected_micro_joules(self, tokens: int) -> MicroJoules | None:
        """Return the exact energy of `tokens` tokens, µJ; None where it is not known."""
        if self.micro_joules_per_token is None:
            return None
        return MicroJoules(tokens * self.micro_joules_per_token)

    def projected_g_co2e(self, tokens: int) -> GramsCO2e | None:
        """Return the emissions of `tokens` tokens, gCO2e; None where they are not known."""
        micro_joules = self.projected_micro_joules(tokens)
        if micro_joules is None or self.g_co2e_per_kwh is None:
            return None
        return grams_co2e(micro_joules, self.g_co2e_per_kwh)


class Worker(Protocol):
    """What routing needs to know of a worker."""

    @property
    def id(self) -> str:
        """Name of the worker, unique in its cluster."""
        ...

    @property
    def capability(self) -> Capability:
        """What it can do."""
        ...

    @property
    def load(self) -> Load:
        """What it carries, as it knows itself at this instant."""
        ...


class ServingWorker(Worker, Protocol):
    """A worker that answers requests."""

    async def serve(self, request: HTTPRequest) -> HTTPResponse:
        """Answer a request of the OpenAI API.

        Cancelling the call, or closing the body of its response early, ends the work.

        Raises:
            WorkerFailed: There is no answer; its subclass says whether to try elsewhere.
        """
        ...


@runtime_checkable
class Watchable(Protocol):
    """A worker that tells when its load changes; others are asked by `Cluster.refresh`."""

    def watch(self, listener: Callable[[Load], None]) -> None:
        """Call `listener` with the load after each change."""
        ...

    def unwatch(self, listener: Callable[[Load], None]) -> None:
        """Stop calling `listener`; nothing happens if it was not watching."""
        ...


class InMemoryWorker:
    """A worker that is what it is told to be; for tests, simulations and examples."""

    def __init__(self, worker_id: str, capability: Capability, load: Load | None = None) -> None:
        self.id = worker_id
        self.capability = capability
        self._load = load if load is not None else Load()
        self._listeners: list[Callable[[Load], None]] = []

    @property
    def load(self) -> Load:
        return self._load

    def set_load(self, load: Load) -> None:
        """Replace the load and tell those who watch."""
        self._load = load
        for listener in tuple(self._listeners):
            listener(load)

    def watch(self, listener: Callable[[Load], None]) -> None:
        self._listeners.append(listener)

    def unwatch(self, listener: Callable[[Load], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def __repr__(self) -> str:
        return f"InMemoryWorker({self.id!r}, {self.capability!r}, {self._load!r})"
