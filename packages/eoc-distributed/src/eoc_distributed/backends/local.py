"""Engines on the usual ports of this machine."""

from __future__ import annotations

import asyncio

from eoc_distributed.config import UpstreamLimits, WorkerConfig
from eoc_distributed.errors import WorkerFailed
from eoc_distributed.worker import Capability

from . import REGISTRY
from .address import Address
from .detect import Found, detect
from .http_worker import HTTPWorker

_LIMITS = UpstreamLimits(connect_timeout_s=1.0, first_byte_timeout_s=2.0)


def usual_ports() -> dict[int, tuple[str, ...]]:
    """Return each port on which an engine listens by default, and which engines do."""
    ports: dict[int, tuple[str, ...]] = {}
    for engine in REGISTRY.values():
        for port in engine.ports:
            ports[port] = (*ports.get(port, ()), engine.name)
    return ports


async def find_local(ports: tuple[int, ...]) -> list[tuple[WorkerConfig, Found]]:
    """Return the engines that answer at ports of 127.0.0.1, by port; takes seconds at most."""

    async def look(port: int) -> tuple[WorkerConfig, Found] | None:
        worker = HTTPWorker(
            f"127.0.0.1:{port}",
            address=Address("http", "127.0.0.1", port, ""),
            capability=Capability(()),
            limits=_LIMITS,
        )
        try:
            found = await detect(worker, engine=None, timeout_s=2.0)
        except WorkerFailed:
            return None
        finally:
            worker.close()
        config = WorkerConfig(url=str(worker.address), engine=found.backend.name)
        return (config, found) if found.models else None

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(look(port)) for port in sorted(ports)]
    return [found for task in tasks if (found := task.result()) is not None]
