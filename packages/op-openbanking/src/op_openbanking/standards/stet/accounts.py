"""Consents, accounts, balances, transactions and trusted beneficiaries.

Source: STET PSD2 API 1.4.0.47, swagger file.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.stet.wire import (
    AccountIdentification,
    Amount,
    Beneficiary,
    Link,
    RemittanceInformation,
    Shape,
)


class Balance(Shape, frozen=True, kw_only=True):
    """Schema `BalanceResource`."""

    name: str
    balance_amount: Amount
    balance_type: str
    last_change_date_time: Maybe[str] = UNSET
    reference_date: Maybe[str] = UNSET
    last_committed_transaction: Maybe[str] = UNSET


class Account(Shape, frozen=True, kw_only=True):
    """Schema `AccountResource`."""

    name: str
    cash_account_type: str
    currency: str
    links: dict[str, Link] = field(name="_links")
    resource_id: Maybe[str] = UNSET
    bic_fi: Maybe[str] = UNSET
    account_id: Maybe[AccountIdentification] = UNSET
    details: Maybe[str] = UNSET
    linked_account: Maybe[str] = UNSET
    usage: Maybe[str] = UNSET
    product: Maybe[str] = UNSET
    balances: Maybe[list[Balance]] = UNSET
    psu_status: Maybe[str] = UNSET


class Accounts(Shape, frozen=True, kw_only=True):
    """Schema `HalAccounts`."""

    accounts: list[Account]
    links: dict[str, Link] = field(name="_links")
    connected_psu: Maybe[str] = UNSET


class Balances(Shape, frozen=True, kw_only=True):
    """Schema `HalBalances`."""

    balances: list[Balance]
    links: dict[str, Link] = field(name="_links")


class Transaction(Shape, frozen=True, kw_only=True):
    """Schema `Transaction`."""

    transaction_amount: Amount
    credit_debit_indicator: str
    status: str
    booking_date: str
    remittance_information: list[str] | RemittanceInformation
    resource_id: Maybe[str] = UNSET
    entry_reference: Maybe[str] = UNSET
    value_date: Maybe[str] = UNSET
    transaction_date: Maybe[str] = UNSET


class Transactions(Shape, frozen=True, kw_only=True):
    """Schema `HalTransactions`."""

    transactions: list[Transaction]
    links: dict[str, Link] = field(name="_links")


class Beneficiaries(Shape, frozen=True, kw_only=True):
    """Schema `HalBeneficiaries`."""

    beneficiaries: list[Beneficiary]
    links: dict[str, Link] = field(name="_links")


class Consent(Shape, frozen=True, kw_only=True):
    """Schema `Access`."""

    balances: list[AccountIdentification]
    transactions: list[AccountIdentification]
    trusted_beneficiaries: bool
    psu_identity: bool
