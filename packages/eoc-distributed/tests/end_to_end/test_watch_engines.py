from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from eoc_distributed import Cluster, Quality
from eoc_distributed.backends.local import find_local
from eoc_distributed.backends.watch import Watched, watch_all
from eoc_distributed.clock import ManualClock
from eoc_distributed.config import UpstreamLimits, WatchConfig, WorkerConfig
from eoc_distributed.energy.accounting import RequestCost
from eoc_distributed.errors import ConfigError, WorkerFailed
from eoc_distributed.gateway import Gateway, Server
from eoc_distributed.gateway.body import Whole
from eoc_distributed.gateway.refusals import json_response
from eoc_distributed.http import HTTPRequest, HTTPResponse
from eoc_distributed.routing import create
from eoc_distributed.testing.engine import MockEngine

pytestmark = pytest.mark.end_to_end


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def gateway(clock: ManualClock) -> Gateway:
    return Gateway(Cluster(clock=clock), new_router=lambda: create("least-busy", rng=Random(1)))


@pytest.fixture
async def mock() -> AsyncIterator[tuple[MockEngine, str]]:
    engine = MockEngine("tiny")
    async with Server(engine) as server:
        yield engine, server.url


def watched(gateway: Gateway, *configs: WorkerConfig) -> tuple[Watched, ...]:
    return watch_all(
        configs,
        gateway=gateway,
        watch_config=WatchConfig(interval_s=0.01, timeout_s=5.0),
        upstream=UpstreamLimits(),
        environment={"KEY": "secret"},
    )


async def test_an_engine_is_recognised_and_joins_with_its_models(
    gateway: Gateway, mock: tuple[MockEngine, str]
) -> None:
    engine, url = mock
    (one,) = watched(gateway, WorkerConfig(url=url, id="w", zone="FR", micro_joules_per_token=3))
    assert set(gateway.awaited) == {url}
    engine.running = 4
    await one.look()
    one.close()
    assert not gateway.awaited
    member = gateway.cluster["w"]
    assert member.models == {"tiny"}
    load = gateway.cluster.load_of("w")
    assert (load.in_flight, load.micro_joules_per_token) == (4, 3)
    assert load.energy_quality is Quality.DECLARED


async def test_an_engine_with_other_models_joins_anew(
    gateway: Gateway, mock: tuple[MockEngine, str]
) -> None:
    engine, url = mock
    (one,) = watched(gateway, WorkerConfig(url=url))
    await one.look()
    engine.model = "other"
    await one.look()
    one.close()
    assert list(gateway.cluster.models) == ["other"]
    assert len(gateway.cluster) == 1


async def test_an_engine_that_is_not_there_fails_the_look(gateway: Gateway) -> None:
    async with Server(MockEngine()) as server:
        url = server.url
    (one,) = watched(gateway, WorkerConfig(url=url, models=("m",)))
    with pytest.raises(WorkerFailed):
        await one.look()
    assert len(gateway.cluster) == 1


async def test_energy_that_an_engine_measures_replaces_what_was_declared(
    gateway: Gateway, clock: ManualClock
) -> None:
    joules = 100.0

    async def triton(request: HTTPRequest) -> HTTPResponse:
        if request.path == "/v1/models":
            return json_response(b'{"object":"list","data":[{"id":"m"}]}')
        if request.path == "/metrics":
            text = b"nv_energy_consumption %f\n" % joules
            return HTTPResponse(200, ((b"content-length", b"%d" % len(text)),), Whole(text))
        return json_response(b"{}")

    async with Server(triton) as server:
        config = WorkerConfig(url=server.url, id="t", engine="triton", micro_joules_per_token=1)
        (one,) = watched(gateway, config)
        await one.look()
        gateway.ledger.charge("t", RequestCost(600, 400, None, None))
        joules = 150.0
        clock.advance(10.0)
        await one.look()
        one.close()
    load = gateway.cluster.load_of("t")
    assert load.micro_joules_per_token == 50_000
    assert load.energy_quality is Quality.MEASURED


