"""`smart-byte record`: records read with a proof, written and deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import BinaryIO

import click

from smart_byte_atproto import car
from smart_byte_atproto.data import json as data_json
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.identity.resolver import Resolver
from smart_byte_atproto.repo.record_proof import verify_record
from smart_byte_atproto.syntax import ATURI, NSID, RecordKey
from smart_byte_atproto.xrpc.client import Client

from . import session_file
from .network_options import network_options
from .session_option import session_option

_MAX_PROOF = 16 << 20
_local = click.option("--local", is_flag=True, help="Let services on this machine be asked.")


@click.group("record")
def command() -> None:
    """Read records with a proof, write and delete them."""


@command.command("get")
@click.argument("uri", metavar="AT_URI")
@network_options
@click.option("--json", "as_json", is_flag=True, help="Print what was proven beside the record.")
def get(uri: str, *, plc: str, local: bool, as_json: bool) -> None:
    """Print the record at AT_URI, after its place in the signed repository has been verified.

    Exit status 1 if the repository proves that there is none, or if the proof does not hold.
    """
    where = ATURI(uri)
    if where.collection is None or where.rkey is None:
        raise click.UsageError("AT_URI names no record")
    identity = Resolver(directory=plc, local=local).identity(where.authority)
    params: dict[str, Value] = {
        "did": identity.did,
        "collection": where.collection,
        "rkey": where.rkey,
    }
    with Client(identity.pds, local=local) as client:
        answer = b"".join(
            client.download("com.atproto.sync.getRecord", params, max_bytes=_MAX_PROOF)
        )
    found = verify_record(
        car.load(answer),
        key=identity.document.signing_key(),
        did=identity.did,
        collection=where.collection,
        record_key=where.rkey,
    )
    if found.value is None:
        raise click.ClickException(f"the repository of {identity.did} has no such record")
    text = data_json.dumps(found.value, indent=None if as_json else 2)
    if as_json:
        facts = {"cid": str(found.cid), "commit": str(found.commit), "rev": found.rev}
        click.echo(json.dumps({**facts, "record": json.loads(text)}))
    else:
        click.echo(text)


@command.command("create")
@click.argument("collection", metavar="COLLECTION")
@click.argument("source", metavar="FILE", type=click.File("rb"), default="-")
@click.option("--rkey", metavar="KEY", help="Record key; the server draws one by default.")
@session_option
@_local
def create(
    collection: str, source: BinaryIO, *, rkey: str | None, session: Path, local: bool
) -> None:
    """Create a record of COLLECTION from the JSON in FILE (- for standard input)."""
    data: dict[str, Value] = {"collection": NSID(collection), "record": _read(source, collection)}
    if rkey is not None:
        data["rkey"] = RecordKey(rkey)
    _write("com.atproto.repo.createRecord", data, session, local=local)


@command.command("put")
@click.argument("uri", metavar="AT_URI")
@click.argument("source", metavar="FILE", type=click.File("rb"), default="-")
@click.option("--swap", metavar="CID", help="Only in place of the record with this CID.")
@session_option
@_local
def put(uri: str, source: BinaryIO, *, swap: str | None, session: Path, local: bool) -> None:
    """Write the record at AT_URI from the JSON in FILE (- for standard input)."""
    where = _own(uri)
    data = where | {"record": _read(source, str(where["collection"]))}
    if swap is not None:
        data["swapRecord"] = swap
    _write("com.atproto.repo.putRecord", data, session, local=local)


@command.command("delete")
@click.argument("uri", metavar="AT_URI")
@click.option("--swap", metavar="CID", help="Only if it is the record with this CID.")
@session_option
@_local
def delete(uri: str, *, swap: str | None, session: Path, local: bool) -> None:
    """Delete the record at AT_URI."""
    data = _own(uri)
    if swap is not None:
        data["swapRecord"] = swap
    _write("com.atproto.repo.deleteRecord", data, session, local=local)


def _own(uri: str) -> dict[str, Value]:
    where = ATURI(uri)
    if where.collection is None or where.rkey is None:
        raise click.UsageError("AT_URI names no record")
    return {"collection": where.collection, "rkey": where.rkey}


def _read(source: BinaryIO, collection: str) -> dict[str, Value]:
    record = data_json.loads_record(source.read(data_json.MAX_BYTES + 1))
    record.setdefault("$type", collection)
    return record


def _write(nsid: str, data: dict[str, Value], session: Path, *, local: bool) -> None:
    with session_file.client(session, local=local) as client:
        answer = client.procedure(nsid, {"repo": client.did, **data})
    for name in ("uri", "cid"):
        told = answer.get(name)
        if isinstance(told, str):
            click.echo(f"{name} {told}")
