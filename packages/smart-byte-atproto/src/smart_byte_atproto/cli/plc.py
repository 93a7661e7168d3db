"""`smart-byte plc`: logs of did:plc."""

from __future__ import annotations

import json
from typing import BinaryIO

import click

from smart_byte_atproto.errors import ATProtoError
from smart_byte_atproto.identity.plc_log import MAX_BYTES, AuditedLog, audit


@click.group("plc")
def command() -> None:
    """Audit operation logs of did:plc."""


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
