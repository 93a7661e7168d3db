"""Repositories in files: a CAR as hosts export it, or a SQLite store of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from smart_byte_atproto.repo import Repo
from smart_byte_atproto.stores.memory import MemoryStore
from smart_byte_atproto.stores.sqlite import SQLiteStore

from .car_file import load_car

_SQLITE_MAGIC = b"SQLite format 3\x00"


@contextmanager
def open_repo(file: Path) -> Iterator[Repo]:
    """Open the repository in a file.

    Raises:
        InvalidRepo, InvalidData: There is none, or it is malformed.
        StoreFailed: The store cannot be read.
    """
    try:
        with file.open("rb") as stream:
            magic = stream.read(len(_SQLITE_MAGIC))
    except OSError as error:
        raise click.ClickException(f"cannot read {file}: {error.strerror}") from error
    if magic == _SQLITE_MAGIC:
        with SQLiteStore(file) as store:
            yield Repo.load(store)
        return
    root, blocks = load_car(file)
    yield Repo.load(MemoryStore(blocks.items(), root=root))
