"""Which shape each resource of Australia"s Consumer Data Standards has."""

from __future__ import annotations

from op_openbanking.standards.cdr import accounts, customer, errors, payees, transactions
from op_openbanking.standards.registry import Standard

STANDARD = Standard(
    name="cdr",
    versions=("1.31.0",),
    resources={
        "accounts": accounts.Accounts,
        "account": accounts.AccountResponse,
        "balances": accounts.Balances,
        "balance": accounts.BalanceResponse,
        "account-ids-request": accounts.AccountIdsRequest,
        "transactions": transactions.Transactions,
        "transaction": transactions.TransactionResponse,
        "payees": payees.Payees,
        "payee": payees.PayeeResponse,
        "direct-debits": payees.DirectDebits,
        "scheduled-payments": payees.ScheduledPayments,
        "customer": customer.CustomerResponse,
        "customer-detail": customer.CustomerDetailResponse,
        "error": errors.Errors,
    },
)
