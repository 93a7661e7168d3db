from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from op_openbanking.errors import InvalidValue
from op_openbanking.model.when import When


def test_a_date_has_no_time() -> None:
    when = When.parse("2024-02-29")
    assert when.is_date
    assert (when.day, when.moment, when.instant) == (date(2024, 2, 29), None, None)


def test_keeps_precision_and_offset() -> None:
    when = When.parse("2024-05-01T23:30:00.123456789+02:00")
    assert when.fraction_digits == 9
    assert when.nanosecond == 123_456_789
    assert when.moment is not None
    assert when.moment.utcoffset() == timedelta(hours=2)
    assert when.instant == datetime(2024, 5, 1, 21, 30, 0, 123456, UTC)
    assert str(when) == "2024-05-01T23:30:00.123456789+02:00"


def test_a_time_without_offset_is_no_instant() -> None:
    when = When.parse("2024-05-01T10:00")
    assert when.instant is None
    assert when.moment == datetime(2024, 5, 1, 10, 0)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2017-05-02T14:22:09.875Z", datetime(2017, 5, 2, 14, 22, 9, 875_000, UTC)),
        ("2017-05-02T14:22:09-0330", datetime(2017, 5, 2, 17, 52, 9, 0, UTC)),
        ("2017-05-02T14:22:09+01", datetime(2017, 5, 2, 13, 22, 9, 0, UTC)),
        ("2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, 999_999, UTC)),
        ("2017-05-02 14:22:09z", datetime(2017, 5, 2, 14, 22, 9, 0, UTC)),
    ],
)
def test_reads_the_forms_that_banks_write(text: str, instant: datetime) -> None:
    assert When.parse(text).instant == instant


@pytest.mark.parametrize(
    "text",
    [
        "", "2024", "2024-13-01", "2023-02-29", "2024-1-1", "20240101", "2024-01-01T", "01/02/2024",
        "2024-01-01T24:00:00Z", "2024-01-01T10:00:61Z", "2024-01-01T10:00:00.1234567890Z",
        "2024-01-01T10:00:00+25:00", "2024-01-01T10:00:00+01:60", "\u0662\u0660\u0662\u0664-01-01",
        "2024-05-0\u0661T10:00:00Z", "2024-05-01T10:00:0\uff11Z", "2024-05-01T10:00:00+0\u0661:00",
        "2024-05-01T1 :00:00Z", "2024-05-01T10:00:00z+", "2024-05-01 10:00:00+25:00", "-024-05-01",
        "2024-01-01\n", "0000-01-01", "2024-01-01T10:00:00.Z", "1714521600", "NaN",
    ],
)  # fmt: skip
def test_refuses_what_is_no_day_or_time(text: str) -> None:
    with pytest.raises(InvalidValue):
        When.parse(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_an_instant_outside_the_calendar_is_none(text: str) -> None:
    assert When.parse(text).instant is None


def test_a_date_lies_before_now_once_its_day_is_over() -> None:
    now = datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert When.parse("2024-04-30").is_before(now)
    assert not When.parse("2024-05-01").is_before(now)
    assert When.parse("2024-05-01T13:30:00+02:00").is_before(now)
    assert not When.parse("2024-05-01T12:00:00Z").is_before(now)
    assert When.parse("2024-05-01T11:59").is_before(now)
    assert not When.parse("9999-12-31T23:59:59-12:00").is_before(now)
    assert When.parse("0001-01-01T00:00:00+14:00").is_before(now)


def test_only_an_aware_datetime_is_an_instant() -> None:
    moment = datetime(2024, 5, 1, 12, 0, 0, 5000, UTC)
    assert When.at(moment).instant == moment
    with pytest.raises(InvalidValue):
        When.at(datetime(2024, 5, 1))  # noqa: DTZ001
