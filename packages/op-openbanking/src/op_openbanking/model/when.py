"""Dates and instants, with the precision and the offset that were written.

A bank writes `2024-05-01`, `2024-05-01T10:00`, `2024-05-01T10:00:00.123456789Z` or
`2024-05-01T10:00:00+02:00`, each for the same kind of member. `When` keeps the text and says which
it was; nothing is filled in: a date has no time, and a time without offset is no instant.

Fractions have up to 9 digits; `instant` rounds down to microseconds, `nanosecond` keeps them all.
A leap second (`:60`) is read as the last microsecond of its minute.

Source: ISO 8601; OBIE 3.1.11 "Date Formats"; Berlin Group 1.3.12 ISODateTime; CDR 1.31
DateTimeString (RFC 3339).
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Self

import msgspec

from op_openbanking.errors import InvalidValue

_WHEN = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"(Z|z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?",
    re.ASCII,
)
_LEAP_SECOND = 60
_MINUTES_PER_HOUR = 60
_WITH_Z = len("2024-05-01T10:00:00Z")
_WITH_OFFSET = len("2024-05-01T10:00:00+01:00")


class When(msgspec.Struct, frozen=True, gc=False):
    """A date, a local time or an instant.

    Attributes:
        text: As written.
        day: The calendar date, at the offset written.
        moment: Date and time, aware where an offset was written; None for a date alone.
        nanosecond: Nanoseconds within the second, 0 to 999,999,999.
        fraction_digits: Digits of the fraction as written, 0 to 9.
    """

    text: str
    day: date
    moment: datetime | None
    nanosecond: int = 0
    fraction_digits: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a date or a date and time.

        Raises:
            InvalidValue: If the text is neither, or names no day or time that exists.
        """
        quick = _whole_seconds(text)
        if quick is not None:
            return cls(text, quick.date(), quick)
        match = _WHEN.fullmatch(text)
        if match is None:
            raise InvalidValue("date", text, expected="an ISO 8601 date or date and time")
        day_text, hour, minute, second, fraction, offset = match.groups()
        try:
            day = date.fromisoformat(day_text)
            if hour is None:
                return cls(text=text, day=day, moment=None)
            nanosecond = int((fraction or "").ljust(9, "0"))
            leap = int(second or 0) == _LEAP_SECOND
            moment = datetime(
                day.year,
                day.month,
                day.day,
                int(hour),
                int(minute),
                _LEAP_SECOND - 1 if leap else int(second or 0),
                999_999 if leap else nanosecond // 1000,
                tzinfo=_zone(offset),
            )
        except ValueError:
            raise InvalidValue("date", text, expected="a day and time that exist") from None
        return cls(
            text=text,
            day=day,
            moment=moment,
            nanosecond=nanosecond,
            fraction_digits=len(fraction or ""),
        )

    @classmethod
    def at(cls, moment: datetime) -> Self:
        """An aware datetime as a `When`, to the second or the microsecond it has.

        Raises:
            InvalidValue: If the datetime is naive.
        """
        if moment.tzinfo is None:
            raise InvalidValue("date", moment, expected="an aware datetime")
        return cls.parse(moment.isoformat())

    @property
    def is_date(self) -> bool:
        """Whether only a date was written."""
        return self.moment is None

    @property
    def instant(self) -> datetime | None:
        """The instant in UTC, or None where no time or no offset was written."""
        if self.moment is None or self.moment.tzinfo is None:
            return None
        try:
            return self.moment.astimezone(UTC)
        except OverflowError:
            return None

    def is_before(self, now: datetime) -> bool:
        """Whether it lies wholly before an aware `now`; without an offset UTC is assumed.

        A date lies before `now` when the whole day has passed.
        """
        if self.moment is None:
            return self.day < now.astimezone(UTC).date()
        return (self.instant or self.moment.replace(tzinfo=UTC)) < now

    def __str__(self) -> str:
        return self.text


def _whole_seconds(text: str) -> datetime | None:
    """The commonest form, `2024-05-01T10:00:00` with `Z` or `+01:00`, by C code; else None."""
    size = len(text)
    if (
        (size == _WITH_Z and text[19] == "Z")
        or (size == _WITH_OFFSET and text[22] == ":" and text[23] < "6" and text[19] in "+-")
    ) and text[4:19:3] == "--T::":
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return None
    return None


def _zone(offset: str | None) -> timezone | None:
    if offset is None:
        return None
    if offset in {"Z", "z"}:
        return UTC
    digits = offset[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if minutes >= _MINUTES_PER_HOUR:
        raise ValueError(offset)
    size = timedelta(hours=hours, minutes=minutes)
    return timezone(-size if offset[0] == "-" else size)
