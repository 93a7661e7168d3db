"""Recorded frames in a file: repeated little-endian u32 length, then the frame; plain or zstd.

Source: format of the jetstream corpus; RFC 8878 for Zstandard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import zstandard

from smart_byte_atproto.errors import InvalidFrame, Truncated

from .frame import MAX_FRAME_BYTES

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LENGTH_BYTES = 4
# A window of 128 MiB bounds the memory that a hostile file can ask for.
_MAX_WINDOW_BYTES = 1 << 27


# Compressed bytes taken at once. Zstandard makes at most 128 KiB of four bytes, so what one step
# can ask for is 32 MiB.
_STEP_BYTES = 1024
_CHUNK_BYTES = 1 << 16


_LEAST_FRAME_BYTES = 2
"""A frame is two CBOR items; shorter ones would make millions of frames of a few bytes."""


def read_frames(file: BinaryIO, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> Iterator[bytes]:
    """Yield the frames of a recording; memory is bounded by the longest frame.

    Args:
        file: Open at its start; zstd is told by the first four bytes.
        max_frame_bytes: Longest frame allowed.

    Raises:
        Truncated: The file ends inside a frame; the frames before it were yielded.
        InvalidFrame: `recording`: a frame is too long or too short, or the zstd stream is corrupt.
    """
    start = file.read(len(ZSTD_MAGIC))
    chunks = _plain(start, file) if start != ZSTD_MAGIC else _unpacked(start, file)
    held = bytearray()
    at = 0
    for chunk in chunks:
        held += chunk
        position = 0
        while len(held) - position >= _LENGTH_BYTES:
            begin = position + _LENGTH_BYTES
            size = int.from_bytes(held[position:begin], "little")
            if not _LEAST_FRAME_BYTES <= size <= max_frame_bytes:
                raise InvalidFrame("recording", f"frame of {size} bytes", at=f"byte {at}")
            if len(held) < begin + size:
                break
            yield bytes(held[begin : begin + size])
            position = begin + size
            at += _LENGTH_BYTES + size
        del held[:position]
    if held:
        needed = _LENGTH_BYTES - len(held)
        if needed <= 0:
            needed = int.from_bytes(held[:_LENGTH_BYTES], "little") - len(held) + _LENGTH_BYTES
        raise Truncated("recording is cut off", needed=needed, at=at)


def _plain(start: bytes, file: BinaryIO) -> Iterator[bytes]:
    chunk = start
    while chunk:
        yield chunk
        chunk = file.read(_CHUNK_BYTES)


def _unpacked(start: bytes, file: BinaryIO) -> Iterator[bytes]:
    """Decompress one Zstandard frame after the other.

    Raises:
        Truncated: The last one is not finished.
        InvalidFrame: `recording`: the stream is corrupt.
    """
    unpack = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES)
    stream = unpack.decompressobj()
    fresh = True
    data = start
    while data:
        try:
            chunk = stream.decompress(data)
        except zstandard.ZstdError as error:
            raise InvalidFrame("recording", f"corrupt zstd stream: {error}") from error
        fresh = False
        rest = b""
        if stream.eof:
            rest = stream.unused_data
            stream = unpack.decompressobj()
            fresh = True
        yield chunk
        data = rest or file.read(_STEP_BYTES)
    if not fresh:
        raise Truncated("zstd stream is cut off")


def write_frames(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a plain recording."""
    for frame in frames:
        yield len(frame).to_bytes(_LENGTH_BYTES, "little") + frame
