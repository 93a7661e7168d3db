"""What a trace is: requests in the order of their arrival."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Protocol

import msgspec

from eoc_distributed.errors import TraceInvalid

MAX_LINE_CHARACTERS = 1 << 20
"""A longer line is no line of a trace; Mooncake's longest has some 3,000 characters."""
MAX_TOKENS = 1 << 24
"""More tokens in one request are a mistake."""


class TracedRequest(msgspec.Struct, frozen=True):
    """One request of a trace.

    Attributes:
        arrival_s: When it came, seconds since the first.
        prompt_tokens: Length of the prompt, at least 1.
        output_tokens: Length of the answer, at least 1.
        blocks: Chained hashes of the prompt's blocks from its start, the last one of which
            may be part of a block; empty where the trace tells none.
    """

    arrival_s: float
    prompt_tokens: int
    output_tokens: int
    blocks: tuple[int, ...] = ()


class TraceFormat(Protocol):
    """One file format. Has no state; does no I/O.

    Attributes:
        name: Stable, lower case.
    """

    name: ClassVar[str]

    def recognises(self, first_line: str) -> bool:
        """Return whether a file that begins with that line is of this format."""
        ...

    def read(self, lines: Iterable[tuple[int, str]], *, file: str) -> Iterator[TracedRequest]:
        """Yield the requests of numbered lines, keeping none.

        `arrival_s` counts from whatever the format counts from.

        Raises:
            TraceInvalid: A line is not as it should be.
        """
        ...


def count(value: object, name: str, *, file: str, line: int) -> int:
    """Return a number of tokens.

    Raises:
        TraceInvalid: It is no whole number from 0 to `MAX_TOKENS`.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:  # noqa: PLR2004
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_TOKENS:
        raise TraceInvalid(file, line, f"{name} is a number of tokens, not {value!r:.40}")
    return value


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number, line) for the lines of a file, plain or `.gz`; one line in memory.

    Raises:
        TraceInvalid: It cannot be read, is not text, or has a line that is too long.
    """
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as data:
            while raw := data.readline(MAX_LINE_CHARACTERS):
                number += 1
                if len(raw) == MAX_LINE_CHARACTERS and not raw.endswith(b"\n"):
                    raise TraceInvalid(str(path), number, "the line is too long")
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                if text:
                    yield number, text
    except UnicodeDecodeError as error:
        raise TraceInvalid(str(path), number, "not UTF-8 text") from error
    except (OSError, EOFError, zlib.error) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise TraceInvalid(str(path), 0, f"cannot be read: {what}") from error
