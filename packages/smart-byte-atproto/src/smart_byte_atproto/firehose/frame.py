"""Frames of event streams: a DAG-CBOR header directly followed by a DAG-CBOR payload.

Source: AT Protocol, Event Stream, Framing; reference section 8.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.errors import ATProtoError, InvalidFrame

# Clients have to accept frames of 5 MB.
MAX_FRAME_BYTES = 5_000_000
MESSAGE = 1
ERROR = -1


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame.

    Attributes:
        op: 1 for a message, -1 for an error; others are to be ignored.
        type: Type of a message, such as `#commit`; None in errors.
        body: The payload.
    """

    op: int
    type: str | None
    body: dict[str, dag_cbor.Value]


def decode_frame(data: bytes, *, max_bytes: int = MAX_FRAME_BYTES) -> Frame:
    """Decode a frame.

    Raises:
        InvalidFrame: `size` (too long), `frame` (not two DAG-CBOR maps and nothing else, or a
            header without `op`, or a message without `t`).
    """
    if len(data) > max_bytes:
        raise InvalidFrame("size", f"{len(data)} bytes; at most {max_bytes} are allowed")
    if data.startswith(_COMMIT_HEADER) and (commit := _decode_commit(data)) is not None:
        return Frame(MESSAGE, "#commit", commit)
    try:
        header, at = dag_cbor.decode_first(data)
        body, end = dag_cbor.decode_first(data, at)
    except ATProtoError as error:
        raise InvalidFrame("frame", f"not two items of strict DAG-CBOR: {error}") from error
    if end != len(data):
        raise InvalidFrame("frame", f"{len(data) - end} bytes after the payload")
    if not isinstance(header, dict) or not isinstance(body, dict):
        raise InvalidFrame("frame", "header or payload is not a map")
    op, kind = header.get("op"), header.get("t")
    if type(op) is not int:
        raise InvalidFrame("frame", "header without an integer op")
    if not isinstance(kind, str | None) or (op == MESSAGE and kind is None):
        raise InvalidFrame("frame", "header of a message without a type")
    return Frame(op, kind, body)


_COMMIT_HEADER = b"\xa2\x61t\x67#commit\x62op\x01"
_BLOCKS_KEY = b"\x66blocks"
_BLOCKS = re.compile(_BLOCKS_KEY + rb"([\x59\x5a])").search
_LENGTH_BYTES = {b"\x59": 2, b"\x5a": 4}
_NO_BLOCKS = b"\x40"


def _decode_commit(data: bytes) -> dict[str, dag_cbor.Value] | None:
    """Decode the payload of a `#commit` with its slice cut out and put back; None if in doubt.

    Nearly all of a commit is the byte string `blocks`, which nothing in CBOR looks into. Decoding
    what is around it takes the short way that is safe for small input. The bytes cut out are the
    value of the key `blocks` of the payload, because the rest holds that key and holds its bytes
    only once.
    """
    found = _BLOCKS(data)
    if found is None:
        return None
    size_bytes = _LENGTH_BYTES[found[1]]
    start = found.end() + size_bytes
    size = int.from_bytes(data[found.end() : start])
    end = start + size
    rest = data[len(_COMMIT_HEADER) : found.start(1)] + _NO_BLOCKS + data[end:]
    shortest = size >> 8 * size_bytes // 2 and end <= len(data)
    if not shortest or len(rest) > _MAX_REST_BYTES or rest.count(_BLOCKS_KEY) != 1:
        return None
    try:
        body = dag_cbor.decode(rest)
    except ATProtoError:
        return None
    if not isinstance(body, dict) or body.get("blocks") != b"":
        return None
    body["blocks"] = data[start:end]
    return body


# Larger payloads take the general way; 200 operations take some 40,000 bytes.
_MAX_REST_BYTES = 100_000
