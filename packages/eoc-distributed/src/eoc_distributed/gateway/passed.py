"""What of a worker's headers goes on to the client, worked out once for the same headers."""

from __future__ import annotations

from typing import NamedTuple

from eoc_distributed.http import Headers

from .framing import Fields, end_to_end

_OURS = frozenset(
    {
        b"content-length",
        b"x-eoc-worker",
        b"x-eoc-micro-joules",
        b"x-eoc-g-co2e",
        b"x-eoc-energy-quality",
        b"x-eoc-carbon-quality",
    }
)
HEADS_KEPT = 256
"""Heads of answers that a gateway remembers; those used longest ago go first."""


class Passed(NamedTuple):
    """Headers of an answer on their way to the client.

    Attributes:
        fields: End-to-end fields, and the name of the worker; without Content-Length.
        length: Content-Length of the answer; None if it tells none that can be read.
        length_field: The same as a field, or nothing.
        events: Whether the body is a stream of server-sent events.
        paced: Whether the worker says itself whether the stream may be buffered.
    """

    fields: Fields
    length: int | None
    length_field: Headers
    events: bool
    paced: bool


def pass_on(headers: Headers, worker_id: str) -> Passed:
    """Return what the client gets of a worker's headers.

    Raises:
        ValueError: A field has a line break in it.
    """
    length: int | None = None
    events = paced = False
    for name, value in headers:
        if name == b"content-length":
            if length is None and value.isdigit():
                length = int(value)
        elif name == b"content-type":
            events = value.startswith(b"text/event-stream")
        elif name == b"x-accel-buffering":
            paced = True
    worker = (b"x-eoc-worker", worker_id.encode("latin-1", "replace"))
    return Passed(
        Fields.of((*end_to_end(headers, also_drop=_OURS), worker)),
        length,
        () if length is None else ((b"content-length", b"%d" % length),),
        events,
        paced,
    )
