"""Recorded frames in a file: repeated little-endian u32 length, then the frame; plain or zstd.

Source: format of the jetstream corpus; RFC 8878 for Zstandard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Protocol

import zstandard

from smart_byte_atproto.errors import InvalidFrame, Truncated

from .frame import MAX_FRAME_BYTES

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LENGTH_BYTES = 4
# A window of 128 MiB bounds the memory that a hostile file can ask for.
_MAX_WINDOW_BYTES = 1 << 27


class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_frames(file: BinaryIO, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> Iterator[bytes]:
    """Yield the frames of a recording; memory is bounded by the longest frame.

    Args:
        file: Open at its start; zstd is told by the first four bytes.
        max_frame_bytes: Longest frame allowed.

    Raises:
        Truncated: The file ends inside a frame; the frames before it were yielded.
        InvalidFrame: `recording`: a frame is too long, or the zstd stream is corrupt.
    """
    start = file.read(_LENGTH_BYTES)
    file.seek(0)
    reader: _Reader = file
    if start == ZSTD_MAGIC:
        reader = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES).stream_reader(
            file, read_across_frames=True
        )
    at = 0
    try:
        while head := _read(reader, _LENGTH_BYTES):
            size = int.from_bytes(head, "little")
            if len(head) < _LENGTH_BYTES:
                raise Truncated("recording", needed=_LENGTH_BYTES - len(head), at=at)
            if size > max_frame_bytes:
                raise InvalidFrame("recording", f"frame of {size} bytes", at=f"byte {at}")
            frame = _read(reader, size)
            if len(frame) < size:
                raise Truncated("recording", needed=size - len(frame), at=at)
            yield frame
            at += _LENGTH_BYTES + size
    except zstandard.ZstdError as error:
        raise InvalidFrame("recording", f"corrupt zstd stream: {error}") from error


def _read(reader: _Reader, size: int) -> bytes:
    """Read until `size` bytes are there or the input ends."""
    parts: list[bytes] = []
    while size and (part := reader.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def write_frames(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a plain recording."""
    for frame in frames:
        yield len(frame).to_bytes(_LENGTH_BYTES, "little") + frame
