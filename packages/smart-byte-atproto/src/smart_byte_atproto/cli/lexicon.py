"""`smart-byte lexicon`: schemas checked, records checked against them, Python made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import BinaryIO

import click

from smart_byte_atproto.data import json as data_json
from smart_byte_atproto.errors import InvalidData, SchemaMismatch, UnknownSchema
from smart_byte_atproto.lexicon.catalog import Catalog
from smart_byte_atproto.lexicon.generate import generate
from smart_byte_atproto.lexicon.schema import MAX_BYTES, parse
from smart_byte_atproto.lexicon.validate import Validator

from .network_options import network_options

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_lexicons = click.option(
    "--lexicons",
    "folder",
    metavar="DIR",
    type=_FOLDER,
    required=True,
    help="Folder of Lexicon documents.",
)


@click.group("lexicon")
def command() -> None:
    """Check schemas, check records against them, and make typed Python of them."""


@command.command()
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a document.")
def check(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """Check Lexicon documents: files, or folders of them.

    In a folder each reference must lead to a document of that folder. Exit status 1 if anything
    is wrong.
    """
    bad = False
    for path in paths:
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            bad |= not _told(file, _check_file(file), as_json=as_json)
        if path.is_dir() and not bad:
            for nsid, ref in Catalog.from_folder(path).dangling():
                bad |= not _told(nsid, f"no document here has {ref}", as_json=as_json)
    if bad:
        raise click.exceptions.Exit(1)


def _check_file(file: Path) -> str | None:
    """Return what is wrong with a document, or None."""
    try:
        with file.open("rb") as source:
            parse(source.read(MAX_BYTES + 1))
    except (InvalidData, OSError) as bad:
        return str(bad)
    return None


def _told(where: Path | str, problem: str | None, *, as_json: bool) -> bool:
    """Print a verdict; return whether it is good."""
    if as_json:
        verdict = {"document": str(where), "valid": problem is None, "reason": problem}
        click.echo(json.dumps(verdict, ensure_ascii=False))
    else:
        click.echo(f"{where}: valid" if problem is None else f"{where}: {problem}")
    return problem is None


@command.command()
@_lexicons
@click.option("--collection", metavar="NSID", help="What the record is kept under.")
@click.option("--rkey", metavar="KEY", help="Record key, to be checked too.")
@click.option("--lenient", is_flag=True, help="Take blobs in older forms, as published.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.argument("source", metavar="FILE", type=click.File("rb"), default="-")
def validate(
    source: BinaryIO,
    *,
    folder: Path,
    collection: str | None,
    rkey: str | None,
    lenient: bool,
    as_json: bool,
) -> None:
    """Check a record, as JSON in FILE (- for standard input), against its schema.

    Prints everything that is wrong, with the path to it. Exit status 1 if anything is.
    """
    problems: list[tuple[str, str, str]]
    try:
        record = data_json.loads_record(source.read(data_json.MAX_BYTES + 1), lenient=lenient)
        validator = Validator(Catalog.from_folder(folder), lenient=lenient)
        found = validator.problems(record, collection=collection, record_key=rkey)
        problems = [_row(problem) for problem in found]
    except (InvalidData, UnknownSchema) as bad:
        at = bad.at if isinstance(bad, InvalidData) else None
        problems = [(str(at or ""), "data" if at else "unknown-schema", str(bad))]
    if as_json:
        rows = [{"at": at, "code": code, "reason": reason} for at, code, reason in problems]
        click.echo(json.dumps({"valid": not rows, "problems": rows}, ensure_ascii=False))
    else:
        for _, code, reason in problems:
            click.echo(f"{code}\t{reason}")
        if not problems:
            click.echo("valid")
    if problems:
        raise click.exceptions.Exit(1)


def _row(problem: SchemaMismatch) -> tuple[str, str, str]:
    return str(problem.at or ""), problem.code, str(problem)


@command.command("resolve")
@click.argument("nsid", metavar="NSID")
@network_options
@click.option("--json", "as_json", is_flag=True, help="Print where it is from beside the document.")
def resolve_command(nsid: str, *, plc: str, local: bool, as_json: bool) -> None:
    """Print the schema NSID as its author has published it, and prove that it is theirs.

    TXT at _lexicon.DOMAIN names the account; the record must be in its signed repository.
    """
    from smart_byte_atproto.lexicon.resolution import (  # noqa: PLC0415 - the others ask no network
        resolve,
    )

    found = resolve(nsid, directory=plc, local=local)
    text = data_json.dumps(found.record, indent=2)
    if as_json:
        facts = {"did": found.did, "cid": str(found.cid), "lexicon": json.loads(text)}
        click.echo(json.dumps(facts, ensure_ascii=False))
    else:
        click.echo(text)


@command.command("generate")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@click.option(
    "--out",
    metavar="PACKAGE_DIR",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the package to write; its name is the package's.",
)
@click.option("--package", metavar="NAME", help="Import path, where it is not the folder's name.")
def generate_package(folder: Path, *, out: Path, package: str | None) -> None:
    """Write typed Python for the Lexicon documents in DIR: one small module for each.

    Files of an older run are overwritten; those of documents that are gone stay.
    """
    name = package or out.name
    if not all(part.isidentifier() for part in name.split(".")):
        raise click.UsageError(f"{name!r} cannot be imported; give another name with --package")
    written = 0
    for path, text in generate(Catalog.from_folder(folder), package=name):
        file = out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        written += 1
    click.echo(f"{written} files in {out}")
