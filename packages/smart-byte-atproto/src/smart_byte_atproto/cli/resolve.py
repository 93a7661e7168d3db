"""`smart-byte resolve`: who a handle or DID is."""

from __future__ import annotations

import json

import click

from smart_byte_atproto.errors import ATProtoError
from smart_byte_atproto.identity.resolver import Identity, Resolver

from .network_options import network_options


@click.command("resolve")
@click.argument("identifier", metavar="HANDLE_OR_DID")
@network_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(identifier: str, *, plc: str, local: bool, as_json: bool) -> None:
    """Resolve a handle or DID, and check that handle and DID name each other."""
    found = Resolver(directory=plc, local=local).identity(identifier)
    if as_json:
        click.echo(json.dumps(_facts(found) | {"document": found.document.fields}))
        return
    for name, value in _facts(found).items():
        click.echo(f"{name:12} {value if value is not None else '-'}")


def _facts(found: Identity) -> dict[str, object]:
    try:
        key: str | None = found.document.signing_key().did_key
    except ATProtoError:
        key = None
    return {
        "did": found.did,
        "handle": found.handle,
        "pds": found.document.pds,
        "signingKey": key,
        "labeler": found.document.labeler,
    }