async def test_engines_are_found_at_local_ports(mock: tuple[MockEngine, str]) -> None:
    _, url = mock
    async with Server(MockEngine()) as closed:
        unused = closed.port
    ((config, found),) = await find_local((int(url.rsplit(":", 1)[1]), unused))
    assert config == WorkerConfig(url=url, engine="vllm")
    assert found.models == ("tiny",)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (WorkerConfig(url="http://a", accelerator="abacus"), "abacus"),
        (WorkerConfig(url="http://a", engine="steam"), "steam"),
        (WorkerConfig(url="http://a", id="a b"), "printable"),
        (WorkerConfig(url="http://a", api_key_env="NONE"), "NONE is not set"),
    ],
)
def test_a_wrong_configuration_is_refused(
    gateway: Gateway, config: WorkerConfig, says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        watched(gateway, config)


def test_two_workers_of_one_id_are_refused(gateway: Gateway) -> None:
    with pytest.raises(ConfigError, match="two workers"):
        watched(gateway, WorkerConfig(url="http://a"), WorkerConfig(url="http://a"))


async def test_the_engines_key_replaces_the_clients(
    gateway: Gateway, mock: tuple[MockEngine, str]
) -> None:
    engine, url = mock
    (one,) = watched(gateway, WorkerConfig(url=url, models=("tiny",), api_key_env="KEY"))
    body = b'{"model":"tiny"}'
    headers = ((b"authorization", b"Bearer client"),)
    await gateway(HTTPRequest("POST", "/v1/chat/completions", headers, body))
    one.close()
    assert engine.requests[-1].header(b"authorization") == b"Bearer secret"


async def test_energy_that_a_meter_measures_replaces_what_was_declared(
    gateway: Gateway, clock: ManualClock, mock: tuple[MockEngine, str], tmp_path: Path
) -> None:
    zone = tmp_path / "intel-rapl:0"
    zone.mkdir()
    (zone / "name").write_text("package-0")
    (zone / "max_energy_range_uj").write_text("999999999999")
    (zone / "energy_uj").write_text("1000000")
    config = WorkerConfig(url=mock[1], id="w", micro_joules_per_token=3, meter=f"rapl:{tmp_path}")
    (one,) = watched(gateway, config)
    await one.look()
    gateway.ledger.charge("w", RequestCost(60, 40, None, None))
    (zone / "energy_uj").write_text("8000000")
    clock.advance(10.0)
    await one.look()
    load = gateway.cluster.load_of("w")
    assert (load.micro_joules_per_token, load.energy_quality) == (70_000, Quality.MEASURED)
    (zone / "energy_uj").unlink()
    await one.look()
    one.close()
    assert gateway.cluster.load_of("w").micro_joules_per_token == 70_000


def test_two_engines_on_one_meter_are_refused(gateway: Gateway) -> None:
    configs = [
        WorkerConfig(url=f"http://127.0.0.1:{port}", models=("m",), meter="nvml:0")
        for port in (1, 2)
    ]
    with pytest.raises(ConfigError, match="tell their energy apart"):
        watched(gateway, *configs)


async def test_what_an_engine_tells_no_more_is_unknown(
    gateway: Gateway, mock: tuple[MockEngine, str]
) -> None:
    engine, url = mock
    (one,) = watched(gateway, WorkerConfig(url=url, id="w", engine="vllm"))
    engine.running = 4
    await one.look()
    assert gateway.cluster.load_of("w").in_flight == 4
    engine.has_metrics = False
    await one.look()
    one.close()
    assert gateway.cluster.load_of("w").in_flight == 0


@pytest.mark.parametrize(
    "page",
    [
        b'vllm:num_requests_running{a="1"} 1e308\nvllm:num_requests_running{a="2"} 1e308\n',
        b"vllm:num_requests_running NaN\n",
        b"vllm:num_requests_running -1\n",
        b"vllm:num_requests_running 1e300\n",
        b"\xff\xfe not text",
    ],
)
async def test_an_engine_whose_figures_are_absurd_has_none(gateway: Gateway, page: bytes) -> None:
    async def absurd(request: HTTPRequest) -> HTTPResponse:
        if request.path == "/metrics":
            return HTTPResponse(200, ((b"content-length", b"%d" % len(page)),), Whole(page))
        return json_response(b'{"object":"list","data":[{"id":"m"}]}')

    async with Server(absurd) as server:
        (one,) = watched(gateway, WorkerConfig(url=server.url, id="w", engine="vllm"))
        await one.look()
        one.close()
    assert gateway.cluster.load_of("w").in_flight == 0


@pytest.mark.parametrize(("usage", "known"), [(b"0.5", 0.5), (b"1.5", None), (b"-1", None)])
async def test_what_a_kv_cache_holds_and_how_full_it_is_are_learnt(
    gateway: Gateway, usage: bytes, known: float | None
) -> None:
    page = (
        b'vllm:cache_config_info{block_size="16",num_gpu_blocks="10"} 1\n'
        b"vllm:kv_cache_usage_perc %b\n" % usage
    )

    async def engine(request: HTTPRequest) -> HTTPResponse:
        if request.path == "/metrics":
            return HTTPResponse(200, ((b"content-length", b"%d" % len(page)),), Whole(page))
        return json_response(b'{"object":"list","data":[{"id":"m"}]}')

    async with Server(engine) as server:
        (one,) = watched(gateway, WorkerConfig(url=server.url, id="w", engine="vllm"))
        await one.look()
        one.close()
    load = gateway.cluster.load_of("w")
    assert (load.kv_tokens, load.kv_usage) == (160, known)
    gateway.cluster.begin("w", tokens=160)
    assert gateway.cluster.refusals("m")["w"].startswith("KV cache full")


async def test_a_look_that_fails_in_an_unforeseen_way_speaks_against_its_worker_alone(
    gateway: Gateway, mock: tuple[MockEngine, str], caplog: pytest.LogCaptureFixture
) -> None:
    (one,) = watched(gateway, WorkerConfig(url=mock[1], id="w", models=("tiny",)))
    unhealthy = asyncio.Event()

    async def broken_look() -> None:
        if not gateway.cluster["w"].healthy:
            unhealthy.set()
        raise RuntimeError("unforeseen")

    one.look = broken_look  # type: ignore[method-assign]
    async with asyncio.TaskGroup() as group:
        running = group.create_task(one.run(Random(1)))
        await unhealthy.wait()
        running.cancel()
    one.close()
    assert gateway.cluster["w"].unhealthy_reason == "unforeseen"
    assert "unforeseen" in caplog.text


async def test_an_engine_that_is_awaited_says_why_to_clients(gateway: Gateway) -> None:
    async def locked(request: HTTPRequest) -> HTTPResponse:
        return json_response(b"{}", status=401)

    async with Server(locked) as server:
        (one,) = watched(gateway, WorkerConfig(url=server.url))
        with pytest.raises(WorkerFailed) as refused:
            await one.look()
        one.note_failure(str(refused.value), failures=1)
        one.close()
    body = b'{"model":"m"}'
    response = await gateway(HTTPRequest("POST", "/v1/chat/completions", (), body))
    assert response.status == 503
    assert b"/v1/models answered 401" in b"".join([piece async for piece in response.body])
