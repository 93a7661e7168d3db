from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from eoc_distributed.gateway import Server
from eoc_distributed.testing.engine import MockEngine

pytestmark = pytest.mark.end_to_end

Start = Callable[..., AbstractAsyncContextManager[Any]]
BODY = b'{"model":"tiny","stream":true,"max_tokens":100000}'
ASK = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (
    len(BODY),
    BODY,
)


async def test_a_second_signal_cuts_a_drain(
    engine: tuple[MockEngine, str], start_gateway: Start
) -> None:
    mock, url = engine
    mock.token_s = 0.02
    async with (
        asyncio.timeout(30),
        start_gateway("--worker", f"{url},model=tiny", "--drain-timeout-s", "600") as gateway,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(ASK)
        await reader.readuntil(b"data: ")
        gateway.process.send_signal(signal.SIGTERM)
        assert await gateway.next_line() == "draining 1 connections"
        gateway.process.send_signal(signal.SIGINT)
        assert await gateway.next_line() == "stopped, 1 connections cut"
        assert await gateway.process.wait() == 0
        writer.close()


async def test_a_port_in_use_is_said_without_a_traceback(start_gateway: Start) -> None:
    async with Server(MockEngine()) as taken:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "eoc_distributed", "serve", "--port", str(taken.port)),
            *("--worker", f"{taken.url},model=m"),
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await process.communicate()
    assert process.returncode == 1
    assert b"cannot listen" in errors
    assert b"Traceback" not in errors


async def test_a_closed_standard_output_does_not_end_the_drain_early(
    engine: tuple[MockEngine, str],
) -> None:
    mock, url = engine
    mock.token_s = 0.02
    ours, theirs = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "eoc_distributed", "serve", "--port", "0"),
        *("--worker", f"{url},model=tiny", "--quiet"),
        stdout=theirs,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(theirs)
    line = await asyncio.to_thread(os.read, ours, 200)
    os.close(ours)
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(line.rsplit(b":")[-1]))
        writer.write(ASK.replace(b"100000", b"    30"))
        await reader.readuntil(b"data: ")
        process.send_signal(signal.SIGTERM)
        assert (await reader.read()).endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")
        _, errors = await process.communicate()
    writer.close()
    assert process.returncode == 0
    assert errors == b""
