from __future__ import annotations

import contextlib
import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from hypothesis import given, strategies as st

from op_openbanking.errors import InvalidValue, UnsafeLink
from op_openbanking.model.code import Code
from op_openbanking.model.money import Direction, Money
from op_openbanking.model.page import Trail
from op_openbanking.model.transaction import TransactionStatus
from op_openbanking.model.when import When

amounts = st.from_regex(r"\A-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?\Z", fullmatch=True).filter(
    str.isascii
)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(amounts)
def test_an_amount_is_exact_and_keeps_its_text(text: str) -> None:
    money = Money.parse(text, "EUR")
    assert money.text == text
    assert money.amount == Decimal(text)
    assert money.size.towards(money.direction).text == text


@given(st.text(max_size=12) | st.text("0123456789.-+eE_ \u0661\uff11NaInfity", max_size=12))
def test_any_text_is_a_plain_amount_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidValue):
        Money.parse(text, "EUR")
        assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text, re.ASCII)


@given(st.datetimes(timezones=offsets), st.sampled_from(Direction))
def test_an_instant_comes_back_as_it_was(moment: datetime, direction: Direction) -> None:
    when = When.at(moment)
    assert when.moment == moment
    assert when.day == moment.date()
    assert when.instant is None or when.instant == moment


@given(st.datetimes(timezones=offsets), st.integers(0, 24), st.characters())
def test_the_short_way_of_reading_agrees_with_the_long_one(
    moment: datetime, place: int, odd: str
) -> None:
    text = moment.replace(microsecond=0).isoformat()
    longer = f"{text[:19]}.0{text[19:]}"
    assert When.parse(text).moment == When.parse(longer).moment
    broken = f"{text[:place]}{odd}{text[place + 1 :]}"
    with contextlib.suppress(InvalidValue):
        assert When.parse(broken).text == broken
        assert broken.isascii()


@given(st.text(max_size=30) | st.text("0123456789-:TZ+. \u0662", max_size=30))
def test_any_text_is_a_day_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidValue):
        assert When.parse(text).text == text
        assert text.isascii()


@given(st.text())
def test_no_code_is_refused(text: str) -> None:
    code = Code.of(text, {"Booked": TransactionStatus.BOOKED})
    assert code.text == text
    assert (code.known is None) == (text != "Booked")


@given(st.lists(st.text(max_size=20) | st.sampled_from(["?page=2", "?page=3", "/a/b"]), max_size=6))
def test_a_trail_never_leaves_its_origin_and_never_repeats(links: list[str]) -> None:
    trail = Trail.start("https://bank.example/a")
    for link in links:
        with contextlib.suppress(UnsafeLink):
            further = trail.follow(link)
            assert further.url not in trail.visited
            trail = further
        assert trail.url.startswith("https://bank.example/a")
