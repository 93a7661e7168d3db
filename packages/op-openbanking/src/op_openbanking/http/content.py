"""Bodies of answers: content decoding with a bound on the size.

A library that decodes by itself may turn 8 MiB on the wire into 8 GiB in memory before anybody can
count. So transports ask for raw chunks, and this decodes them piece by piece.

Source: RFC 9110 section 8.4; RFC 1952.
"""

from __future__ import annotations

import zlib

from op_openbanking.errors import ProtocolViolation, quoted

_GZIP_WINDOW_BITS = 31


class Body:
    """Collects the chunks of one answer.

    Args:
        limit_bytes: Longest decoded body.
        content_encoding: The header's value; `gzip`, `identity` or nothing are understood.

    Raises:
        ProtocolViolation: Unknown coding, too long, or damaged.
    """

    def __init__(self, *, limit_bytes: int, content_encoding: str | None) -> None:
        coding = (content_encoding or "identity").strip().lower()
        if coding not in {"identity", "gzip", "x-gzip"}:
            raise ProtocolViolation(
                f"content-encoding {quoted(coding)} was not asked for", section="RFC 9110 12.5.3"
            )
        self._limit_bytes = limit_bytes
        self._inflate = zlib.decompressobj(_GZIP_WINDOW_BITS) if "gzip" in coding else None
        self._seen = False
        self._body = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Add a raw chunk."""
        if not chunk:
            return
        self._seen = True
        room = self._limit_bytes - len(self._body)
        if self._inflate is None:
            self._append(chunk)
            return
        try:
            self._append(self._inflate.decompress(chunk, room + 1))
        except zlib.error as error:
            raise ProtocolViolation("the gzip body is damaged") from error
        if self._inflate.unused_data:
            raise ProtocolViolation("the body goes on after its gzip stream ends")
        if self._inflate.unconsumed_tail:
            raise ProtocolViolation(f"the body is longer than {self._limit_bytes} bytes")

    def finish(self) -> bytes:
        """The whole body.

        Raises:
            ProtocolViolation: The gzip stream stops in the middle.
        """
        if self._inflate is not None and self._seen and not self._inflate.eof:
            raise ProtocolViolation("the gzip body stops in the middle")
        return bytes(self._body)

    def _append(self, octets: bytes) -> None:
        if len(self._body) + len(octets) > self._limit_bytes:
            raise ProtocolViolation(f"the body is longer than {self._limit_bytes} bytes")
        self._body += octets
