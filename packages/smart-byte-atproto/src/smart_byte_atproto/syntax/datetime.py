"""Datetime: what RFC 3339, ISO 8601 and WHATWG agree on; at most 64 characters.

`YYYY-MM-DDTHH:MM:SS`, a fraction of any length, then `Z` or an offset. The text is kept, because
writing it in another way changes the hash of a record. Seconds run to 59: leap seconds are
refused, as the implementations of the network do.

Source: Lexicon specification, string format `datetime`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

MAX_LENGTH = 64
_FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTHS, _HOURS, _MINUTES = 12, 24, 60
_LEAP_CYCLE = 400  # years after which the calendar repeats


class Datetime(str):
    """A valid datetime as text."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`, and that there is such a time.

        Raises:
            InvalidSyntax: It is no datetime.
        """
        if len(text) > MAX_LENGTH:
            raise InvalidSyntax("datetime", text, f"longer than {MAX_LENGTH} characters")
        found = _match(text)
        if text.endswith("-00:00"):
            raise InvalidSyntax("datetime", text, "offset -00:00 is not allowed")
        year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
        ahead, behind = int(found[9] or 0), int(found[10] or 0)
        if not 1 <= month <= _MONTHS or not 1 <= day <= _days(year, month):
            raise InvalidSyntax("datetime", text, "there is no such day")
        if max(hour, ahead) >= _HOURS or max(minute, second, behind) >= _MINUTES:
            raise InvalidSyntax("datetime", text, "there is no such time of day")
        into_year = hour * _MINUTES + minute + (day - 1 + (month - 1) * 31) * 1440
        if year == 0 and found[8] == "+" and into_year < ahead * _MINUTES + behind:
            raise InvalidSyntax("datetime", text, "before year 0 in UTC")
        return super().__new__(cls, text)

    def instant(self) -> datetime:
        """Return the time in UTC; digits beyond microseconds are cut off.

        Raises:
            InvalidSyntax: Python's `datetime` does not reach there (years 1 to 9999 in UTC).
        """
        found = _match(self)
        try:
            local = datetime.fromisoformat(self[:19]).replace(tzinfo=UTC)
            offset = timedelta(hours=int(found[9] or 0), minutes=int(found[10] or 0))
            local += timedelta(microseconds=int((found[7] or "0")[:6].ljust(6, "0")))
            return local + offset if found[8] == "-" else local - offset
        except (ValueError, OverflowError) as bad:
            raise InvalidSyntax("datetime", self, "outside the years 1 to 9999") from bad


def _match(text: str) -> re.Match[str]:
    found = _FORM.fullmatch(text)
    if found is None:
        reason = "must be YYYY-MM-DDTHH:MM:SS, a fraction if any, and Z or an offset"
        raise InvalidSyntax("datetime", text, reason)
    return found


def _days(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % _LEAP_CYCLE == 0)
    return 29 if month == 2 and leap else _DAYS[month - 1]  # noqa: PLR2004  February
