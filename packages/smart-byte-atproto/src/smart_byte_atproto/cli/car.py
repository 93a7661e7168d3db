"""`smart-byte car`: look into CAR files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smart_byte_atproto.car import CARReader
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import ATProtoError, MissingBlock

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@dataclass(slots=True)
class _Verdict:
    """What a file holds, and what is wrong with it."""

    roots: tuple[CID, ...] = ()
    blocks: int = 0
    repeated: int = 0
    bytes: int = 0
    problem: ATProtoError | None = None

    def as_json(self) -> str:
        fields: dict[str, object] = {
            "valid": self.problem is None,
            "roots": [str(root) for root in self.roots],
            "blocks": self.blocks,
            "repeated": self.repeated,
            "bytes": self.bytes,
        }
        if self.problem is not None:
            fields["error"] = type(self.problem).__name__
            fields["reason"] = str(self.problem)
            fields["retryable"] = self.problem.retryable
        return json.dumps(fields)


@click.group("car")
def command() -> None:
    """List and verify CAR files (version 1)."""


@command.command("ls")
@_FILE
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_blocks(file: Path, *, as_json: bool) -> None:
    """Print CID, codec and size in bytes of every block of FILE, in order.

    Blocks are verified on the way; the first bad one ends the list with exit status 1.
    """
    with file.open("rb") as source:
        reader = CARReader(source)
        roots = set(reader.roots)
        for cid, block in reader:
            codec = Codec(cid.codec).name.lower().replace("_", "-")
            if as_json:
                row = {"cid": str(cid), "codec": codec, "size": len(block), "root": cid in roots}
                click.echo(json.dumps(row))
            else:
                mark = "  root" if cid in roots else ""
                click.echo(f"{cid}  {codec:8}  {len(block):9}{mark}")


@command.command()
@_FILE
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def verify(file: Path, *, as_json: bool) -> None:
    """Check the header, the hash of every block, and that the roots are there.

    Exit status 1 for a bad file. A file that was cut off is told apart from a corrupt one, because
    it may be fetched again.
    """
    verdict = _judge(file)
    if as_json:
        click.echo(verdict.as_json())
    elif verdict.problem is None:
        found = f"{verdict.blocks} blocks, {verdict.bytes} bytes, {verdict.repeated} repeated"
        click.echo(f"valid: {found}")
        for root in verdict.roots:
            click.echo(f"root {root}")
    else:
        advice = "; fetch it again" if verdict.problem.retryable else ""
        click.echo(f"invalid: {verdict.problem}{advice}", err=True)
    if verdict.problem is not None:
        raise click.exceptions.Exit(1)


def _judge(file: Path) -> _Verdict:
    verdict = _Verdict()
    seen: set[CID] = set()
    try:
        with file.open("rb") as source:
            reader = CARReader(source)
            verdict.roots = reader.roots
            for cid, block in _with_progress(reader, file.stat().st_size):
                verdict.blocks += 1
                verdict.bytes += len(block)
                verdict.repeated += cid in seen
                seen.add(cid)
    except ATProtoError as bad:
        verdict.problem = bad
    else:
        lost = [root for root in verdict.roots if root not in seen]
        verdict.problem = MissingBlock(lost[0]) if lost else None
    return verdict


def _with_progress(reader: CARReader, size: int) -> Iterator[tuple[CID, bytes]]:
    """Show a bar while blocks go by, if somebody watches."""
    from rich.console import Console  # noqa: PLC0415  costs more than reading a small file
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("verifying", total=size)
        for cid, block in reader:
            progress.advance(task, len(cid.raw) + len(block))
            yield cid, block
