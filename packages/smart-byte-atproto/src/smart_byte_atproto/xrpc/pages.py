"""Answers that come in pages: what is asked next, and that it ends."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import ResponseInvalid

_MAX_PAGES = 1_000_000


class Pages:
    """The position in a list that pages by `cursor`.

    Args:
        params: Of the query, without the cursor or with where to begin.

    Attributes:
        ended: Whether there is no further page.
    """

    def __init__(self, params: Mapping[str, Value]) -> None:
        self._params = dict(params)
        self._seen: set[bytes] = set()
        self.ended = False

    def params(self) -> Mapping[str, Value]:
        """Return the parameters of the next page."""
        return self._params

    def take(self, page: Mapping[str, Value], *, host: str) -> None:
        """Take a page that came. An empty one with a cursor is no end.

        Raises:
            ResponseInvalid: `form`: its cursor has come before, or there is no end to them.
        """
        cursor = page.get("cursor")
        if not isinstance(cursor, str) or not cursor:
            self.ended = True
            return
        mark = blake2b(cursor.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if mark in self._seen or len(self._seen) >= _MAX_PAGES:
            raise ResponseInvalid(host, "a cursor came twice, or there is no end", code="form")
        self._seen.add(mark)
        self._params["cursor"] = cursor
