"""A stream from memory: for tests, and to read a recording as if it were live."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from smart_byte_atproto.errors import ATProtoError, NetworkFailed

Connection = Sequence["bytes | ATProtoError"]


class MemoryTransport:
    """Gives each connection its script: frames, and errors that break it.

    Args:
        connections: One script a connection; when they are used up, there is no connection.

    Attributes:
        cursors: The cursor that each connection asked for; None for none.
    """

    def __init__(self, connections: Sequence[Connection]) -> None:
        self._left = list(connections)
        self.cursors: list[int | None] = []

    @asynccontextmanager
    async def connect(self, url: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open the next connection."""
        asked = parse_qs(urlsplit(url).query).get("cursor")
        self.cursors.append(int(asked[0]) if asked else None)
        if not self._left:
            raise NetworkFailed("memory", "no further connection")
        script = self._left.pop(0)

        async def frames() -> AsyncIterator[bytes]:
            for item in script:
                if isinstance(item, ATProtoError):
                    raise item
                yield item

        yield frames()
