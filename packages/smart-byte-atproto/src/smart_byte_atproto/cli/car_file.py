"""CAR files of repositories and trees, read whole and verified, for the commands that need all."""

from __future__ import annotations

from pathlib import Path

import click

from smart_byte_atproto.car import CARReader
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidData

from .progress import progress


def load_car(file: Path) -> tuple[CID, dict[CID, bytes]]:
    """Return the first root and the verified blocks of a CAR file.

    Raises:
        InvalidData: Malformed, a block with another hash, or no root.
        Truncated: The file is cut off.
    """
    blocks: dict[CID, bytes] = {}
    try:
        size = file.stat().st_size
        with file.open("rb") as stream, progress(f"Reading {file.name}", total=size) as advance:
            reader = CARReader(stream)
            for cid, block in reader:
                blocks[cid] = block
                advance(len(block))
    except OSError as error:
        raise click.ClickException(f"cannot read {file}: {error.strerror}") from error
    if not reader.roots:
        raise InvalidData("the CAR names no root")
    return reader.roots[0], blocks
