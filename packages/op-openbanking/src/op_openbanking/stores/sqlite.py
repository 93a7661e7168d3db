"""A store in one SQLite file, shared by the threads and processes of one machine.

The file is made with mode 0600 before SQLite opens it, and a file that others may read is refused:
it holds tokens. Every `swap` is one transaction, and on disk when it returns (`synchronous=FULL`).

Source: SQLite documentation, "Write-Ahead Logging" and "PRAGMA synchronous".
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

from op_openbanking.errors import ConfigError, StoreFailed

from .memory import check_record

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS record (kind TEXT NOT NULL, key TEXT NOT NULL, "
    "value BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID"
)


class SQLiteStore:
    """Records in one file. Its repr shows the path alone.

    Args:
        path: The file; made where it is missing, in a folder that exists.
        timeout_s: Longest wait for another process that writes.

    Raises:
        ConfigError: Others may read the file, or it is a link.
        StoreFailed: It is no database, or cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout_s: float = 10.0) -> None:
        self._path = Path(path)
        _claim(self._path)
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                self._path, timeout=timeout_s, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise _failed(error) from error
        try:
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute(_TABLE)
        except sqlite3.Error as error:
            self._connection.close()
            raise _failed(error) from error

    def get(self, kind: str, key: str) -> bytes | None:
        with self._lock:
            return self._get(kind, key)

    def swap(self, kind: str, key: str, *, before: bytes | None, after: bytes | None) -> bool:
        check_record(key, after)
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    changed = self._replaced(kind, key, before, after)
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise _failed(error) from error
            return changed

    def scan(self, kind: str) -> Iterator[tuple[str, bytes]]:
        with self._lock:
            try:
                rows = self._connection.execute(
                    "SELECT key, value FROM record WHERE kind = ? ORDER BY key", (kind,)
                ).fetchall()
            except sqlite3.Error as error:
                raise _failed(error) from error
        return iter([(str(key), bytes(value)) for key, value in rows])

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SQLiteStore({str(self._path)!r})"

    def _get(self, kind: str, key: str) -> bytes | None:
        try:
            row = self._connection.execute(
                "SELECT value FROM record WHERE kind = ? AND key = ?", (kind, key)
            ).fetchone()
        except sqlite3.Error as error:
            raise _failed(error) from error
        return None if row is None else bytes(row[0])

    def _replaced(self, kind: str, key: str, before: bytes | None, after: bytes | None) -> bool:
        if self._get(kind, key) != before:
            return False
        if after is None:
            self._connection.execute("DELETE FROM record WHERE kind = ? AND key = ?", (kind, key))
        else:
            self._connection.execute(
                "INSERT INTO record VALUES (?, ?, ?) "
                "ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value",
                (kind, key, after),
            )
        return True


def _claim(path: Path) -> None:
    """Make the file for its owner alone, or make sure that it is so."""
    try:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            mode = os.fstat(descriptor).st_mode
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigError(f"the store's file cannot be opened: {error.strerror}") from error
    if os.name == "posix" and stat.S_IMODE(mode) & _OTHERS:
        raise ConfigError(
            f"the store holds tokens, and others may open its file: mode "
            f"{stat.S_IMODE(mode):04o}, not 0600"
        )


def _failed(error: sqlite3.Error) -> StoreFailed:
    return StoreFailed(
        f"the store failed: {error}", retryable=isinstance(error, sqlite3.OperationalError)
    )
