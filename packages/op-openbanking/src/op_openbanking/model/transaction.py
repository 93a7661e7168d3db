"""Transactions, and an identity for those that a bank gives none.

A transaction's id is optional in three standards, may change when a pending row is booked, and the
same row may come on two pages. `fingerprint` is a SHA-256 over what does not change between two
reads of the same booked row: account, direction, amount, currency, booking day, value day,
references and text. Two equal rows on one day have equal fingerprints: `numbered` tells them apart
by their order of appearance.

Source: OBIE 3.1.11 OBTransaction6 ("TransactionId" is optional); Berlin Group 1.3.12
transactionDetails; STET 1.4.0.47 Transaction; CDR 1.31 BankingTransaction (id conditional).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from op_openbanking.model.code import Code
from op_openbanking.model.money import Direction, Money
from op_openbanking.model.when import When
from op_openbanking.standards.base import Wire


class TransactionStatus(StrEnum):
    """How settled a row is."""

    BOOKED = "booked"
    PENDING = "pending"
    PLANNED = "planned"
    REJECTED = "rejected"
    OTHER = "other"


class Transaction(msgspec.Struct, frozen=True, gc=False):
    """One row of an account.

    Attributes:
        account_id: The account's id under this consent.
        direction: Into (credit) or out of (debit) the account.
        amount: Never negative; `signed` has the sign.
        status: Booked, pending and so on.
        raw: The wire object it was read from.
        id: The bank's id, where it gives one.
        booked: Day or time of booking (posting).
        valued: Day or time from which it counts.
        text: What the bank or the payer wrote about it.
        reference: End-to-end or payer's reference.
        counterparty: Name of the other side.
        counterparty_account: Identifier of the other side's account, as written.
    """

    account_id: str
    direction: Direction
    amount: Money
    status: Code[TransactionStatus]
    raw: Wire
    id: str | None = None
    booked: When | None = None
    valued: When | None = None
    text: str | None = None
    reference: str | None = None
    counterparty: str | None = None
    counterparty_account: str | None = None

    @property
    def signed(self) -> Money:
        """The amount with its sign: negative is out of the account."""
        return self.amount.towards(self.direction)

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits over what identifies the row, without the bank's id."""
        parts = (
            self.account_id,
            self.direction.value,
            _plain(self.amount),
            self.amount.currency,
            self.booked.day.isoformat() if self.booked else "",
            self.valued.day.isoformat() if self.valued else "",
            self.reference or "",
            self.text or "",
            self.counterparty or "",
            self.counterparty_account or "",
        )
        # The length before each part keeps two different rows from reading alike.
        joined = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def key(self) -> str:
        """The bank's id where there is one, else `fp:` and the fingerprint."""
        return self.id or f"fp:{self.fingerprint}"


def _plain(money: Money) -> str:
    """The amount without zeros at its end; not by `normalize`, which rounds to the context."""
    text = money.text
    return text.rstrip("0").rstrip(".") if "." in text else text


def numbered(transactions: Iterable[Transaction]) -> Iterator[tuple[str, Transaction]]:
    """Each transaction with a key that equal rows without an id do not share.

    The first row has its plain key, the next equal one `key#2`, and so on, in the order given.
    Rows with the bank's id keep it: the same id twice is the same row twice.
    """
    seen: Counter[str] = Counter()
    for transaction in transactions:
        key = transaction.key
        if not transaction.id:
            seen[key] += 1
            key = key if seen[key] == 1 else f"{key}#{seen[key]}"
        yield key, transaction
