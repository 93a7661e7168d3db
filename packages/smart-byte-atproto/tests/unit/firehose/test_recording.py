from __future__ import annotations

import io

import pytest
import zstandard

from smart_byte_atproto.errors import InvalidFrame
from smart_byte_atproto.firehose.recording import read_frames


@pytest.mark.parametrize("pack", [bytes, zstandard.compress], ids=["plain", "zstd"])
@pytest.mark.parametrize("size", [0, 1])
def test_frames_too_short_to_be_one_end_the_reading(pack: type[bytes], size: int) -> None:
    frames = (size.to_bytes(4, "little") + bytes(size)) * 1_000_000
    with pytest.raises(InvalidFrame, match="recording"):
        list(read_frames(io.BytesIO(pack(frames))))
