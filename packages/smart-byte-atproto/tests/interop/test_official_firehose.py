"""The official server's stream, followed and fully verified while records are written."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import anyio
import pytest

from smart_byte_atproto.data.model import Value
from smart_byte_atproto.firehose.cursors import SQLiteCursors
from smart_byte_atproto.firehose.events import AccountEvent, CommitEvent, IdentityEvent
from smart_byte_atproto.firehose.follow import follow
from smart_byte_atproto.firehose.subscription import Backoff, Followed, Received
from smart_byte_atproto.firehose.verdict import Outcome, StreamVerifier
from smart_byte_atproto.identity.resolver import Resolver
from smart_byte_atproto.net.websocket import WebSocketTransport
from smart_byte_atproto.xrpc import AsyncClient

from .conftest import Official

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]

POSTS = "app.bsky.feed.post"


async def new_account(client: AsyncClient) -> str:
    name, password = f"u{secrets.token_hex(5)}", secrets.token_urlsafe(12)
    made = await client.procedure(
        "com.atproto.server.createAccount",
        {"handle": f"{name}.test", "email": f"{name}@example.test", "password": password},
    )
    await client.login(f"{name}.test", password)
    return str(made["did"])


async def write(client: AsyncClient, did: str, count: int) -> None:
    """Create, change and delete records."""
    for number in range(count):
        record: dict[str, Value] = {
            "$type": POSTS,
            "text": f"number {number}",
            "createdAt": "2026-01-01T00:00:00.000Z",
        }
        where: dict[str, Value] = {
            "repo": did,
            "collection": POSTS,
            "rkey": f"3jzfcijpj2z{'abcdefghij'[number]}2",
        }
        await client.procedure("com.atproto.repo.putRecord", where | {"record": record})
        if number % 3 == 0:
            changed = where | {"record": record | {"text": "changed"}}
            await client.procedure("com.atproto.repo.putRecord", changed)
        if number % 3 == 1:
            await client.procedure("com.atproto.repo.deleteRecord", where)


def verifier(official: Official) -> StreamVerifier:
    resolver = Resolver(directory=official.plc, local=True)
    return StreamVerifier(
        lambda did: resolver.document(did).signing_key(),
        refresh=lambda did: resolver.document(did, refresh=True).signing_key(),
    )


async def until(
    stream: AsyncIterator[Followed], did: str, commits: int, verify: StreamVerifier
) -> list[Received]:
    """Read until so many commits of an account have come; each frame must verify."""
    seen: list[Received] = []
    async for item in stream:
        if not isinstance(item, Received):
            continue
        verdict = await anyio.to_thread.run_sync(verify.verify, item.data)
        assert verdict.outcome in (Outcome.APPLIED, Outcome.IGNORED), verdict
        seen.append(item)
        mine = [one for one in seen if isinstance(one.event, CommitEvent) and one.event.repo == did]
        if len(mine) == commits:
            break
    return seen


async def test_every_frame_verifies_while_records_are_written(official: Official) -> None:
    verify = verifier(official)
    transport = WebSocketTransport(local=True)
    async with AsyncClient(official.pds, local=True) as client:
        did = await new_account(client)
        with anyio.fail_after(120):
            async with (
                follow(transport, official.pds, cursor=0, rng=Random(1)) as stream,
                anyio.create_task_group() as group,
            ):
                group.start_soon(write, client, did, 9)
                seen = await until(stream, did, 16, verify)
    events = [item.event for item in seen]
    assert any(isinstance(event, IdentityEvent) and event.did == did for event in events)
    assert any(isinstance(event, AccountEvent) and event.active for event in events)
    mine = [event for event in events if isinstance(event, CommitEvent) and event.repo == did]
    actions = [str(op.action) for event in mine for op in event.operations]
    assert {action: actions.count(action) for action in set(actions)} == {
        "create": 9,
        "update": 3,
        "delete": 3,
    }


async def test_the_cursor_survives_a_restart_of_the_server(
    official: Official, tmp_path: Path
) -> None:
    verify = verifier(official)
    transport = WebSocketTransport(local=True)
    quick = Backoff(base_s=0.1, most_s=1.0)
    with SQLiteCursors(tmp_path / "cursors") as cursors, anyio.fail_after(180):
        async with AsyncClient(official.pds, local=True) as client:
            did = await new_account(client)
            await write(client, did, 1)
            async with follow(
                transport, official.pds, cursor=0, cursors=cursors, backoff=quick
            ) as stream:
                before = await until(stream, did, 2, verify)
            await anyio.to_thread.run_sync(official.restart)
            await write(client, did, 1)
            async with follow(transport, official.pds, cursors=cursors, backoff=quick) as stream:
                after = await until(stream, did, 2, verify)
    assert after[0].seq is not None
    assert before[-2].seq is not None
    # The last one before was not handled to its end and comes again; nothing is missing.
    assert after[0].seq == before[-1].seq


def test_the_command_follows_and_verifies(official: Official) -> None:
    command = ("firehose", "tail", official.pds, "--plc", official.plc, "--local", "--cursor", "0")
    done = subprocess.run(
        [sys.executable, "-m", "smart_byte_atproto", *command, "--verify", "--count", "5"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    assert all("applied" in line for line in lines), lines
