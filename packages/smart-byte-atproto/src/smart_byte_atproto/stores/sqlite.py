"""Blocks in a SQLite file: the durable store.

Write-ahead log, and every `put_many` is one transaction that is synced to the disk before it
returns (`synchronous=FULL`). A process or machine that dies at any moment leaves the store as the
last finished `put_many` left it: root and blocks together, never one without the other.

Source: SQLite documentation, "Write-Ahead Logging" and "PRAGMA synchronous".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import StoreBusy, StoreFailed

_SCHEMA_VERSION = 1
_SCHEMA = (
    "CREATE TABLE block (cid BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE root (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), cid BLOB NOT NULL)",
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class SQLiteStore:
    """A `BlockStore` in a file. Several processes may open it; one thread may use each object.

    Args:
        path: The file; it is made if it is not there.
        timeout_s: How long to wait for another process before `StoreBusy`, in seconds.

    Raises:
        StoreBusy: Another process holds the store.
        StoreFailed: The file is no store of this version, or cannot be read or written.
    """

    def __init__(self, path: Path | str, *, timeout_s: float = 5.0) -> None:
        self._path = Path(path)
        with self._errors():
            self._database = sqlite3.connect(self._path, timeout=timeout_s, isolation_level=None)
        try:
            self._prepare()
        except BaseException:
            self._database.close()
            raise

    def get(self, cid: CID) -> bytes | None:
        with self._errors():
            query = "SELECT data FROM block WHERE cid = ?"
            row = self._database.execute(query, (cid.raw,)).fetchone()
        if row is None:
            return None
        if type(row[0]) is not bytes:
            raise StoreFailed(f"{self._path}: the block {cid} is not bytes")
        return row[0]

    def put_many(self, blocks: Iterable[tuple[CID, bytes]], *, root: CID | None = None) -> None:
        with self._errors(), self._transaction():
            self._database.executemany(
                "INSERT OR IGNORE INTO block VALUES (?, ?)",
                ((cid.raw, data) for cid, data in blocks),
            )
            if root is not None:
                self._database.execute("INSERT OR REPLACE INTO root VALUES (1, ?)", (root.raw,))

    def root(self) -> CID | None:
        with self._errors():
            row = self._database.execute("SELECT cid FROM root").fetchone()
        if row is None:
            return None
        if type(row[0]) is not bytes:
            raise StoreFailed(f"{self._path}: the root is not bytes")
        return CID.decode(row[0])

    def __len__(self) -> int:
        with self._errors():
            count: int = self._database.execute("SELECT count(*) FROM block").fetchone()[0]
        return count

    def close(self) -> None:
        """Let go of the file. The object is of no use afterwards."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _prepare(self) -> None:
        with self._errors():
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            with self._transaction():
                version = self._database.execute("PRAGMA user_version").fetchone()[0]
                tables = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                if version == 0 and tables == 0:
                    for statement in _SCHEMA:
                        self._database.execute(statement)
                elif version != _SCHEMA_VERSION:
                    raise StoreFailed(
                        f"{self._path} is no block store of version {_SCHEMA_VERSION}"
                    )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all or nothing; the lock is taken at the start, so no reader turns writer."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as bad:
            code = getattr(bad, "sqlite_errorcode", None)
            if code is not None and code & 0xFF in _BUSY:
                raise StoreBusy(f"{self._path} is held by another process") from bad
            raise StoreFailed(f"{self._path}: {bad}") from bad
