"""More requests than an engine may have at once, over real sockets."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from eoc_distributed.gateway import Server
from eoc_distributed.http import HTTPRequest, HTTPResponse
from eoc_distributed.testing.engine import MockEngine

pytestmark = pytest.mark.end_to_end

Start = Callable[..., AbstractAsyncContextManager[Any]]
ASKED = 12


class Counting(MockEngine):
    """Knows how many answers it had in the making at most."""

    most = 0

    async def __call__(self, request: HTTPRequest) -> HTTPResponse:
        answer = asyncio.ensure_future(super().__call__(request))
        await asyncio.sleep(0)
        self.most = max(self.most, self.running)
        return await answer


async def ask_all(url: str) -> Counter[int]:
    body = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}]}
    async with httpx2.AsyncClient(timeout=20, trust_env=False) as client:
        posts = [client.post(f"{url}/v1/chat/completions", json=body) for _ in range(ASKED)]
        return Counter(answer.status_code for answer in await asyncio.gather(*posts))


@pytest.mark.parametrize(("waiting", "refused"), [(256, 0), (4, 6), (0, 10)])
async def test_what_does_not_fit_waits_and_what_does_not_fit_there_is_refused(
    waiting: int, refused: int, start_gateway: Start, tmp_path: Path
) -> None:
    engine = Counting("tiny", tokens=5, token_s=0.1)
    async with Server(engine) as server:
        config = tmp_path / "eoc.toml"
        config.write_text(
            f'[[workers]]\nurl = "{server.url}"\nmodels = ["tiny"]\nmax_concurrency = 2\n'
            f"[admission]\nwaiting = {waiting}\n"
        )
        async with start_gateway("--config", str(config)) as gateway:
            statuses = await ask_all(gateway.url)
    assert statuses == Counter({200: ASKED - refused, 429: refused})
    assert engine.most == 2
