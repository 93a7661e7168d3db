"""What a store must do: keep octets under a kind and a key, and change them in one step.

`swap` is the whole of its promise. A crash or a second process between two calls leaves either the
octets before or the octets after; what a caller has seen replaced stays replaced. The records
themselves are in `records`; a store never looks inside.

Records hold tokens: protect the store as you protect the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

MAX_VALUE_BYTES: Final = 4 * 1024 * 1024
"""Largest record. Ours: the largest body of a payment file in one consent, with room."""
MAX_KEY_CHARS: Final = 512


class Store(Protocol):
    """Octets by kind and key, with compare-and-set."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The octets kept, or None.

        Raises:
            StoreFailed: The store cannot be read.
        """
        ...

    def swap(self, kind: str, key: str, *, before: bytes | None, after: bytes | None) -> bool:
        """Replace what is kept, if it is still `before`; durable when it returns.

        Args:
            kind: Kind of record, for example `consent`.
            key: Which one, at most 512 characters.
            before: What must be there; None for nothing.
            after: What shall be there, at most 4 MiB; None removes it.

        Returns:
            False where something else was there; nothing is changed then.

        Raises:
            StoreFailed: The store cannot be written.
            ConfigError: Key or octets are too long.
        """
        ...

    def scan(self, kind: str) -> Iterator[tuple[str, bytes]]:
        """Keys and octets of a kind, by key; a view of one moment, which may be long.

        Raises:
            StoreFailed: The store cannot be read.
        """
        ...
