from __future__ import annotations

from pathlib import Path

import pytest

from eoc_distributed.backends import REGISTRY, Backend, EngineLoad, backend
from eoc_distributed.backends.local import usual_ports
from eoc_distributed.backends.metrics_text import parse_metrics
from eoc_distributed.errors import UnknownPlugin

PROBES = {
    "vllm": b'{"version":"0.32.0"}',
    "sglang": b'{"model_path":"m","is_generation":true}',
    "tgi": b'{"model_id":"m","max_total_tokens":4096}',
    "triton": b"",
    "llama-cpp": b'{"default_generation_settings":{},"total_slots":4}',
    "ollama": b"Ollama is running",
    "openai": b'{"object":"list","data":[]}',
}
PAGES = {
    "vllm": (
        (
            'vllm:num_requests_running{engine="0"} 2\n'
            'vllm:num_requests_running{engine="1"} 3\n'
            'vllm:num_requests_waiting{engine="0"} 1\nvllm:kv_cache_usage_perc{engine="0"} 0.5\n'
            'vllm:kv_cache_usage_perc{engine="1"} 0.75\n'
            'vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="1000"} 1\n'
            'vllm:cache_config_info{engine="1",block_size="16",num_gpu_blocks="500"} 1\n'
        ),
        EngineLoad(running=5, waiting=1, kv_tokens=24_000, kv_usage=0.75),
    ),
    "sglang": (
        (
            "sglang:num_running_reqs 2\nsglang:num_queue_reqs 4\nsglang:token_usage 0.25\n"
            "sglang:max_total_num_tokens 40000\n"
        ),
        EngineLoad(running=2, waiting=4, kv_tokens=40_000, kv_usage=0.25),
    ),
    "tgi": (
        "tgi_batch_current_size 3\ntgi_queue_size 1\n",
        EngineLoad(running=3, waiting=1),
    ),
    "triton": (
        (
            'nv_energy_consumption{gpu_uuid="a"} 10.5\nnv_energy_consumption{gpu_uuid="b"} 2\n'
            "nv_inference_pending_request_count 6\n"
        ),
        EngineLoad(waiting=6, joules=12.5),
    ),
    "llama-cpp": (
        "llamacpp:requests_processing 1\nllamacpp:requests_deferred 2\n",
        EngineLoad(running=1, waiting=2),
    ),
    "ollama": ("", EngineLoad()),
    "openai": ("", EngineLoad()),
}


@pytest.fixture(params=list(REGISTRY.values()), ids=list(REGISTRY))
def engine(request: pytest.FixtureRequest) -> Backend:
    made: Backend = request.param
    return made


def test_an_engine_recognises_its_own_answer(engine: Backend) -> None:
    assert engine.recognises(200, PROBES[engine.name])
    assert not engine.recognises(404, PROBES[engine.name])


@pytest.mark.parametrize("body", [b"[" * 9999, b"\xff", b"null", b"[]"])
def test_an_engine_is_not_taken_for_another_by_rubbish(engine: Backend, body: bytes) -> None:
    assert engine.recognises(200, body) == (engine.name == "triton")


def test_what_metrics_do_not_say_stays_unknown(engine: Backend) -> None:
    samples = parse_metrics("")
    assert samples is not None
    assert engine.load(samples) == EngineLoad()
    assert engine.load(samples).in_flight is None


def test_metrics_are_read(engine: Backend) -> None:
    text, load = PAGES[engine.name]
    samples = parse_metrics(text)
    assert samples is not None
    assert engine.load(samples) == load


@pytest.mark.parametrize(
    "labels",
    [
        'block_size="16",num_gpu_blocks="None"',
        'block_size="16"',
        'block_size="16",num_gpu_blocks="-1"',
        'block_size="1e3",num_gpu_blocks="1"',
        'block_size="16",num_gpu_blocks="' + "9" * 400 + '"',
        'block_size="9999999999",num_gpu_blocks="9999999999"',
    ],
)
def test_a_capacity_that_is_none_stays_unknown(labels: str) -> None:
    samples = parse_metrics(f"vllm:cache_config_info{{{labels}}} 1\n")
    assert samples is not None
    assert backend("vllm").load(samples).kv_tokens is None


def test_paths_ports_and_hints_are_given(engine: Backend) -> None:
    assert engine.probe_path.startswith("/")
    assert engine.health_path.startswith("/")
    assert engine.start_hint


def test_the_last_is_any_server() -> None:
    assert list(REGISTRY)[-1] == "openai"


def test_usual_ports_name_their_engines() -> None:
    assert usual_ports()[8080] == ("tgi", "llama-cpp")
    assert set(usual_ports()) == {8000, 30000, 8080, 3000, 11434, 9000}


def test_an_unknown_engine_is_named_with_those_that_are_known() -> None:
    with pytest.raises(UnknownPlugin, match="vllm"):
        backend("nope")


@pytest.mark.parametrize("text", ["{", 'a{b="c} 1', "a b c d", "a{} x"])
def test_a_page_that_is_none_is_no_page(text: str) -> None:
    assert parse_metrics(text) is None


def test_values_that_are_not_finite_are_left_out() -> None:
    samples = parse_metrics("a NaN\nb +Inf\n")
    assert samples is not None
    assert samples.total("a") is None
    assert samples.largest("b") is None


def test_a_real_page_of_vllm_is_read(shared: Path) -> None:
    page = shared / "data/inference/samples/vllm_0.32.0_cpu_metrics.txt"
    samples = parse_metrics(page.read_text())
    assert samples is not None
    assert REGISTRY["vllm"].load(samples) == EngineLoad(
        running=0,
        waiting=0,
        kv_tokens=1_048_576,
        kv_usage=0.0,
        prompt_tokens=396,
        completion_tokens=18,
    )
