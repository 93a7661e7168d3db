"""Accounts at a UK bank.

Source: OBIE Read/Write 3.1.11, account and transaction API.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import urlencode

from msgspec import UNSET

from op_openbanking.errors import ConfigError
from op_openbanking.flow import Flow
from op_openbanking.model.account import Account
from op_openbanking.model.balance import Balance
from op_openbanking.model.consent import Consent
from op_openbanking.model.page import Page
from op_openbanking.model.transaction import Transaction
from op_openbanking.standards.base import Wire, encode
from op_openbanking.standards.uk_obie import accounts as shapes, mapping
from op_openbanking.standards.uk_obie.client.channel import Channel
from op_openbanking.standards.uk_obie.client.consents import ACCOUNTS, OBIEConsents
from op_openbanking.standards.uk_obie.wire import OpenObject
from op_openbanking.standards.where import first
from op_openbanking.traits.aisp import Resource
from op_openbanking.traits.pages import Pages
from op_openbanking.traits.wish import AccountAccess, Presence, Window

T = TypeVar("T")
W = TypeVar("W", bound=Wire)

PERMISSIONS: Final = (
    "ReadAccountsDetail",
    "ReadBalances",
    "ReadBeneficiariesDetail",
    "ReadDirectDebits",
    "ReadOffers",
    "ReadPAN",
    "ReadParty",
    "ReadPartyPSU",
    "ReadProducts",
    "ReadScheduledPaymentsDetail",
    "ReadStandingOrdersDetail",
    "ReadStatementsDetail",
    "ReadTransactionsCredits",
    "ReadTransactionsDebits",
    "ReadTransactionsDetail",
)
"""All there is: what a wish without permissions asks for."""
_ROWS: Final = frozenset({"ReadTransactionsBasic", "ReadTransactionsDetail"})
_SIDES: Final = frozenset({"ReadTransactionsCredits", "ReadTransactionsDebits"})


@dataclass(frozen=True, slots=True)
class OBIEAccounts:
    """Fills `traits.aisp.AISP`."""

    channel: Channel
    consents: OBIEConsents

    def ask(self, access: AccountAccess | Wire) -> Flow[Consent]:
        """See `AISP.ask`; takes an `AccountConsent` too.

        Raises:
            ConfigError: Permissions that every bank refuses, or another wire object.
        """
        request = self._request(access) if isinstance(access, AccountAccess) else access
        if not isinstance(request, shapes.AccountConsent):
            raise ConfigError(f"{type(request).__name__} asks for no account access of uk-obie")
        asked = set(request.data.permissions)
        if not asked or bool(asked & _ROWS) != bool(asked & _SIDES):
            raise ConfigError(
                "permissions: at least one, and ReadTransactionsBasic or Detail exactly where "
                "there is ReadTransactionsCredits or Debits [OBIE R/W 3.1.11, Permissions]"
            )
        return (yield from self.consents.ask(ACCOUNTS, encode(request)))

    def accounts(self, consent_id: str, *, presence: Presence | None = None) -> Pages[Account]:
        """See `AISP.accounts`."""
        return self._pages(
            consent_id, "/accounts", "accounts", shapes.Accounts, mapping.account_page, presence
        )

    def balances(
        self, consent_id: str, account_id: str, *, presence: Presence | None = None
    ) -> Pages[Balance]:
        """See `AISP.balances`."""
        return self._pages(
            consent_id,
            "/accounts/{account_id}/balances",
            "balances",
            shapes.Balances,
            mapping.balance_page,
            presence,
            account_id=account_id,
        )

    def transactions(
        self,
        consent_id: str,
        account_id: str,
        *,
        window: Window | None = None,
        presence: Presence | None = None,
    ) -> Pages[Transaction]:
        """See `AISP.transactions`."""
        window = window or Window()
        query = {}
        if window.since is not None:
            query["fromBookingDateTime"] = self.channel.query_moment(window.since, ends=False)
        if window.until is not None:
            query["toBookingDateTime"] = self.channel.query_moment(window.until, ends=True)
        path = "/accounts/{account_id}/transactions"
        return self._pages(
            consent_id,
            f"{path}?{urlencode(query)}" if query else path,
            "transactions",
            shapes.Transactions,
            mapping.transaction_page,
            presence,
            account_id=account_id,
        )

    def read(
        self,
        consent_id: str,
        resource: Resource[W],
        *,
        account_id: str | None = None,
        item_id: str | None = None,
        presence: Presence | None = None,
    ) -> Pages[W]:
        """See `AISP.read`; the resources are in `reads`.

        Raises:
            ConfigError: The resource needs an account or an item, and there is none.
        """
        stated = {"account_id": account_id, "item_id": item_id}
        parts = {}
        for name, value in stated.items():
            if f"{{{name}}}" in resource.path:
                if value is None:
                    raise ConfigError(f"{resource.path} needs {name}")
                parts[name] = value
        return self._pages(
            consent_id, resource.path, resource.name, resource.shape, _whole, presence, **parts
        )

    def statement_file(
        self,
        consent_id: str,
        account_id: str,
        statement_id: str,
        *,
        media_type: str = "application/pdf",
        presence: Presence | None = None,
    ) -> Flow[bytes]:
        """A statement as the bank's own document: octets, not JSON.

        Args:
            consent_id: The consent.
            account_id: The account.
            statement_id: The statement.
            media_type: Sent as `Accept`.
            presence: The owner is there.
        """
        url = self.channel.link.url(
            "aisp",
            "/accounts/{account_id}/statements/{statement_id}/file",
            account_id=account_id,
            statement_id=statement_id,
        )
        response = yield from self.channel.get(
            url, consent_id=consent_id, presence=presence, accept=media_type
        )
        return response.body

    def _pages(
        self,
        consent_id: str,
        path: str,
        resource: str,
        shape: type[W],
        mapped: Callable[[W], Page[T]],
        presence: Presence | None,
        **parts: str,
    ) -> Pages[T]:
        link = self.channel.link

        def read(url: str) -> Flow[Page[T]]:
            response = yield from self.channel.get(url, consent_id=consent_id, presence=presence)
            return mapped(link.decode(response, shape, resource))

        return Pages(link.url("aisp", path, **parts), read, max_pages=link.profile.limits.max_pages)

    def _request(self, access: AccountAccess) -> shapes.AccountConsent:
        if access.accounts or access.once:
            raise ConfigError("uk-obie: the owner picks the accounts, and no consent is for once")
        until = access.until or self.channel.link.profile.consent.longest_until(
            self.channel.link.now
        )
        since, ends = access.window.since, access.window.until
        moment = self.channel.body_moment
        return shapes.AccountConsent(
            data=shapes.AccountConsentData(
                permissions=list(access.permissions or PERMISSIONS),
                expiration_date_time=UNSET if until is None else moment(until, ends=False),
                transaction_from_date_time=UNSET if since is None else moment(since, ends=False),
                transaction_to_date_time=UNSET if ends is None else moment(ends, ends=True),
            ),
            risk=OpenObject(),
        )


def _whole(body: W) -> Page[W]:
    """A page whose one item is its body."""
    links = getattr(body, "links", None)
    link = getattr(links, "next", None)
    return Page(items=(body,), raw=body, next_link=first(link) if link else None)
