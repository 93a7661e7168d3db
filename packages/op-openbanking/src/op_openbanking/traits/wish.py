"""What a caller wants from a bank, in the model's words.

Each standard turns a wish into its own request. Where these words do not reach, hand in the
standard's own wire object instead: it is sent as it is, so no member is out of reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from op_openbanking.errors import InvalidValue
from op_openbanking.model.account import AccountReference
from op_openbanking.model.money import Money
from op_openbanking.model.payment import Recurrence
from op_openbanking.model.vrp import PeriodicLimit
from op_openbanking.model.when import When


@dataclass(frozen=True, slots=True)
class Presence:
    """The account owner is there, and asked for this call.

    Never state it for a call of your own: it is a false statement, and its absence is what counts
    against the bank's limit of unattended calls.

    Attributes:
        ip_address: The owner's address, as the bank wants it.
        user_agent: The owner's browser, where known.
        authenticated_at: When the owner last logged in with you, aware.
    """

    ip_address: str
    user_agent: str | None = None
    authenticated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when; open on a side that is None. A date means the whole day, UTC."""

    since: date | datetime | None = None
    until: date | datetime | None = None


@dataclass(frozen=True, slots=True)
class AccountAccess:
    """Wish to read accounts.

    Attributes:
        permissions: In the standard's own words; empty for everything the standard has.
        accounts: Only these, where the standard can name them.
        until: End of the access; None for the longest that the bank's profile allows, or no end.
        window: Transactions of this time only, where the standard can limit them.
        once: Whether it serves one read, where the standard tells that apart.
    """

    permissions: tuple[str, ...] = ()
    accounts: tuple[AccountReference, ...] = ()
    until: datetime | None = None
    window: Window = Window()
    once: bool = False


@dataclass(frozen=True, slots=True)
class NewPayment:
    """Wish to pay.

    Attributes:
        amount: Positive; its text is kept (`10.00` is not `10`).
        creditor: Who is paid.
        creditor_name: Name of the payee.
        reference: What the payee sees.
        text: Unstructured remittance text.
        debtor: Account to pay from; None lets the owner choose at the bank.
        end_to_end_id: Travels with the payment; made from randomness where left out.
        instruction_id: Between us and the bank; likewise.
        execute: Day of a future-dated payment.
        recurrence: Makes it a standing order; its frequency is the standard's own text.
        currency_of_transfer: Makes it international, under the standard's product for that.
        product: The standard's or bank's own product, where the choice is not the usual one.

    Raises:
        InvalidValue: The amount is not positive, or it is both future-dated and recurring.
    """

    amount: Money
    creditor: AccountReference
    creditor_name: str | None = None
    reference: str | None = None
    text: str | None = None
    debtor: AccountReference | None = None
    end_to_end_id: str | None = None
    instruction_id: str | None = None
    execute: When | None = None
    recurrence: Recurrence | None = None
    currency_of_transfer: str | None = None
    product: str | None = None

    def __post_init__(self) -> None:
        _positive(self.amount)
        if self.execute is not None and self.recurrence is not None:
            raise InvalidValue("payment", "execute and recurrence", expected="one of the two")


@dataclass(frozen=True, slots=True)
class FundsAccess:
    """Wish to ask whether funds are there.

    Attributes:
        account: The account asked about.
        until: End of the access, or None.
    """

    account: AccountReference
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewMandate:
    """Wish for variable recurring payments.

    Attributes:
        maximum: The most that one payment may be.
        limits: The most for each period; at least one.
        kinds: The standard's own words, for example `UK.OBIE.VRPType.Sweeping`.
        creditor: The only payee, where fixed.
        debtor: Account to pay from, where fixed.
        reference: What the payee sees.
        valid_from: First moment, or None.
        valid_to: Last moment, or None.

    Raises:
        InvalidValue: No limit, or an amount that is not positive.
    """

    maximum: Money
    limits: tuple[PeriodicLimit, ...]
    kinds: tuple[str, ...]
    creditor: AccountReference | None = None
    debtor: AccountReference | None = None
    reference: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    def __post_init__(self) -> None:
        _positive(self.maximum)
        for limit in self.limits:
            _positive(limit.amount)
        if not self.limits or not self.kinds:
            raise InvalidValue("mandate", "no limit or kind", expected="at least one of each")


@dataclass(frozen=True, slots=True)
class NewVRPPayment:
    """Wish to pay under a mandate.

    Attributes:
        amount: Positive.
        instruction_id: Names this payment for ever: submitting it again pays nothing anew.
        creditor: Who is paid; None for the mandate's payee.
        reference: What the payee sees; None for the mandate's.
        end_to_end_id: Travels with the payment; the instruction's id where left out.
        kind: One of the mandate's kinds; its first where left out.
    """

    amount: Money
    instruction_id: str
    creditor: AccountReference | None = None
    reference: str | None = None
    end_to_end_id: str | None = None
    kind: str | None = None

    def __post_init__(self) -> None:
        _positive(self.amount)


def _positive(money: Money) -> None:
    if money.amount <= 0:
        raise InvalidValue("amount", money.text, expected="positive")
