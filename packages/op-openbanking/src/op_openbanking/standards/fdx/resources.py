"""Which shape each resource of FDX has."""

from __future__ import annotations

from op_openbanking.standards.base import Wire
from op_openbanking.standards.fdx import (
    accounts,
    consents,
    customers,
    errors,
    statements,
    transactions,
)
from op_openbanking.standards.registry import Standard

# 5.x wraps each item in an object named for its category.
_WRAPPED: dict[str, type[Wire]] = {
    "accounts": accounts.WrappedAccounts,
    "account": accounts.WrappedAccount,
    "transactions": transactions.WrappedTransactions,
}

STANDARD = Standard(
    name="fdx",
    versions=("5.0.0", "5.3.2", "6.0.0", "6.4.0"),
    resources={
        "accounts": accounts.Accounts,
        "account": accounts.Account,
        "payment-networks": accounts.PaymentNetworks,
        "asset-transfer-networks": accounts.AssetTransferNetworks,
        "transactions": transactions.Transactions,
        "customer": customers.Customer,
        "contact": customers.AccountContact,
        "statements": statements.Statements,
        "consent": consents.ConsentGrant,
        "consent-revocation": consents.ConsentRevocation,
        "error": errors.Error,
    },
    earlier=dict.fromkeys(("5.0.0", "5.3.2"), _WRAPPED),
)
