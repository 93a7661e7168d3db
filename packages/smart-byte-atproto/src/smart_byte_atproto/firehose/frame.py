"""Frames of event streams: a DAG-CBOR header directly followed by a DAG-CBOR payload.

Source: AT Protocol, Event Stream, Framing; reference section 8.1.
"""

from __future__ import annotations

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
