"""`smart-byte repo`: read and verify repositories, and make them on a SQLite store."""

from __future__ import annotations

import json
from pathlib import Path

import click

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.data import json as data_json
from smart_byte_atproto.errors import ATProtoError, InvalidDocument
from smart_byte_atproto.identity.signing_key import signing_key
from smart_byte_atproto.mst.diff import record_changes
from smart_byte_atproto.repo import RepoReport, verify_repo

from .car_file import load_car
from .clock import latest_rev
from .key import parse_public
from .progress import progress
from .repo_fetch import fetch
from .repo_file import open_repo
from .repo_store import add, commit, export, init

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("repo")
def command() -> None:
    """Make, read and verify repositories.

    FILE is a CAR as hosts export it; `ls`, `get` and `diff` also read a SQLite store.
    """


@command.command("verify")
@click.argument("file", type=_FILE)
@click.option("--did-doc", type=_FILE, help="DID document with the signing key.")
@click.option("--key", "key_text", help="Signing key as did:key or multikey.")
@click.option("--did", help="Account that the repository has to be of.")
@click.option("--closed", is_flag=True, help="Accept Ed25519, which the network refuses.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(
    file: Path,
    did_doc: Path | None,
    key_text: str | None,
    did: str | None,
    closed: bool,
    as_json: bool,
) -> None:
    """Check commit, signature, tree and every record of the repository in FILE."""
    if (did_doc is None) == (key_text is None):
        raise click.UsageError("give either --did-doc or --key")
    try:
        key, did = _trusted(did_doc, key_text, did)
        root, blocks = load_car(file)
        with progress("Verifying") as advance:
            report = verify_repo(
                root,
                blocks,
                key=key,
                did=did,
                network=not closed,
                latest_rev=latest_rev(),
                on_record=lambda: advance(1),
            )
    except ATProtoError as error:
        if not as_json:
            raise
        click.echo(json.dumps({"valid": False, **_failure(error)}))
        raise click.exceptions.Exit(1) from error
    _show(report, as_json=as_json)


def _trusted(
    did_doc: Path | None, key_text: str | None, did: str | None
) -> tuple[PublicKey, str | None]:
    """Return the key to verify with, and the account where it is known."""
    if key_text is not None:
        return parse_public(key_text), did
    assert did_doc is not None  # noqa: S101 - one of the two is given
    try:
        document = json.loads(did_doc.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InvalidDocument("form", f"{did_doc} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise InvalidDocument("form", f"{did_doc} is not an object")
    key = signing_key(document, did=did)
    return key, str(document["id"])


def _failure(error: ATProtoError) -> dict[str, object]:
    return {
        "error": type(error).__name__,
        "code": getattr(error, "code", None),
        "reason": str(error),
    }


def _show(report: RepoReport, *, as_json: bool) -> None:
    facts = {
        "did": report.did,
        "rev": report.rev,
        "version": report.version,
        "commit": str(report.commit),
        "data": str(report.data),
        "records": report.records,
        "nodes": report.nodes,
        "warnings": report.warning_count,
    }
    if as_json:
        click.echo(json.dumps({"valid": True, **facts, "warning_list": report.warnings}))
        return
    click.echo("valid")
    for name, value in facts.items():
        click.echo(f"{name:10}{'-' if value is None else value}")
    for warning in report.warnings:
        click.echo(f"warning: {warning}", err=True)


@command.command("ls")
@click.argument("file", type=_FILE)
@click.option("--collection", help="Only this collection.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a record.")
def ls(file: Path, collection: str | None, as_json: bool) -> None:
    """List paths and CIDs of the records in FILE. Does not check the signature."""
    with open_repo(file) as repo:
        for path in repo.paths(collection=collection):
            cid = str(repo.get_cid(path))
            click.echo(json.dumps({"path": path, "cid": cid}) if as_json else f"{path}\t{cid}")


@command.command("get")
@click.argument("file", type=_FILE)
@click.argument("path")
def get(file: Path, path: str) -> None:
    """Print the record at PATH in FILE as JSON. Does not check the signature."""
    with open_repo(file) as repo:
        record = repo.get(path)
    if record is None:
        raise click.ClickException(f"no record at {path}")
    click.echo(data_json.dumps(record, indent=2))


@command.command("diff")
@click.argument("before", metavar="A", type=_FILE)
@click.argument("after", metavar="B", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a change.")
def diff(before: Path, after: Path, as_json: bool) -> None:
    """List the records that differ from A to B: created +, deleted -, updated ~."""
    with open_repo(before) as one, open_repo(after) as two:
        for change in record_changes(one.tree, two.tree):
            path = change.key.decode("utf-8", "backslashreplace")
            old = None if change.before is None else str(change.before)
            new = None if change.after is None else str(change.after)
            if as_json:
                click.echo(json.dumps({"path": path, "before": old, "after": new}))
            else:
                mark = "+" if old is None else "-" if new is None else "~"
                click.echo(f"{mark} {path}\t{old or '-'}\t{new or '-'}")


for _command in (init, add, commit, export, fetch):
    command.add_command(_command)
