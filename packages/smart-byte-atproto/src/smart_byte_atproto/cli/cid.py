"""`smart-byte cid`: name a file by its content."""

from __future__ import annotations

from pathlib import Path

import click

from smart_byte_atproto.data.cid import CID, Codec

_CODECS = {"dag-cbor": Codec.DAG_CBOR, "raw": Codec.RAW}


@click.command("cid")
@click.option(
    "--codec",
    type=click.Choice(sorted(_CODECS)),
    default="raw",
    show_default=True,
    help="raw for blobs, dag-cbor for encoded records.",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(file: Path, codec: str) -> None:
    """Print the CID of FILE (version 1, SHA-256)."""
    click.echo(str(CID.of(file.read_bytes(), codec=_CODECS[codec])))
