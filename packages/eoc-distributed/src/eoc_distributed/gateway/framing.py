"""Heads of HTTP/1.1 messages as bytes (RFC 9112), and which fields go no further than one hop."""

from __future__ import annotations

from http import HTTPStatus

from eoc_distributed.http import Headers

HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""RFC 9110 section 7.6.1, and what older peers send."""

_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
_STATUS_LINES = {code: b"HTTP/1.1 %d %b\r\n" % (code, reason) for code, reason in _REASONS.items()}
NO_BODY = frozenset({204, 304})


def end_to_end(headers: Headers, *, also_drop: frozenset[bytes] = frozenset()) -> Headers:
    """Return the fields that are meant for the other end.

    Args:
        headers: Names in lower case.
        also_drop: Further names to leave out.
    """
    for name, value in headers:
        if name == b"connection":
            also_drop = also_drop.union(token.strip().lower() for token in value.split(b","))
    return tuple(
        [field for field in headers if field[0] not in HOP_BY_HOP and field[0] not in also_drop]
    )


class Fields(tuple[tuple[bytes, bytes], ...]):  # noqa: SLOT001 - a tuple cannot have slots
    """Headers that many answers share, rendered once.

    Attributes:
        lines: All of them as lines of a head.
        dated: Whether there is a Date among them.
    """

    lines: bytes
    dated: bool

    @classmethod
    def of(cls, headers: Headers) -> Fields:
        """Return end-to-end headers without Content-Length, rendered.

        Raises:
            ValueError: A field has a line break in it.
        """
        fields = cls(headers)
        fields.lines = render(headers)
        fields.dated = any(name == b"date" for name, _ in headers)
        return fields


def render(headers: Headers) -> bytes:
    """Return headers as lines of a head.

    Raises:
        ValueError: A field has a line break in it.
    """
    lines = b"".join([b"%b: %b\r\n" % field for field in headers])
    if not is_clean(head=lines, lines=len(headers)):
        raise ValueError("a header has a line break in it")
    return lines


def is_clean(*, head: bytes, lines: int) -> bool:
    """Return whether a head has exactly the lines that were put into it.

    A value with a line break in it would split the message; counting finds any.
    """
    return head.count(b"\n") == lines == head.count(b"\r") and b"\0" not in head


def status_line(status: int) -> bytes:
    """Return the status line of an answer."""
    line = _STATUS_LINES.get(status)
    return line if line is not None else b"HTTP/1.1 %d Status\r\n" % status


def chunk(data: bytes) -> bytes:
    """Return one chunk of a chunked body (RFC 9112 section 7.1); `data` is not empty."""
    return b"%x\r\n%b\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"
