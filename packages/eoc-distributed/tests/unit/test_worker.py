from __future__ import annotations

import math
from typing import Any

import pytest

from eoc_distributed import Accelerator, Capability, InMemoryWorker, Load


def test_accelerator_tags_are_the_five_of_the_mission() -> None:
    assert [accelerator.tag for accelerator in Accelerator] == ["cpu", "gpu", "tpu", "npu", "mixed"]


def test_capability_serves_exactly_its_models() -> None:
    capability = Capability(["llama", "qwen"], Accelerator.TPU, 4)
    assert capability.serves("llama")
    assert not capability.serves("Llama")
    assert not capability.serves("lla")


def test_capability_refuses_a_single_string_as_models() -> None:
    with pytest.raises(TypeError, match="one string"):
        Capability("llama")


def test_capability_refuses_a_concurrency_below_one() -> None:
    with pytest.raises(ValueError, match="max_concurrency"):
        Capability({"m"}, max_concurrency=0)


def test_busyness_to_the_digit() -> None:
    assert Load(in_flight=3, queued_tokens=250).busyness() == 4.0 * 3 + 0.1 * 250
    assert Load(in_flight=1).busyness() == 4.0
    assert Load(queued_tokens=10).busyness() == 1.0


def test_idle_means_nothing_runs_and_nothing_waits() -> None:
    assert Load().idle()
    assert Load(p50_latency_ms=12.0, micro_joules_per_token=5).idle()
    assert not Load(in_flight=1).idle()
    assert not Load(queued_tokens=1).idle()


def test_projected_energy_is_an_exact_integer() -> None:
    load = Load(micro_joules_per_token=123_456_789)
    projected = load.projected_micro_joules(10**12 + 1)
    assert projected == 123_456_789 * (10**12 + 1)
    assert isinstance(projected, int)


def test_projected_emissions_to_the_digit() -> None:
    load = Load(micro_joules_per_token=455_000, g_co2e_per_kwh=565.0)
    assert load.projected_g_co2e(1000) == 455_000 * 1000 / 1e6 / 3.6e6 * 565.0


def test_what_is_missing_stays_missing() -> None:
    assert Load().projected_micro_joules(10) is None
    assert Load(g_co2e_per_kwh=30.0).projected_g_co2e(10) is None
    assert Load(micro_joules_per_token=5).projected_g_co2e(10) is None


def test_a_figure_of_zero_is_a_figure() -> None:
    load = Load(micro_joules_per_token=0, g_co2e_per_kwh=0.0)
    assert load.projected_micro_joules(10) == 0
    assert load.projected_g_co2e(10) == 0.0


@pytest.mark.parametrize(
    "figures",
    [
        {"in_flight": -1},
        {"queued_tokens": -1},
        {"p50_latency_ms": math.nan},
        {"p99_latency_ms": math.inf},
        {"micro_joules_per_token": -1},
        {"g_co2e_per_kwh": -0.1},
        {"g_co2e_per_kwh": math.nan},
        {"prefill_tokens_per_s": math.inf},
    ],
)
def test_load_refuses_figures_that_cannot_be(figures: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 0 and finite"):
        Load(**figures)


def test_a_load_does_not_change() -> None:
    with pytest.raises(AttributeError):
        Load().in_flight = 3  # type: ignore[misc]


def test_in_memory_worker_is_what_it_is_told_and_tells_who_watches() -> None:
    worker = InMemoryWorker("w", Capability({"m"}))
    seen: list[Load] = []
    worker.watch(seen.append)
    worker.set_load(Load(in_flight=2))
    assert worker.load.in_flight == 2
    worker.unwatch(seen.append)
    worker.set_load(Load(in_flight=3))
    assert [load.in_flight for load in seen] == [2]
