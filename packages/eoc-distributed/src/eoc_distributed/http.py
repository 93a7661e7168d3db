"""An HTTP request and its response as values, for whoever answers one.

The gateway's handler, the HTTP backends and the embedded engine all speak these two
types, so a handler can be held by our own server, by an ASGI application or by a
test, and a worker inside the process looks like one behind a socket.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import msgspec

from .energy.accounting import Energy

Headers = tuple[tuple[bytes, bytes], ...]


class HTTPRequest(msgspec.Struct, frozen=True):
    """One request whose body is complete.

    Attributes:
        method: Upper case, as in RFC 9110 section 9.
        path: Origin form with the query, as it stood on the request line.
        headers: Names in lower case, in the order of arrival; none need tell the length of a
            body that is here.
        body: The very bytes that came; never re-encoded.
    """

    method: str
    path: str
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header (name in lower case), or None."""
        return first_header(self.headers, name)


class HTTPResponse(msgspec.Struct, frozen=True):
    """A status, headers, and a body that is still coming.

    Attributes:
        status: Final status, 200 to 599.
        headers: Names in lower case; no hop-by-hop fields (RFC 9110 section 7.6.1).
        body: Pieces as they come. Closing it early (`aclose`) cancels the work behind it.
        energy: What this response cost, where the worker itself knows; asked once the
            body is exhausted.
        added: Further headers, of this one answer alone; kept apart so that a server can
            render once what many answers have in common.
    """

    status: int
    headers: Headers
    body: AsyncIterator[bytes]
    energy: Callable[[], Energy | None] | None = None
    added: Headers = ()

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header (name in lower case), or None."""
        return first_header(self.headers + self.added, name)


def first_header(headers: Headers, name: bytes) -> bytes | None:
    """Return the first value of the header `name` (lower case), or None."""
    for key, value in headers:
        if key == name:
            return value
    return None
