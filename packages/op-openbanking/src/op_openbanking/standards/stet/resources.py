"""Which shape each resource of STET has."""

from __future__ import annotations

from op_openbanking.standards.registry import Standard
from op_openbanking.standards.stet import accounts, errors, payments

STANDARD = Standard(
    name="stet",
    versions=("1.4.0",),
    resources={
        "accounts": accounts.Accounts,
        "balances": accounts.Balances,
        "transactions": accounts.Transactions,
        "trusted-beneficiaries": accounts.Beneficiaries,
        "consent-request": accounts.Consent,
        "payment-request": payments.PaymentRequestResource,
        "payment": payments.PaymentRequest,
        "payment-created": payments.PaymentRequestCreated,
        "confirmation-request": payments.Confirmation,
        "funds-confirmation-request": payments.PaymentCoverageRequest,
        "funds-confirmation": payments.PaymentCoverageReport,
        "error": errors.Error,
    },
)
