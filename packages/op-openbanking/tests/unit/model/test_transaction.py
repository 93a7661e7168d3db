from __future__ import annotations

from msgspec.structs import replace

from op_openbanking.model.balance import BOOKED_ORDER, Balance, BalanceKind, preferred
from op_openbanking.model.code import Code
from op_openbanking.model.money import Direction, Money
from op_openbanking.model.transaction import Transaction, TransactionStatus, numbered
from op_openbanking.model.when import When
from op_openbanking.standards.base import Wire

ROW = Transaction(
    account_id="a",
    direction=Direction.DEBIT,
    amount=Money.parse("10.00", "GBP"),
    status=Code(text="Booked", known=TransactionStatus.BOOKED),
    raw=Wire(),
    booked=When.parse("2024-05-01T10:00:00Z"),
    text="Coffee",
)


def test_a_fingerprint_outlives_how_the_same_row_is_written() -> None:
    again = replace(
        ROW,
        amount=Money.parse("10.0", "GBP"),
        booked=When.parse("2024-05-01"),
        status=Code(text="BOOK", known=TransactionStatus.BOOKED),
        id="t1",
    )
    assert again.fingerprint == ROW.fingerprint
    assert len(ROW.fingerprint) == 64


def test_a_fingerprint_tells_rows_apart() -> None:
    rows = [
        ROW,
        replace(ROW, account_id="b"),
        replace(ROW, direction=Direction.CREDIT),
        replace(ROW, amount=Money.parse("10.01", "GBP")),
        replace(ROW, amount=Money.parse("10.00", "EUR")),
        replace(ROW, booked=When.parse("2024-05-02")),
        replace(ROW, valued=When.parse("2024-05-02")),
        replace(ROW, reference="Cof", text="fee"),
        replace(ROW, reference="Coffee", text=None),
        replace(ROW, counterparty="Shop"),
    ]
    assert len({row.fingerprint for row in rows}) == len(rows)


def test_a_fingerprint_rounds_no_amount() -> None:
    nines = "9" * 18 + "." + "9" * 17
    one = replace(ROW, amount=Money.parse(f"{nines}8", "GBP"))
    other = replace(ROW, amount=Money.parse(f"{nines}9", "GBP"))
    assert one.fingerprint != other.fingerprint
    ten, one_pound = (replace(ROW, amount=Money.parse(text, "GBP")) for text in ("10", "1"))
    assert ten.fingerprint == ROW.fingerprint != one_pound.fingerprint


def test_a_key_is_the_banks_id_where_there_is_one() -> None:
    assert replace(ROW, id="t1").key == "t1"
    assert ROW.key == f"fp:{ROW.fingerprint}"
    assert replace(ROW, id="").key == ROW.key


def test_equal_rows_without_an_id_are_numbered() -> None:
    keys = [key for key, _ in numbered([ROW, ROW, replace(ROW, id="t1"), ROW])]
    assert keys == [ROW.key, f"{ROW.key}#2", "t1", f"{ROW.key}#3"]


def test_the_sign_of_a_row_is_that_of_its_direction() -> None:
    assert ROW.signed.text == "-10.00"
    assert replace(ROW, direction=Direction.CREDIT).signed.text == "10.00"


def balance(kind: BalanceKind | None, amount: str) -> Balance:
    return Balance(
        account_id="a",
        amount=Money.parse(amount, "GBP"),
        kind=Code(text="x", known=kind),
        raw=Wire(),
    )


def test_prefers_a_balance_by_the_stated_order() -> None:
    balances = [
        balance(None, "1"),
        balance(BalanceKind.EXPECTED, "2"),
        balance(BalanceKind.INTERIM_AVAILABLE, "3"),
        balance(BalanceKind.INTERIM_AVAILABLE, "4"),
        balance(BalanceKind.CLOSING_BOOKED, "5"),
    ]
    best = preferred(balances)
    booked = preferred(balances, order=BOOKED_ORDER)
    assert best is not None
    assert booked is not None
    assert (best.amount.text, booked.amount.text) == ("3", "5")
    assert preferred(balances[:1]) is None
