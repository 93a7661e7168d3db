"""Every account resource beyond accounts, balances and transactions, in its own shape.

Source: OBIE Read/Write 3.1.11, account and transaction API, endpoint table.
"""

from __future__ import annotations

from typing import Final

from op_openbanking.standards.uk_obie import accounts, parties, products, regular, statements
from op_openbanking.traits.aisp import Resource
from op_openbanking.traits.capability import Operation

_OF_ACCOUNT: Final = "/accounts/{account_id}"

BENEFICIARIES: Final = Resource(
    "beneficiaries",
    regular.Beneficiaries,
    f"{_OF_ACCOUNT}/beneficiaries",
    Operation.BENEFICIARIES,
)
DIRECT_DEBITS: Final = Resource(
    "direct-debits", regular.DirectDebits, f"{_OF_ACCOUNT}/direct-debits", Operation.DIRECT_DEBITS
)
STANDING_ORDERS: Final = Resource(
    "standing-orders",
    regular.StandingOrders,
    f"{_OF_ACCOUNT}/standing-orders",
    Operation.STANDING_ORDERS,
)
SCHEDULED_PAYMENTS: Final = Resource(
    "scheduled-payments",
    regular.ScheduledPayments,
    f"{_OF_ACCOUNT}/scheduled-payments",
    Operation.SCHEDULED_PAYMENTS,
)
PRODUCT: Final = Resource(
    "products", products.Products, f"{_OF_ACCOUNT}/product", Operation.PRODUCTS
)
OFFERS: Final = Resource("offers", statements.Offers, f"{_OF_ACCOUNT}/offers", Operation.OFFERS)
PARTY: Final = Resource("party", parties.PartyResponse, f"{_OF_ACCOUNT}/party", Operation.PARTIES)
PARTIES: Final = Resource("parties", parties.Parties, f"{_OF_ACCOUNT}/parties", Operation.PARTIES)
STATEMENTS: Final = Resource(
    "statements", statements.Statements, f"{_OF_ACCOUNT}/statements", Operation.STATEMENTS
)
STATEMENT: Final = Resource(
    "statements",
    statements.Statements,
    f"{_OF_ACCOUNT}/statements/{{item_id}}",
    Operation.STATEMENTS,
)
STATEMENT_TRANSACTIONS: Final = Resource(
    "transactions",
    accounts.Transactions,
    f"{_OF_ACCOUNT}/statements/{{item_id}}/transactions",
    Operation.STATEMENTS,
)
ACCOUNT: Final = Resource("accounts", accounts.Accounts, _OF_ACCOUNT, Operation.ACCOUNTS)

# Over all accounts of the consent.
ALL_BALANCES: Final = Resource("balances", accounts.Balances, "/balances", Operation.BULK_READS)
ALL_TRANSACTIONS: Final = Resource(
    "transactions", accounts.Transactions, "/transactions", Operation.BULK_READS
)
ALL_BENEFICIARIES: Final = Resource(
    "beneficiaries", regular.Beneficiaries, "/beneficiaries", Operation.BULK_READS
)
ALL_DIRECT_DEBITS: Final = Resource(
    "direct-debits", regular.DirectDebits, "/direct-debits", Operation.BULK_READS
)
ALL_STANDING_ORDERS: Final = Resource(
    "standing-orders", regular.StandingOrders, "/standing-orders", Operation.BULK_READS
)
ALL_SCHEDULED_PAYMENTS: Final = Resource(
    "scheduled-payments", regular.ScheduledPayments, "/scheduled-payments", Operation.BULK_READS
)
ALL_PRODUCTS: Final = Resource("products", products.Products, "/products", Operation.BULK_READS)
ALL_OFFERS: Final = Resource("offers", statements.Offers, "/offers", Operation.BULK_READS)
ALL_STATEMENTS: Final = Resource(
    "statements", statements.Statements, "/statements", Operation.BULK_READS
)
OWNER: Final = Resource("party", parties.PartyResponse, "/party", Operation.BULK_READS)
