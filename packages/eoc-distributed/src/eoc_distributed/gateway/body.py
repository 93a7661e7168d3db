"""Bodies that are here in full already."""

from __future__ import annotations

from eoc_distributed.http import HTTPResponse


class Whole:
    """A body of one piece; the server sends it with the head in a single write.

    Attributes:
        data: All of it.
    """

    __slots__ = ("_given", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._given = False

    def __aiter__(self) -> Whole:
        return self

    async def __anext__(self) -> bytes:
        if self._given or not self.data:
            raise StopAsyncIteration
        self._given = True
        return self.data

    async def aclose(self) -> None:
        """Give no more."""
        self._given = True


async def close_body(response: HTTPResponse) -> None:
    """Close a response's body if it can be closed; ends the work behind it."""
    aclose = getattr(response.body, "aclose", None)
    if aclose is not None:
        await aclose()
