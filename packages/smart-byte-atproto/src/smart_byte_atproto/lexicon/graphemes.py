"""Graphemes: what a reader takes for one letter (UAX #29, extended grapheme clusters)."""

from __future__ import annotations


def count_graphemes(text: str) -> int:
    """Count the extended grapheme clusters of a text."""
    if text.isascii() and "\r" not in text:
        return len(text)
    import regex  # noqa: PLC0415 - its tables take 10 ms to load, and few texts need them

    return sum(1 for _ in regex.finditer(r"\X", text))
