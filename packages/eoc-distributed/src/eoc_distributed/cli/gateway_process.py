"""The gateway as a process: from a configuration to a server that drains on a signal."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random

from eoc_distributed.backends import REGISTRY
from eoc_distributed.backends.local import find_local, usual_ports
from eoc_distributed.backends.watch import Watched, watch, watch_all
from eoc_distributed.carbon import Annual, CarbonSource, read_hourly
from eoc_distributed.cluster import Cluster
from eoc_distributed.config import GatewayConfig, WorkerConfig
from eoc_distributed.errors import ConfigError
from eoc_distributed.gateway import Gateway, Server
from eoc_distributed.routing import create
from eoc_distributed.telemetry.log_line import log_line
from eoc_distributed.telemetry.record import RequestRecord

CARBON_INTERVAL_S = 60.0
"""Between two looks at the zones' intensities; figures are hourly or older."""
Say = Callable[[str], None]
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the event loop; None for the standard library's.

    Args:
        name: `asyncio`, `uvloop`, or `auto` for uvloop where it is installed.

    Raises:
        ConfigError: uvloop is wanted and not installed.
    """
    if name == "asyncio":
        return None
    try:
        import uvloop  # noqa: PLC0415 - an extra
    except ImportError as error:
        if name == "auto":
            return None
        raise ConfigError("--loop", "uvloop is in the extra eoc-distributed[fast]") from error
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def serve(config: GatewayConfig, *, say: Say, show_requests: bool = False) -> None:
    """Serve until a signal comes, then drain; a second signal cuts what still runs.

    Args:
        config: What to serve.
        say: Prints one line; among them `listening on http://HOST:PORT`.
        show_requests: Whether to print a line for each request to standard error.

    Raises:
        ConfigError: The configuration is wrong, or the port cannot be had.
    """
    loop = asyncio.get_running_loop()
    say = _unfailing(say)
    workers = config.workers or await _look_around(say)
    stop, hurry = asyncio.Event(), asyncio.Event()

    def on_signal() -> None:
        (hurry if stop.is_set() else stop).set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal)
    rng = Random()  # noqa: S311 - balances load; seeded by the system
    gateway = make_gateway(config, rng=rng, on_record=_printer() if show_requests else None)
    watched = watch_all(
        workers, gateway=gateway, watch_config=config.watch, upstream=config.upstream
    )
    follow_carbon = partial(
        set_intensities,
        gateway.cluster,
        {config.zone for config in workers if config.zone is not None},
        _carbon_sources(config),
    )
    follow_carbon(at=datetime.now(UTC))
    for zone in unknown_zones(workers, _carbon_sources(config), at=datetime.now(UTC)):
        say(f"carbon intensity of zone {zone} is unknown; give it with g_per_kwh= or --carbon")
    try:
        async with Server(
            gateway, host=config.host, port=config.port, limits=config.limits
        ) as server:
            _settle_memory()
            say(f"listening on {server.url}")
            await _until_stopped(stop, watched, follow_carbon, rng)
            gateway.draining = True
            if config.drain.notice_s:
                with suppress(TimeoutError):
                    async with asyncio.timeout(config.drain.notice_s):
                        await hurry.wait()
            say(f"draining {len(server.connections)} connections")
            cut = await _drain(server, config.drain.timeout_s, hurry)
            say(f"stopped, {cut} connections cut" if cut else "stopped")
    except OSError as error:
        where = f"{config.host}:{config.port}"
        raise ConfigError(where, f"cannot listen: {error.strerror or error}") from error
    finally:
        for one in watched:
            one.close()


def make_gateway(
    config: GatewayConfig,
    *,
    rng: Random,
    on_record: Callable[[RequestRecord], None] | None = None,
) -> Gateway:
    """Return a gateway with an empty cluster.

    Raises:
        UnknownPlugin: No router has the name that is configured.
    """
    router = config.router
    return Gateway(
        Cluster(),
        new_router=lambda: create(router.name, rng=rng, ttft_objective_ms=router.ttft_objective_ms),
        on_record=on_record,
        admission=config.admission,
    )


def _settle_memory() -> None:
    """Keep the collector of reference cycles off the path of requests.

    Requests leave next to no cycles; looking at everything the imports made, every few
    hundred allocations, costs 5 to 10 % of the CPU (measured).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def _until_stopped(
    stop: asyncio.Event,
    watched: tuple[Watched, ...],
    follow_carbon: Callable[..., None],
    rng: Random,
) -> None:
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch(watched, rng=rng))
        following = group.create_task(_again_and_again(follow_carbon))
        await stop.wait()
        watching.cancel()
        following.cancel()


