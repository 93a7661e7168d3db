"""Server-sent events read from bytes as they pass (WHATWG HTML, section 9.2).

A push decoder: `feed` takes pieces cut anywhere, in a line break or a UTF-8 character too,
and returns the data of the events that are complete. Line ends are LF, CRLF or CR; a BOM
may lead; comments and other fields are skipped.
"""

from __future__ import annotations

MAX_EVENT_BYTES = 1 << 20
"""A larger event is skipped, so that a peer cannot fill memory; it still passes the proxy."""

_BOM = b"\xef\xbb\xbf"


class EventDecoder:
    """Finds the events of one stream.

    Attributes:
        skipped: Events that were too large to keep.
    """

    __slots__ = ("_data", "_first", "_line", "_line_size", "_size", "_too_large", "skipped")

    def __init__(self) -> None:
        # The line that has begun and not ended, in pieces: joined once, when it ends.
        self._line: list[bytes] = []
        self._line_size = 0
        self._data: list[bytes] = []
        self._size = 0
        self._too_large = False
        self._first = True
        self.skipped = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """Take the next bytes; return the data of each event that they complete."""
        line = self._line
        if line:
            if b"\n" not in piece and b"\r" not in piece and not line[-1].endswith(b"\r"):
                self._keep(piece)
                return []
            line.append(piece)
            piece = b"".join(line)
            line.clear()
            self._line_size = 0
        if self._first:
            if len(piece) < len(_BOM) and _BOM.startswith(piece):
                self._keep(piece)
                return []
            piece = piece.removeprefix(_BOM)
            self._first = False
        if b"\r" in piece:
            # A CR at the very end may be half of a CRLF: it waits for what follows.
            held = b"\r" if piece.endswith(b"\r") else b""
            piece = piece[: len(piece) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            lines = piece.split(b"\n")
            self._keep(lines.pop() + held)
        else:
            lines = piece.split(b"\n")
            self._keep(lines.pop())
        return self._events(lines)

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._line.append(piece)
        self._line_size += len(piece)
        if self._line_size > MAX_EVENT_BYTES:
            # The line's start is lost, and with it its event; a field named ":" is a comment.
            self._too_large = True
            self._data.clear()
            held = b"\r" if piece.endswith(b"\r") else b""
            self._line[:] = [b":" + held]
            self._line_size = 1

    def _events(self, lines: list[bytes]) -> list[bytes]:
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data:"):
                self._add(line[6:] if line.startswith(b"data: ") else line[5:])
            elif line == b"data":
                self._add(b"")
            elif not line:
                if self._too_large:
                    self.skipped += 1
                elif data:
                    events.append(data[0] if len(data) == 1 else b"\n".join(data))
                data.clear()
                self._size = 0
                self._too_large = False
        return events

    def _add(self, value: bytes) -> None:
        self._size += len(value) + 1
        if self._size > MAX_EVENT_BYTES:
            self._too_large = True
            self._data.clear()
        elif not self._too_large:
            self._data.append(value)
