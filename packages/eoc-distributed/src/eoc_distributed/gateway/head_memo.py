"""The head that a connection carried last, so that the same head again needs no parser.

Peers that keep a connection open send one head after another that differ in the body's length
alone. Such a head means what the last one meant, for llhttp has judged every byte of it but the
digits of Content-Length: so the length is read, and all else is known. Whatever differs in one
more byte, or has not come in one piece with its body, goes to the parser as ever.
"""

from __future__ import annotations

from typing import Final

_FIELD: Final = b"\r\ncontent-length:"
_END: Final = b"\r\n\r\n"
_MAX_DIGITS: Final = 10
_MAX_HEAD_BYTES: Final = 4096
_PATIENCE: Final = 8
"""Heads noted in vain before a connection's heads are taken for ever different ones."""


class HeadMemo:
    """Knows one head of a message with a Content-Length.

    Attributes:
        size: Bytes of the head that was matched last, the empty line included.
    """

    __slots__ = ("_after", "_before", "_patience", "size")

    def __init__(self) -> None:
        self._before = b""
        self._after = b""
        self._patience = _PATIENCE
        self.size = 0

    def body_length(self, data: bytes) -> int:
        """Return the length of the body if `data` is the known head and that body, else -1."""
        before = self._before
        if not before or not data.startswith(before):
            return -1
        start = len(before)
        end = data.find(b"\r", start, start + _MAX_DIGITS + 1)
        if end < 0 or not data.startswith(self._after, end):
            return -1
        digits = data[start:end]
        size = end + len(self._after)
        if not digits.isdigit() or len(data) - size != int(digits):
            return -1
        self.size = size
        self._patience = _PATIENCE
        return len(data) - size

    def note(self, data: bytes) -> bool:
        """Learn the head at the start of a whole message that the parser has let pass.

        Args:
            data: Head and body of one message, both complete.

        Returns:
            Whether it was learnt: it has exactly one Content-Length, as plain digits, and `data`
            ends where that says.
        """
        if not self._patience or not data[:1].isalpha():
            return False
        self._patience -= 1
        self._before = b""
        end = data.find(_END, 0, _MAX_HEAD_BYTES)
        if end < 0:
            return False
        head = data[: end + len(_END)]
        folded = head.lower()
        at = folded.find(_FIELD)
        if at < 0 or folded.find(_FIELD, at + 1) >= 0:
            return False
        start = at + len(_FIELD)
        if head[start : start + 1] == b" ":
            start += 1
        stop = head.find(b"\r", start)
        digits = head[start:stop]
        if not digits.isdigit() or len(data) - len(head) != int(digits):
            return False
        self._before, self._after = head[:start], head[stop:]
        return True

    def forget(self) -> None:
        """Know nothing."""
        self._before = b""
