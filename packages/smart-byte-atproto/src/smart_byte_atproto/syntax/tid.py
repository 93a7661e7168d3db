"""TID: a 64-bit time stamp of 13 characters that sorts like its number.

Bit 63 is zero in every TID of a real clock, then 53 bits of microseconds since the UNIX epoch and
10 bits of clock identifier. Syntax lets values of 2^63 and above pass (first character `c` to
`j`): they are plain integers here and never squeezed into a signed word.

Source: atproto specification "TID".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

ALPHABET = "234567abcdefghijklmnopqrstuvwxyz"
LENGTH = 13
CLOCK_BITS = 10
MICROSECOND_BITS = 53
_DIGIT_BITS = 5
_FORM = re.compile(r"[234567a-j][234567a-z]{12}")
_VALUE = {character: value for value, character in enumerate(ALPHABET)}


class TID(str):
    """A valid TID. Order as text is order in time."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`.

        Raises:
            InvalidSyntax: It is no TID.
        """
        if _FORM.fullmatch(text) is None:
            raise InvalidSyntax("tid", text, "must be 13 characters of 2-7 a-z, the first 2-7 a-j")
        return super().__new__(cls, text)

    @classmethod
    def of(cls, number: int) -> Self:
        """Write an integer of 0 to 2^64 - 1.

        Raises:
            ValueError: The number is out of range.
        """
        if not 0 <= number < 1 << 64:
            raise ValueError(f"TID out of range: {number}")
        shifts = range((LENGTH - 1) * _DIGIT_BITS, -1, -_DIGIT_BITS)
        return cls("".join(ALPHABET[number >> shift & 0x1F] for shift in shifts))

    @classmethod
    def at(cls, micros: int, clock_id: int = 0) -> Self:
        """Stamp a time in microseconds since 1970 (below 2^53) with a clock (below 1024).

        Raises:
            ValueError: One of them is out of range.
        """
        if not 0 <= micros < 1 << MICROSECOND_BITS:
            raise ValueError(f"TID time out of range: {micros}")
        if not 0 <= clock_id < 1 << CLOCK_BITS:
            raise ValueError(f"TID clock out of range: {clock_id}")
        return cls.of(micros << CLOCK_BITS | clock_id)

    def __int__(self) -> int:
        number = 0
        for character in self:
            number = number << _DIGIT_BITS | _VALUE[character]
        return number

    @property
    def micros(self) -> int:
        """Microseconds since 1970-01-01T00:00:00Z; 2^53 and above where the top bit is set."""
        return int(self) >> CLOCK_BITS

    @property
    def clock_id(self) -> int:
        """Which clock of many made it: 0 to 1023."""
        return int(self) & (1 << CLOCK_BITS) - 1


class TIDGenerator:
    """Makes TIDs that strictly increase, whatever the clock does.

    Not for several threads at once: give each its own, whose clock identifier will differ.

    Args:
        clock: Returns microseconds since 1970.
        rng: Draws the clock identifier, once.
        last: A TID that all of the new ones must be later than, if there is one.
    """

    def __init__(self, clock: Callable[[], int], *, rng: Random, last: TID | None = None) -> None:
        self._clock = clock
        self._clock_id = rng.getrandbits(CLOCK_BITS)
        self._last = -1 if last is None else last.micros

    def next(self) -> TID:
        """Return a TID after all that came before.

        Raises:
            ValueError: 53 bits of microseconds are used up (year 2255).
        """
        self._last = max(self._clock(), self._last + 1)
        return TID.at(self._last, self._clock_id)
