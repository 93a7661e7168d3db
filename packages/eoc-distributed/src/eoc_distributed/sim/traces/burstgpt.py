"""Traces of BurstGPT.

CSV with the columns Timestamp (s from the start), Model, Request tokens,
Response tokens, Total tokens and Log Type, and in later releases Session ID and Elapsed time.

Rows with no response tokens are requests that failed; they are left out, as in the releases
"without fails". Columns are found by name.

Source: BurstGPT (arXiv 2401.17644), releases 1.1 and 2.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import ClassVar

from eoc_distributed.errors import TraceInvalid

from .base import TracedRequest, count

_NEEDED = ("timestamp", "request tokens", "response tokens")
_LAST_S = 1e10


class BurstGPT:
    """BurstGPT's CSV."""

    name: ClassVar[str] = "burstgpt"

    def recognises(self, first_line: str) -> bool:
        return set(_NEEDED) <= set(_names(first_line))

    def read(self, lines: Iterable[tuple[int, str]], *, file: str) -> Iterator[TracedRequest]:
        columns: list[int] = []
        width = 0
        for line, text in lines:
            if not columns:
                names = _names(text)
                if not self.recognises(text):
                    raise TraceInvalid(file, line, f"the columns {', '.join(_NEEDED)} are needed")
                columns, width = [names.index(name) for name in _NEEDED], len(names)
                continue
            fields = _fields(text, file=file, line=line)
            if len(fields) != width:
                raise TraceInvalid(file, line, f"{width} columns are needed, not {len(fields)}")
            at, asked, answered = (fields[column].strip() for column in columns)
            output = count(_whole(answered), "Response tokens", file=file, line=line)
            if output == 0:
                continue
            prompt = count(_whole(asked), "Request tokens", file=file, line=line)
            yield TracedRequest(_seconds(at, file=file, line=line), max(1, prompt), output)


def _names(line: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in line.split(",")]


def _fields(text: str, *, file: str, line: int) -> list[str]:
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise TraceInvalid(file, line, str(error)) from error


def _whole(text: str) -> str:
    """Return `12.0`, which pandas writes where a column has gaps, as `12`."""
    return text.removesuffix(".0")


def _seconds(text: str, *, file: str, line: int) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _LAST_S:
        raise TraceInvalid(file, line, f"Timestamp is in seconds, not {text!r:.40}")
    return seconds
