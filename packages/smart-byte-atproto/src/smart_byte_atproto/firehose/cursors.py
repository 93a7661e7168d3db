"""How far streams have been handled, kept across restarts."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from smart_byte_atproto.errors import StoreFailed


class Cursors(Protocol):
    """Keeps a number for each stream."""

    def load(self, stream: str) -> int | None:
        """Return the last sequence that was handled; None for none."""
        ...

    def save(self, stream: str, cursor: int) -> None:
        """Keep it."""
        ...


class MemoryCursors:
    """In memory."""

    def __init__(self) -> None:
        self._kept: dict[str, int] = {}

    def load(self, stream: str) -> int | None:
        return self._kept.get(stream)

    def save(self, stream: str, cursor: int) -> None:
        self._kept[stream] = cursor


class SQLiteCursors:
    """In a SQLite file.

    Args:
        path: The file; made if need be.

    Raises:
        StoreFailed: It cannot be opened.
    """

    def __init__(self, path: Path | str) -> None:
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS cursors "
                "(stream TEXT PRIMARY KEY, cursor INTEGER NOT NULL)"
            )
        except sqlite3.Error as error:
            raise StoreFailed(f"cursors in {path}: {error}") from error

    def load(self, stream: str) -> int | None:
        try:
            row = self._db.execute(
                "SELECT cursor FROM cursors WHERE stream = ?", (stream,)
            ).fetchone()
        except sqlite3.Error as error:
            raise StoreFailed(f"cursors: {error}") from error
        return int(row[0]) if row is not None else None

    def save(self, stream: str, cursor: int) -> None:
        try:
            self._db.execute(
                "INSERT INTO cursors VALUES (?, ?) "
                "ON CONFLICT (stream) DO UPDATE SET cursor = excluded.cursor",
                (stream, cursor),
            )
        except sqlite3.Error as error:
            raise StoreFailed(f"cursors: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
