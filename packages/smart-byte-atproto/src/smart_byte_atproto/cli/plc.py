"""`smart-byte plc`: logs of did:plc."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import BinaryIO

import click

from smart_byte_atproto.data import json as data_json
from smart_byte_atproto.errors import ATProtoError, InvalidData, ResponseInvalid
from smart_byte_atproto.identity.plc_log import MAX_BYTES, AuditedLog, audit
from smart_byte_atproto.identity.plc_operation import PLCOperation
from smart_byte_atproto.net.fetch import Fetch
from smart_byte_atproto.net.http import fetch
from smart_byte_atproto.syntax import DID

from .network_options import network_options


@click.group("plc")
def command() -> None:
    """Get, audit and derive from operation logs of did:plc."""


@command.command("log")
@click.argument("did", metavar="DID")
@network_options
@click.option("--json", "as_json", is_flag=True, help="Print the log as the directory has it.")
def log_of(did: str, *, plc: str, local: bool, as_json: bool) -> None:
    """Get the audit log of DID from the directory, check it, and list its operations."""
    page = fetch(Fetch(f"{plc.rstrip('/')}/{DID(did)}/log/audit", max_bytes=MAX_BYTES), local=local)
    if page.status != HTTPStatus.OK:
        raise ResponseInvalid(page.host, f"HTTP {page.status}", code="status")
    found = audit(page.body)
    if found.did != did:
        raise ResponseInvalid(page.host, f"the log of {found.did}", code="form")
    if as_json:
        click.echo(page.body)
        return
    for index, operation in enumerate(found.operations):
        undone = "  nullified" if index in found.nullified else ""
        names = " ".join(operation.also_known_as)
        click.echo(f"{index:3}  {operation.kind:14} {operation.cid}  {names}{undone}")


@command.command("derive")
@click.argument("operation", metavar="FILE", type=click.File("rb"))
def derive(operation: BinaryIO) -> None:
    """Print the DID that a signed first operation, as JSON in FILE, makes."""
    parsed = PLCOperation.parse(data_json.loads_record(operation.read(data_json.MAX_BYTES + 1)))
    if parsed.prev is not None or parsed.is_tombstone:
        raise InvalidData("not a first operation")
    parsed.signer(parsed.rotation_keys)
    click.echo(parsed.did())


@command.command("audit")
@click.argument("log", metavar="FILE", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def audit_file(log: BinaryIO, *, as_json: bool) -> None:
    """Check an audit log as the directory serves it (`/DID/log/audit`); - for standard input.

    Recomputes the DID, every CID, signature, link and nullified flag, and the 72-hour window of
    recoveries. Exit status 1, with the reason, for a bad log.
    """
    try:
        found = audit(log.read(MAX_BYTES + 1))
    except ATProtoError as bad:
        if as_json:
            verdict = {
                "valid": False,
                "error": type(bad).__name__,
                "code": getattr(bad, "code", None),
                "index": getattr(bad, "index", None),
                "reason": str(bad),
            }
            click.echo(json.dumps(verdict))
        else:
            click.echo(f"invalid: {bad}", err=True)
        raise click.exceptions.Exit(1) from bad
    if as_json:
        click.echo(json.dumps(_summary(found)))
        return
    state = "ended by a tombstone" if found.is_tombstoned else "active"
    click.echo(f"valid: {found.did} is {state}")
    click.echo(f"{len(found.operations)} operations, {len(found.nullified)} nullified")
    for name in found.head.also_known_as:
        click.echo(f"also known as {name}")


def _summary(found: AuditedLog) -> dict[str, object]:
    head = found.head
    return {
        "valid": True,
        "did": found.did,
        "operations": len(found.operations),
        "nullified": sorted(found.nullified),
        "tombstoned": found.is_tombstoned,
        "head": str(head.cid),
        "rotationKeys": list(head.rotation_keys),
        "verificationMethods": dict(head.verification_methods),
        "alsoKnownAs": list(head.also_known_as),
        "services": {
            name: {"type": service.type, "endpoint": service.endpoint}
            for name, service in head.services.items()
        },
    }
