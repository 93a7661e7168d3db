from __future__ import annotations

from decimal import Decimal

import pytest

from op_openbanking.errors import InvalidValue, OpenBankingError
from op_openbanking.model.money import Direction, Money, parse_amount

HOSTILE = [
    "", " ", "1e3", "1E3", "NaN", "Infinity", "-Infinity", "sNaN", "+1", "1_000", ".64", "64.",
    "1,000.00", "0x10", " 1", "1 ", "1\n", "\u0661\u0662", "\uff11", "--1", "-", "1.2.3",
    "1" * 19, "0." + "1" * 19, "-\u0661", "1\u00a0000",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_refuses_text_that_is_no_plain_amount(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        Money.parse(text, "GBP")
    assert isinstance(caught.value, OpenBankingError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.kind == "amount"


@pytest.mark.parametrize("text", ["10.00", "10", "0", "-0.01", "5768.2", "0.123456789", "1" * 18])
def test_keeps_the_digits_that_were_written(text: str) -> None:
    assert Money.parse(text, "EUR").text == text


@pytest.mark.parametrize("currency", ["", "gbp", "GB", "GBPP", "G8P", "£££", "GBP ", "ÄÖÜ"])
def test_refuses_what_has_not_the_form_of_a_currency(currency: str) -> None:
    with pytest.raises(InvalidValue, match="three capital letters"):
        Money.parse("1", currency)


@pytest.mark.parametrize("amount", [Decimal("NaN"), Decimal("Infinity"), Decimal("-Infinity")])
def test_refuses_amounts_that_are_not_finite(amount: Decimal) -> None:
    with pytest.raises(InvalidValue):
        Money(amount=amount, currency="EUR")


def test_makes_the_sign_explicit() -> None:
    ten = Money.parse("10.00", "EUR")
    assert ten.towards(Direction.DEBIT).text == "-10.00"
    assert ten.towards(Direction.DEBIT).towards(Direction.CREDIT) == ten
    assert ten.towards(Direction.DEBIT).direction is Direction.DEBIT
    assert ten.towards(Direction.DEBIT).size.text == "10.00"
    assert ten.direction is Direction.CREDIT
    assert str(ten) == "10.00 EUR"


def test_signing_never_rounds_a_long_amount() -> None:
    text = "9" * 18 + "." + "9" * 18
    assert Money.parse(text, "EUR").towards(Direction.DEBIT).text == f"-{text}"
    assert Money.parse(f"-{text}", "EUR").size.text == text


def test_equal_amounts_are_equal_whatever_their_digits() -> None:
    assert Money.parse("10", "EUR") == Money.parse("10.00", "EUR")
    assert Money.parse("10", "EUR") != Money.parse("10", "USD")
    assert parse_amount("10.00") == Decimal(10)
