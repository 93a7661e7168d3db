"""`smart-byte repo fetch`: an account's repository from its server, verified before it is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from smart_byte_atproto.identity.resolver import Resolver
from smart_byte_atproto.repo import verify_repo
from smart_byte_atproto.xrpc.client import Client

from .car_file import load_car
from .clock import latest_rev
from .network_options import network_options
from .progress import progress


@click.command("fetch")
@click.argument("identifier", metavar="HANDLE_OR_DID")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the CAR goes.  [default: DID.car]",
)
@network_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def fetch(identifier: str, *, out: Path | None, plc: str, local: bool, as_json: bool) -> None:
    """Export the repository of HANDLE_OR_DID from its server and verify all of it.

    The file appears only once everything holds: commit, signature, tree and every record. What
    has come of an export that was cut off is thrown away: servers do not resume them.
    """
    identity = Resolver(directory=plc, local=local).identity(identifier)
    file = out if out is not None else Path(f"{identity.did.replace(':', '_')}.car")
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with (
            Client(identity.pds, local=local) as client,
            part.open("wb") as target,
            progress("Fetching") as advance,
        ):
            for piece in client.download("com.atproto.sync.getRepo", {"did": identity.did}):
                target.write(piece)
                advance(len(piece))
        root, blocks = load_car(part)
        with progress("Verifying") as advance:
            report = verify_repo(
                root,
                blocks,
                key=identity.document.signing_key(),
                did=identity.did,
                latest_rev=latest_rev(),
                on_record=lambda: advance(1),
            )
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    if as_json:
        facts = {"did": report.did, "rev": report.rev, "records": report.records}
        click.echo(json.dumps({**facts, "commit": str(report.commit), "file": str(file)}))
    else:
        click.echo(f"{file}: {report.records} records at {report.rev}, verified")
