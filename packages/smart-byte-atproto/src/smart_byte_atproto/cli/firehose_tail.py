"""`smart-byte firehose tail`: the live stream of a host, as lines."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from pathlib import Path

import anyio
import click

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.errors import ATProtoError, InvalidDocument
from smart_byte_atproto.firehose.cursors import SQLiteCursors
from smart_byte_atproto.firehose.events import (
    AccountEvent,
    CommitEvent,
    IdentityEvent,
    InfoEvent,
    SyncEvent,
)
from smart_byte_atproto.firehose.follow import follow
from smart_byte_atproto.firehose.subscription import Received, Reconnected
from smart_byte_atproto.firehose.verdict import StreamVerifier, Verdict
from smart_byte_atproto.identity.resolver import Resolver
from smart_byte_atproto.net.websocket import WebSocketTransport

from .clock import latest_rev
from .network_options import network_options

_REFRESH_S = 60.0
_REFRESHED = 10_000


@click.command("tail")
@click.argument("service", metavar="URL")
@click.option("--cursor", type=click.IntRange(min=0), help="Begin after this sequence.")
@click.option(
    "--keep",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the cursor in this SQLite file, and go on from there the next time.",
)
@click.option("--collection", "collections", metavar="NSID", multiple=True, help="Only these.")
@click.option("--verify", is_flag=True, help="Verify every frame, and say what became of it.")
@click.option("--count", type=click.IntRange(min=1), help="End after so many lines.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@network_options
def tail(
    *,
    service: str,
    cursor: int | None,
    keep: Path | None,
    collections: tuple[str, ...],
    verify: bool,
    count: int | None,
    as_json: bool,
    plc: str,
    local: bool,
) -> None:
    """Follow the event stream of the host at URL until it is interrupted.

    A line for each event: sequence, type, account, revision, operations. A connection that is
    lost is opened anew where it broke.
    """
    verifier = _verifier(plc, local=local) if verify else None

    async def run() -> None:
        cursors = SQLiteCursors(keep) if keep is not None else None
        transport = WebSocketTransport(local=local)
        left = count
        try:
            async with follow(transport, service, cursor=cursor, cursors=cursors) as stream:
                async for item in stream:
                    if isinstance(item, Reconnected):
                        click.echo(f"{item.why}; again in {item.wait_s:.1f} s", err=True)
                        continue
                    verdict = None
                    if verifier is not None:
                        # Keys are looked up blocking; the socket waits meanwhile.
                        verdict = await anyio.to_thread.run_sync(verifier.verify, item.data)
                    line = _line(item, collections, verdict, as_json=as_json)
                    if line is None:
                        continue
                    click.echo(line)
                    left = None if left is None else left - 1
                    if left == 0:
                        return
        finally:
            if cursors is not None:
                cursors.close()

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        raise click.exceptions.Exit(130) from None


def _verifier(plc: str, *, local: bool) -> StreamVerifier:
    resolver = Resolver(directory=plc, local=local)
    refreshed: OrderedDict[str, float] = OrderedDict()

    def key(did: str) -> PublicKey:
        try:
            return resolver.document(did).signing_key()
        except InvalidDocument:
            raise
        except ATProtoError as error:
            raise InvalidDocument("key-missing", str(error)) from error

    def refresh(did: str) -> PublicKey | None:
        now_s = time.monotonic()
        if now_s - refreshed.get(did, float("-inf")) < _REFRESH_S:
            return None
        refreshed[did] = now_s
        refreshed.move_to_end(did)
        if len(refreshed) > _REFRESHED:
            refreshed.popitem(last=False)
        try:
            return resolver.document(did, refresh=True).signing_key()
        except ATProtoError:
            return None

    return StreamVerifier(key, refresh=refresh, latest_rev=latest_rev)


def _line(
    item: Received, collections: tuple[str, ...], verdict: Verdict | None, *, as_json: bool
) -> str | None:
    """Return the line of a frame; None where it is not asked for."""
    facts = _facts(item, collections)
    if facts is None:
        return None
    if verdict is not None:
        facts["outcome"] = str(verdict.outcome)
        if verdict.reason:
            facts["reason"] = verdict.reason
    if as_json:
        return json.dumps(facts)
    ops = facts.pop("ops", None)
    words = [str(value) for value in facts.values() if value is not None]
    if isinstance(ops, list):
        words += [f"{op['action']} {op['path']}" for op in ops]
    return "\t".join(words)


def _facts(item: Received, collections: tuple[str, ...]) -> dict[str, object] | None:
    event = item.event
    if item.problem is not None:
        return {"seq": None, "type": "unreadable", "problem": str(item.problem)}
    match event:
        case CommitEvent():
            ops = [
                {"action": str(op.action), "path": op.key.decode("utf-8", "replace")}
                for op in event.operations
                if not collections
                or op.key.decode("utf-8", "replace").partition("/")[0] in collections
            ]
            if collections and not ops:
                return None
            facts: dict[str, object] = {
                "seq": event.seq,
                "type": "#commit",
                "account": event.repo,
                "rev": event.rev,
            }
            return facts | {"ops": ops}
        case SyncEvent():
            found: dict[str, object] = {"type": "#sync", "account": event.did, "rev": event.rev}
        case IdentityEvent():
            found = {"type": "#identity", "account": event.did, "handle": event.handle}
        case AccountEvent():
            status = event.status or ("active" if event.active else "inactive")
            found = {"type": "#account", "account": event.did, "status": status}
        case InfoEvent():
            found = {"type": "#info", "name": event.name}
        case _:
            found = {"type": "unknown"}
    return None if collections else {"seq": item.seq, **found}
