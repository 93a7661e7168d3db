"""Account information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from op_openbanking.flow import Flow
from op_openbanking.model.account import Account
from op_openbanking.model.balance import Balance
from op_openbanking.model.consent import Consent
from op_openbanking.model.transaction import Transaction
from op_openbanking.standards.base import Wire

from .capability import Operation
from .pages import Pages
from .wish import AccountAccess, Presence, Window

W = TypeVar("W", bound=Wire)


@dataclass(frozen=True, slots=True)
class Resource(Generic[W]):
    """A list or document of a standard beyond the model: read in its own shape.

    Attributes:
        name: Name of the resource in the standard's `resources.py`.
        shape: Its wire shape.
        path: Below the service's base; `{account_id}` and `{item_id}` are filled in.
        operation: What the bank must offer.
    """

    name: str
    shape: type[W]
    path: str
    operation: Operation


class AISP(Protocol):
    """Reads accounts. Every read is of one consent; its tokens are fetched and renewed inside."""

    def ask(self, access: AccountAccess | Wire) -> Flow[Consent]:
        """Ask for a consent; it waits for the owner."""
        ...

    def accounts(self, consent_id: str, *, presence: Presence | None = None) -> Pages[Account]:
        """Accounts of the consent."""
        ...

    def balances(
        self, consent_id: str, account_id: str, *, presence: Presence | None = None
    ) -> Pages[Balance]:
        """Balances of one account."""
        ...

    def transactions(
        self,
        consent_id: str,
        account_id: str,
        *,
        window: Window | None = None,
        presence: Presence | None = None,
    ) -> Pages[Transaction]:
        """Transactions of one account, in the bank's order."""
        ...

    def read(
        self,
        consent_id: str,
        resource: Resource[W],
        *,
        account_id: str | None = None,
        item_id: str | None = None,
        presence: Presence | None = None,
    ) -> Pages[W]:
        """Any other resource; each item is one page's body."""
        ...
