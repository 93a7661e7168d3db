from __future__ import annotations

import pytest

from op_openbanking.errors import InvalidValue
from op_openbanking.model.code import Code
from op_openbanking.model.money import Money
from op_openbanking.model.payment import (
    PaymentKind,
    PaymentOrder,
    PaymentStatus,
    Recurrence,
    Rhythm,
)
from op_openbanking.model.when import When
from op_openbanking.standards.base import Wire


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        (PaymentKind.SINGLE, "amount"),
        (PaymentKind.FUTURE_DATED, "execute"),
        (PaymentKind.RECURRING, "recurrence"),
    ],
)
def test_an_order_has_what_its_kind_demands(kind: PaymentKind, missing: str) -> None:
    with pytest.raises(InvalidValue, match=missing):
        PaymentOrder(kind=kind, raw=Wire())


def test_an_order_that_is_complete_is_built() -> None:
    money = Money.parse("1.00", "GBP")
    day = When.parse("2024-05-01")
    single = PaymentOrder(kind=PaymentKind.SINGLE, raw=Wire(), amount=money)
    later = PaymentOrder(kind=PaymentKind.FUTURE_DATED, raw=Wire(), execute=day)
    rhythm = Recurrence(frequency=Code(text="EvryDay", known=Rhythm.DAILY), first=day)
    standing = PaymentOrder(kind=PaymentKind.RECURRING, raw=Wire(), recurrence=rhythm)
    bulk = PaymentOrder(kind=PaymentKind.BULK, raw=Wire(), orders=(single, later, standing))
    assert [order.kind for order in bulk.orders] == ["single", "future-dated", "recurring"]


def test_four_payment_statuses_are_final() -> None:
    assert [status.value for status in PaymentStatus if status.is_final] == [
        "debtor-settled",
        "creditor-credited",
        "rejected",
        "cancelled",
    ]
