"""`smart-byte repo init|add|commit|export`: a repository on a SQLite store.

Added records wait in the file `STORE.staged` beside the store, one JSON object a line, until the
next commit. Their blocks are in the store already, so a crash loses neither; a commit that was
cut off is simply repeated.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from smart_byte_atproto.car import chunks
from smart_byte_atproto.data import dag_cbor, json as data_json
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidData, WriteRefused
from smart_byte_atproto.repo import Repo
from smart_byte_atproto.repo.export import export_blocks
from smart_byte_atproto.stores.memory import MemoryStore
from smart_byte_atproto.stores.sqlite import SQLiteStore

from .clock import next_rev
from .key import read_key
from .progress import progress

_STORE = click.Path(exists=True, dir_okay=False, path_type=Path)
_KEY = click.option("--key", "key_file", required=True, type=_STORE, help="Key file.")
_CLOSED = click.option("--closed", is_flag=True, help="Allow Ed25519, which the network refuses.")


@click.command("init")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--did", required=True, help="Account of the repository.")
@_KEY
@_CLOSED
def init(store: Path, did: str, key_file: Path, closed: bool) -> None:
    """Create the SQLite file STORE with an empty, signed repository."""
    if store.exists():
        raise click.ClickException(f"{store} exists already")
    key = read_key(key_file)
    # Tried in memory first: what is refused must not leave a file that says "exists already".
    Repo.create(did, MemoryStore()).commit(key, rev=next_rev(None), network=not closed)
    with SQLiteStore(store) as blocks:
        made = Repo.create(did, blocks).commit(key, rev=next_rev(None), network=not closed)
    click.echo(f"{made.commit.cid}\t{made.commit.rev}")


@click.command("add")
@click.argument("store", type=_STORE)
@click.argument("path")
@click.argument("record", type=click.File("rb"), default="-")
@click.option("--delete", is_flag=True, help="Delete the record at PATH instead.")
def add(store: Path, path: str, record: BinaryIO, delete: bool) -> None:
    """Stage RECORD (JSON; - for standard input) at PATH for the next commit."""
    with _alone(store), SQLiteStore(store) as blocks:
        repo = _staged(Repo.load(blocks), store)
        if delete:
            repo = repo.delete_record(path)
        else:
            content = data_json.loads_record(record.read())
            write = repo.create_record if repo.get_cid(path) is None else repo.update_record
            repo = write(path, content)
        cid = repo.get_cid(path)
        if cid is not None:
            blocks.put_many([(cid, repo.get_block(cid))])
        _stage(store, json.dumps({"path": path, "cid": None if cid is None else str(cid)}))
    click.echo("deleted" if cid is None else str(cid))


@click.command("commit")
@click.argument("store", type=_STORE)
@_KEY
@_CLOSED
def commit(store: Path, key_file: Path, closed: bool) -> None:
    """Sign everything staged; print CID, rev and the operations."""
    key = read_key(key_file)
    with _alone(store), SQLiteStore(store) as blocks:
        repo = _staged(Repo.load(blocks), store)
        head = repo.head
        rev = next_rev(None if head is None else head.rev)
        made = repo.commit(key, rev=rev, network=not closed)
        _staging(store).unlink(missing_ok=True)
    click.echo(f"{made.commit.cid}\t{made.commit.rev}")
    for op in made.operations:
        click.echo(f"{op.action}\t{op.key.decode('ascii')}\t{op.cid or '-'}")


@click.command("export")
@click.argument("store", type=_STORE)
@click.argument("output", type=click.Path(path_type=Path))
def export(store: Path, output: Path) -> None:
    """Write the head of STORE as a CAR in streamable order to OUTPUT.

    A file appears when it is whole; into a pipe or a device it is written as it comes.
    """
    if not output.name or output.is_dir():
        raise click.BadParameter("is no name of a file", param_hint="OUTPUT")
    plain = output.is_file() or not output.exists()
    written = 0
    with SQLiteStore(store) as blocks, progress("Exporting") as advance:
        repo = Repo.load(blocks)
        exported = export_blocks(repo)
        root = repo.head.cid if repo.head is not None else CID.of(b"")
        target = output.with_name(output.name + ".part") if plain else output
        try:
            with target.open("wb") as file:
                for chunk in chunks([root], exported):
                    written += file.write(chunk)
                    advance(1)
            if plain:
                target.replace(output)
        finally:
            if plain:
                target.unlink(missing_ok=True)
    click.echo(f"{root}\t{written} bytes")


def _staging(store: Path) -> Path:
    return store.with_name(store.name + ".staged")


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Let no other `add` or `commit` on STORE run meanwhile, where the system has file locks.

    Else a change staged while a commit is made would be taken away with those that it holds.
    """
    with store.with_name(store.name + ".lock").open("ab") as file:
        try:
            import fcntl  # noqa: PLC0415 - not everywhere
        except ImportError:
            pass
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _stage(store: Path, line: str) -> None:
    """Append a line, after dropping what a crash has left of one."""
    with _staging(store).open("a+b") as staging:
        staging.seek(0)
        whole = staging.read().rfind(b"\n") + 1
        staging.truncate(whole)
        staging.write(line.encode("utf-8") + b"\n")
        staging.flush()
        os.fsync(staging.fileno())


def _staged(repo: Repo, store: Path) -> Repo:
    """Return the repository with everything staged on top of the head.

    A last line without its end is what a crash has left of an `add` that never said it was done.
    """
    try:
        lines = _staging(store).read_text("utf-8").split("\n")[:-1]
    except FileNotFoundError:
        return repo
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidData(f"staged changes cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        path, text = _parse_staged(line, number)
        present = repo.get_cid(path)
        if text is None:
            repo = repo if present is None else repo.delete_record(path)
            continue
        record = dag_cbor.decode(repo.get_block(CID.parse(text)))
        if not isinstance(record, dict):
            raise WriteRefused("record", "staged block is not a map", path=path)
        write = repo.create_record if present is None else repo.update_record
        repo = write(path, record)
    return repo


def _parse_staged(line: str, number: int) -> tuple[str, str | None]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidData("malformed staged change", at=f"line {number}") from error
    path = value.get("path") if isinstance(value, dict) else None
    text = value.get("cid") if isinstance(value, dict) else None
    if not isinstance(path, str) or not isinstance(text, str | None):
        raise InvalidData("malformed staged change", at=f"line {number}")
    return path, text
