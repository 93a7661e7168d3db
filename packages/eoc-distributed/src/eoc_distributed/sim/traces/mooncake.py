"""Traces of Mooncake.

One JSON object a line with timestamp (ms from the start), input_length
and output_length (tokens), and hash_ids: one for each 512 tokens of the prompt, equal ones in the
same leading places where prompts begin alike.

Source: Mooncake (FAST 2025), FAST25-release/traces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

import msgspec

from eoc_distributed.errors import TraceInvalid

from .base import TracedRequest, count


class _Line(msgspec.Struct):
    timestamp: float
    input_length: int
    output_length: int
    hash_ids: tuple[int, ...] = ()


BLOCK_TOKENS = 512
_decoder = msgspec.json.Decoder(_Line)
_LAST_MS = 1e13


class Mooncake:
    """Mooncake's JSON lines."""

    name: ClassVar[str] = "mooncake"
    block_tokens: ClassVar[int] = BLOCK_TOKENS

    def recognises(self, first_line: str) -> bool:
        return first_line.startswith("{")

    def read(self, lines: Iterable[tuple[int, str]], *, file: str) -> Iterator[TracedRequest]:
        for line, text in lines:
            try:
                row = _decoder.decode(text)
            except (msgspec.DecodeError, RecursionError) as error:
                raise TraceInvalid(file, line, str(error)) from error
            if not 0 <= row.timestamp <= _LAST_MS:
                raise TraceInvalid(file, line, f"timestamp is in ms, not {row.timestamp}")
            prompt_tokens = max(1, count(row.input_length, "input_length", file=file, line=line))
            if len(row.hash_ids) > -(-prompt_tokens // BLOCK_TOKENS):
                raise TraceInvalid(file, line, "hash_ids has more blocks than the prompt")
            yield TracedRequest(
                row.timestamp / 1000.0,
                prompt_tokens,
                max(1, count(row.output_length, "output_length", file=file, line=line)),
                row.hash_ids,
            )
