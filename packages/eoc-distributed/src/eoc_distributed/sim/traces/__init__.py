"""Traces: who asked when, with how long a prompt, and how long the answer was.

To add a format: write its file beside these with a class that fulfils `base.TraceFormat`;
give it a line in `FORMATS`; add its test file and a line in the CHANGELOG.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from eoc_distributed.errors import TraceInvalid

from .azure import Azure
from .base import TracedRequest, TraceFormat, numbered_lines
from .burstgpt import BurstGPT
from .mooncake import Mooncake
from .synthetic import AZURE_CONVERSATION, Shape, synthetic

__all__ = [
    "AZURE_CONVERSATION",
    "FORMATS",
    "Shape",
    "TraceFormat",
    "TracedRequest",
    "block_tokens",
    "read_trace",
    "synthetic",
]

FORMATS: dict[str, TraceFormat] = {known.name: known for known in (Azure(), BurstGPT(), Mooncake())}
"""Every format by its name, in the order in which they are tried."""


def block_tokens(path: Path) -> int | None:
    """Return the tokens of a block in a file whose format tells blocks; else None.

    Raises:
        TraceInvalid: The file cannot be read, or is of no known format.
    """
    first = next(numbered_lines(path), None)
    if first is None:
        raise TraceInvalid(str(path), 0, "the file is empty")
    return getattr(_format_of(first, path), "block_tokens", None)


def _format_of(first: tuple[int, str], path: Path) -> TraceFormat:
    known = next((one for one in FORMATS.values() if one.recognises(first[1])), None)
    if known is None:
        names = ", ".join(FORMATS)
        raise TraceInvalid(str(path), first[0], f"not the first line of a known format: {names}")
    return known


def read_trace(path: Path) -> Iterator[TracedRequest]:
    """Yield the requests of a file, plain or `.gz`, its format found from its first line.

    Arrivals count from the first request. A request that the file has out of order comes at
    the time of the one before it. Memory does not grow with the file.

    Raises:
        TraceInvalid: The file or one of its lines is not as it should be; says which.
    """
    lines = numbered_lines(path)
    first = next(lines, None)
    if first is None:
        raise TraceInvalid(str(path), 0, "the file is empty")
    known = _format_of(first, path)
    start_s: float | None = None
    last_s = 0.0
    for request in known.read(chain([first], lines), file=str(path)):
        if start_s is None:
            start_s = request.arrival_s
        last_s = max(last_s, request.arrival_s - start_s)
        yield TracedRequest(last_s, request.prompt_tokens, request.output_tokens, request.blocks)
