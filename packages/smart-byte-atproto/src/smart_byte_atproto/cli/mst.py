"""`smart-byte mst`: roots of sorted content, and validation of trees."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import click

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import ATProtoError, InvalidData, InvalidTree
from smart_byte_atproto.mst.sketch import SketchMST
from smart_byte_atproto.mst.tree import Tree
from smart_byte_atproto.mst.validate import validate
from smart_byte_atproto.repo.commit import SignedCommit

from .car_file import load_car
from .progress import progress


@click.group("mst")
def command() -> None:
    """Roots and validation of Merkle Search Trees."""


@command.command("root")
@click.option("--sketch", is_flag=True, help="Print the 32-byte root of the sketch tree as hex.")
@click.argument("file", type=click.File("rb"))
def root(file: BinaryIO, sketch: bool) -> None:
    """Print the root of the pairs in FILE (- for standard input): a line is `key<space>CID`.

    The order of the lines does not matter. A key may hold spaces; the CID follows the last one.
    """
    pairs = _read_pairs(file)
    click.echo(SketchMST.build(pairs).root.hex() if sketch else str(Tree.build(pairs).root))


def _read_pairs(file: BinaryIO) -> list[tuple[bytes, CID]]:
    pairs = []
    for number, line in enumerate(file, start=1):
        key, space, text = line.removesuffix(b"\n").removesuffix(b"\r").rpartition(b" ")
        if not space:
            raise InvalidData("not a key, a space and a CID", at=f"line {number}")
        try:
            pairs.append((key, CID.parse(text.decode("ascii", "backslashreplace"))))
        except ATProtoError as error:
            raise InvalidData(str(error), at=f"line {number}") from error
    return pairs


@command.command("validate")
@click.argument(
    "file", metavar="CARFILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def validate_tree(file: Path, as_json: bool) -> None:
    """Check every rule of the tree in CARFILE.

    The first root is that of the tree, or a commit that names it.
    """
    top, blocks = load_car(file)
    with suppress(InvalidData):  # a root that is no commit has to be that of the tree
        top = SignedCommit.decode(blocks.get(top, b"")).data
    try:
        with progress("Checking the tree") as advance:
            report = validate(top, blocks, check_key=lambda _: advance(1))
    except ATProtoError as error:
        if not as_json:
            raise
        code = error.code if isinstance(error, InvalidTree) else "missing"
        click.echo(json.dumps({"valid": False, "code": code, "reason": str(error)}))
        raise click.exceptions.Exit(1) from error
    if as_json:
        facts = {"entries": report.entries, "nodes": report.nodes, "layers": report.layers}
        click.echo(json.dumps({"valid": True, "root": str(top), **facts}))
    else:
        click.echo(
            f"valid: {report.entries} entries, {report.nodes} nodes, {report.layers} layers, "
            f"root {top}"
        )
