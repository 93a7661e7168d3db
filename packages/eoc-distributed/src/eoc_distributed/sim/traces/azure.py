"""Traces of Azure's LLM inference services.

CSV with the columns TIMESTAMP (wall clock, up to seven fractional digits), ContextTokens and
GeneratedTokens.

Source: AzurePublicDataset, AzureLLMInferenceTrace 2023 (Splitwise, ISCA 2024); the 2024
traces (DynamoLLM, HPCA 2025) have the same columns and a UTC offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import ClassVar

from eoc_distributed.errors import TraceInvalid

from .base import TracedRequest, count

_HEADER = ["timestamp", "contexttokens", "generatedtokens"]
_TIME = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?((?:[+-]\d\d:\d\d)|Z)?")


class Azure:
    """Azure's CSV."""

    name: ClassVar[str] = "azure"

    def recognises(self, first_line: str) -> bool:
        return first_line.lower().split(",") == _HEADER

    def read(self, lines: Iterable[tuple[int, str]], *, file: str) -> Iterator[TracedRequest]:
        for line, text in lines:
            if self.recognises(text):
                continue
            fields = text.split(",")
            if len(fields) != len(_HEADER):
                raise TraceInvalid(file, line, f"three columns are needed, not {len(fields)}")
            yield TracedRequest(
                _seconds(fields[0], file=file, line=line),
                max(1, count(fields[1], "ContextTokens", file=file, line=line)),
                max(1, count(fields[2], "GeneratedTokens", file=file, line=line)),
            )


def _seconds(text: str, *, file: str, line: int) -> float:
    match = _TIME.fullmatch(text)
    if match is None:
        raise TraceInvalid(file, line, f"TIMESTAMP is a date and a time, not {text!r:.40}")
    try:
        whole = datetime.fromisoformat(match[1] + (match[3] or ""))
    except ValueError as error:
        raise TraceInvalid(file, line, f"TIMESTAMP: {error}") from error
    if whole.tzinfo is None:
        whole = whole.replace(tzinfo=UTC)
    # fromisoformat knows six digits; the seventh is a tenth of a microsecond.
    return whole.timestamp() + float(f"0.{match[2] or 0}")
