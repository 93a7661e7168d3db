"""`smart-byte blob`: files that records refer to."""

from __future__ import annotations

import mimetypes
from pathlib import Path

import click

from smart_byte_atproto.data import json as data_json

from . import session_file
from .session_option import session_option

_MAX_BYTES = 100 << 20


@click.group("blob")
def command() -> None:
    """Upload files that records refer to."""


@command.command("upload")
@click.argument(
    "file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--type", "mime_type", metavar="TYPE", help="Media type.  [default: by the name]")
@session_option
@click.option("--local", is_flag=True, help="Let services on this machine be asked.")
def upload(file: Path, *, mime_type: str | None, session: Path, local: bool) -> None:
    """Upload FILE and print the blob to put into a record; its hash is checked."""
    if file.stat().st_size > _MAX_BYTES:
        raise click.ClickException(f"{file} is longer than {_MAX_BYTES} bytes")
    guessed = mime_type or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    with session_file.client(session, local=local) as client:
        blob = client.upload_blob(file.read_bytes(), mime_type=guessed)
    click.echo(data_json.dumps(blob))
