"""What can be asked of a bank: by its standard, the standard's version, and the bank itself.

A standard states each `Operation` as offered, optional or lacking, with the reason. A bank's
profile switches optional ones on (`offers`) and any off (`lacks`). What is lacking is refused with
`CapabilityMissing` before anything is sent.

Source: `openbanking.md` section 12.1 in the project's reference; each standard names its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from op_openbanking.errors import CapabilityMissing, ConfigError, quoted


class Operation(StrEnum):
    """One thing that a bank may be asked."""

    ACCOUNT_CONSENT = "account-consent"
    CONSENT_STATUS = "consent-status"
    CONSENT_REVOCATION = "consent-revocation"
    REAUTHENTICATION = "reauthentication"
    REDIRECT = "redirect"
    DECOUPLED = "decoupled"
    EMBEDDED = "embedded"
    ACCOUNTS = "accounts"
    BALANCES = "balances"
    TRANSACTIONS = "transactions"
    TRANSACTION_DETAILS = "transaction-details"
    CARD_ACCOUNTS = "card-accounts"
    BENEFICIARIES = "beneficiaries"
    DIRECT_DEBITS = "direct-debits"
    STANDING_ORDERS = "standing-orders"
    SCHEDULED_PAYMENTS = "scheduled-payments"
    STATEMENTS = "statements"
    PRODUCTS = "products"
    OFFERS = "offers"
    PARTIES = "parties"
    BULK_READS = "bulk-reads"
    SINGLE_PAYMENT = "single-payment"
    FUTURE_PAYMENT = "future-payment"
    RECURRING_PAYMENT = "recurring-payment"
    INTERNATIONAL_PAYMENT = "international-payment"
    BULK_PAYMENT = "bulk-payment"
    PAYMENT_STATUS = "payment-status"
    PAYMENT_CANCELLATION = "payment-cancellation"
    PAYMENT_FUNDS = "payment-funds"
    SIGNING_BASKET = "signing-basket"
    FUNDS_CONSENT = "funds-consent"
    FUNDS_CONFIRMATION = "funds-confirmation"
    VRP_CONSENT = "vrp-consent"
    VRP_FUNDS = "vrp-funds"
    VRP_PAYMENT = "vrp-payment"
    EVENT_PUSH = "event-push"
    EVENT_POLL = "event-poll"
    EVENT_SUBSCRIPTION = "event-subscription"


class Support(StrEnum):
    """YES: offered. OPTIONAL: a bank may offer it. NO: lacking."""

    YES = "yes"
    OPTIONAL = "optional"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Capability:
    """Whether one operation is there.

    Attributes:
        support: See `Support`.
        reason: Why it is optional or lacking; empty where it is offered.
    """

    support: Support
    reason: str = ""


YES = Capability(Support.YES)


def no(reason: str) -> Capability:
    """Lacking, and why."""
    return Capability(Support.NO, reason)


def optional(reason: str) -> Capability:
    """A bank may offer it; its profile says so."""
    return Capability(Support.OPTIONAL, reason)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The matrix of one bank.

    Attributes:
        standard: Registered name of the standard.
        version: Its version.
        bank: Name of the bank's profile; empty for the standard alone.
        table: Each operation, stated.
    """

    standard: str
    version: str
    bank: str
    table: Mapping[Operation, Capability]

    def __getitem__(self, operation: Operation) -> Capability:
        """Whether an operation is there."""
        return self.table[operation]

    def require(self, *operations: Operation) -> None:
        """Refuse what is not offered.

        Raises:
            CapabilityMissing: The first operation that the bank does not offer, and why.
        """
        for operation in operations:
            found = self.table[operation]
            if found.support is not Support.YES:
                raise CapabilityMissing(
                    operation.value,
                    standard=self.standard,
                    version=self.version,
                    bank=self.bank,
                    reason=found.reason,
                )

    def at(self, bank: str, *, offers: tuple[str, ...], lacks: Mapping[str, str]) -> Capabilities:
        """The matrix of a bank that offers some optional operations and lacks others.

        Args:
            bank: Name of its profile.
            offers: Optional operations that it has.
            lacks: Operations that it has not, each with the reason.

        Raises:
            ConfigError: No such operation, one in both, or one that the standard lacks is offered.
        """
        table = dict(self.table)
        for name in offers:
            operation = _operation(name, bank)
            if table[operation].support is Support.NO:
                raise ConfigError(
                    f"profile {quoted(bank)} offers {name}, which {self.standard} {self.version} "
                    f"lacks: {table[operation].reason}"
                )
            if name in lacks:
                raise ConfigError(f"profile {quoted(bank)} offers and lacks {name}")
            table[operation] = YES
        for name, reason in lacks.items():
            table[_operation(name, bank)] = no(reason)
        return Capabilities(self.standard, self.version, bank, table)


def stated(standard: str, version: str, table: Mapping[Operation, Capability]) -> Capabilities:
    """The matrix of a standard.

    Raises:
        ConfigError: An operation is not stated: silence is no statement.
    """
    missing = sorted(set(Operation) - table.keys())
    if missing:
        raise ConfigError(f"{standard} {version} does not state {', '.join(missing)}")
    return Capabilities(standard, version, "", table)


def _operation(name: str, bank: str) -> Operation:
    try:
        return Operation(name)
    except ValueError:
        raise ConfigError(f"profile {quoted(bank)}: {quoted(name)} is no operation") from None
