from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from eoc_distributed.gateway import Server
from eoc_distributed.testing.engine import MockEngine


class GatewayProcess:
    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.url = url

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    async def next_line(self) -> str:
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().strip()


Start = Callable[..., AbstractAsyncContextManager[GatewayProcess]]


@asynccontextmanager
async def _start(*options: str) -> AsyncIterator[GatewayProcess]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "eoc_distributed", "serve", "--port", "0", *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            line = ""
            while not line.startswith("listening on "):
                raw = await process.stdout.readline()
                if not raw:
                    assert process.stderr is not None
                    pytest.fail((await process.stderr.read()).decode())
                line = raw.decode().strip()
        yield GatewayProcess(process, line.removeprefix("listening on "))
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.fixture
def start_gateway() -> Start:
    return _start


@pytest.fixture
async def engine() -> AsyncIterator[tuple[MockEngine, str]]:
    mock = MockEngine("tiny", tokens=5)
    async with Server(mock) as server:
        yield mock, server.url
