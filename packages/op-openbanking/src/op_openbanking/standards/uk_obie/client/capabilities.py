"""What UK Open Banking Read/Write offers.

Source: OBIE Read/Write 3.1.11, endpoint tables of each service ("Mandatory" and "Conditional").
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from op_openbanking.traits.capability import (
    YES,
    Capabilities,
    Capability,
    Operation,
    no,
    optional,
    stated,
)

_CONDITIONAL: Final = optional("conditional in the standard; the bank's profile does not offer it")
_TABLE: Final = MappingProxyType(
    dict[Operation, Capability](
        {
            Operation.ACCOUNT_CONSENT: YES,
            Operation.CONSENT_STATUS: YES,
            Operation.CONSENT_REVOCATION: YES,
            Operation.REAUTHENTICATION: YES,
            Operation.REDIRECT: YES,
            Operation.DECOUPLED: no("decoupled authentication needs CIBA, which this client lacks"),
            Operation.EMBEDDED: no("the owner authenticates at the bank alone"),
            Operation.ACCOUNTS: YES,
            Operation.BALANCES: YES,
            Operation.TRANSACTIONS: YES,
            Operation.TRANSACTION_DETAILS: no("the list has every detail"),
            Operation.CARD_ACCOUNTS: no("cards are accounts with an AccountSubType"),
            Operation.BENEFICIARIES: _CONDITIONAL,
            Operation.DIRECT_DEBITS: _CONDITIONAL,
            Operation.STANDING_ORDERS: _CONDITIONAL,
            Operation.SCHEDULED_PAYMENTS: _CONDITIONAL,
            Operation.STATEMENTS: _CONDITIONAL,
            Operation.PRODUCTS: _CONDITIONAL,
            Operation.OFFERS: _CONDITIONAL,
            Operation.PARTIES: _CONDITIONAL,
            Operation.BULK_READS: _CONDITIONAL,
            Operation.SINGLE_PAYMENT: YES,
            Operation.FUTURE_PAYMENT: YES,
            Operation.RECURRING_PAYMENT: YES,
            Operation.INTERNATIONAL_PAYMENT: YES,
            Operation.BULK_PAYMENT: YES,
            Operation.PAYMENT_STATUS: YES,
            Operation.PAYMENT_CANCELLATION: no("a payment is cancelled in the bank's own channel"),
            Operation.PAYMENT_FUNDS: YES,
            Operation.SIGNING_BASKET: no("each payment has a consent of its own"),
            Operation.FUNDS_CONSENT: YES,
            Operation.FUNDS_CONFIRMATION: YES,
            Operation.VRP_CONSENT: YES,
            Operation.VRP_FUNDS: YES,
            Operation.VRP_PAYMENT: YES,
            Operation.EVENT_PUSH: _CONDITIONAL,
            Operation.EVENT_POLL: _CONDITIONAL,
            Operation.EVENT_SUBSCRIPTION: _CONDITIONAL,
        }
    )
)


def capabilities(version: str) -> Capabilities:
    """The matrix of a version; 3.1.10 and 3.1.11 have the same operations."""
    return stated("uk-obie", version, _TABLE)