async def _again_and_again(follow_carbon: Callable[..., None]) -> None:
    """Keep the zones' intensities those of the hour, until cancelled."""
    while True:
        await asyncio.sleep(CARBON_INTERVAL_S)
        follow_carbon(at=datetime.now(UTC))


async def _look_around(say: Say) -> tuple[WorkerConfig, ...]:
    """Look for engines on this machine, and say what is there or how to start one.

    Raises:
        ConfigError: There is none.
    """
    ports = usual_ports()
    found = await find_local(tuple(ports))
    for config, engine in found:
        models = ", ".join(engine.models)
        say(f"found {engine.backend.name} at {config.url}: {models}")
    if not found:
        looked = ", ".join(f"{port} ({'/'.join(names)})" for port, names in sorted(ports.items()))
        hints = "\n".join(f"  {engine.start_hint}" for engine in REGISTRY.values())
        raise ConfigError(
            "no worker",
            f"no engine answers on ports {looked} of 127.0.0.1.\n"
            f"Name one with --worker http://HOST:PORT, start one, for example\n{hints}\n"
            "or see simulated workers at work with: eoc demo",
        )
    return tuple(config for config, _ in found)


def _carbon_sources(config: GatewayConfig) -> tuple[CarbonSource, ...]:
    """Return where intensities come from, the best first."""
    if config.carbon_file is None:
        return (Annual(),)
    return (read_hourly(Path(config.carbon_file)), Annual())


def set_intensities(
    cluster: Cluster, zones: Iterable[str], sources: tuple[CarbonSource, ...], *, at: datetime
) -> None:
    """Give each zone its intensity at an instant, from the first source that knows it."""
    for zone in zones:
        known = (source.intensity(zone, at) for source in sources)
        intensity = next((figure for figure in known if figure is not None), None)
        if intensity is not None:
            cluster.set_intensity(zone, intensity.g_per_kwh, quality=intensity.quality)


def unknown_zones(
    workers: Iterable[WorkerConfig], sources: tuple[CarbonSource, ...], *, at: datetime
) -> list[str]:
    """Return the zones of workers without a figure of their own that no source knows."""
    zones = {one.zone for one in workers if one.zone is not None and one.g_co2e_per_kwh is None}
    return [
        zone for zone in sorted(zones) if all(one.intensity(zone, at) is None for one in sources)
    ]


async def _drain(server: Server, timeout_s: float, hurry: asyncio.Event) -> int:
    """Let running answers end until time or patience does; return how many were cut."""
    draining = asyncio.ensure_future(server.drain(timeout_s))
    hurrying = asyncio.ensure_future(hurry.wait())
    try:
        await asyncio.wait((draining, hurrying), return_when=asyncio.FIRST_COMPLETED)
        if draining.done():
            return draining.result()
    finally:
        hurrying.cancel()
        draining.cancel()
    return await server.drain(0.0)


def _unfailing(say: Say) -> Say:
    """Return what says a line for as long as somebody listens, and never raises."""

    def said(line: str) -> None:
        try:
            say(line)
            sys.stdout.flush()
        except (OSError, ValueError):  # a closed pipe, a terminal that is gone
            with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), sys.stdout.fileno())

    return said


def _printer() -> Callable[[RequestRecord], None]:
    """Return what prints a request's line to standard error, until that fails once."""
    printing = True

    def printed(record: RequestRecord) -> None:
        nonlocal printing
        if printing:
            try:
                sys.stderr.write(log_line(record) + "\n")
            except (OSError, ValueError):
                printing = False  # the terminal is gone; answers are not to suffer

    return printed
