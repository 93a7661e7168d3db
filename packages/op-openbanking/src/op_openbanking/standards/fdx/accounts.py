"""Accounts and the networks that reach them.

5.x wraps each account in an object with one member, 6.x has flat accounts with a category.

Source: facts of FDX Core 5.0, 5.3, 6.0 and 6.4: names, types, requirements.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe, Number
from op_openbanking.standards.fdx.wire import (
    Currency,
    FiAttribute,
    InterestRate,
    PageLinks,
    PageMetadata,
    Shape,
)


class SecurityId(Shape, frozen=True, kw_only=True):
    """Identifier of a security (6.0 and later)."""

    id: Maybe[str] = UNSET
    id_type: Maybe[str] = UNSET


class TaxLot(Shape, frozen=True, kw_only=True):
    """One purchase inside a holding."""

    original_purchase_date: Maybe[str] = UNSET
    quantity: Maybe[Number] = UNSET
    purchased_price: Maybe[Number] = UNSET
    cost_basis: Maybe[Number] = UNSET
    current_value: Maybe[Number] = UNSET
    position_type: Maybe[str] = UNSET


class Holding(Shape, frozen=True, kw_only=True):
    """One position of an investment account."""

    market_value: Number
    cash_account: bool
    security_id: Maybe[str] = UNSET
    security_id_type: Maybe[str] = UNSET
    holding_name: Maybe[str] = UNSET
    holding_type: Maybe[str] = UNSET
    holding_sub_type: Maybe[str] = UNSET
    symbol: Maybe[str] = UNSET
    purchased_price: Maybe[Number] = UNSET
    current_unit_price: Maybe[Number] = UNSET
    current_unit_price_date: Maybe[str] = UNSET
    units: Maybe[Number] = UNSET
    face_value: Maybe[Number] = UNSET
    currency: Maybe[Currency] = UNSET
    fi_attributes: Maybe[list[FiAttribute]] = UNSET
    tax_lots: Maybe[list[TaxLot]] = UNSET
    security_ids: Maybe[list[SecurityId]] = UNSET


class FundingSource(Shape, frozen=True, kw_only=True):
    """An account that covers an overdraft (6.4)."""

    account_id: Maybe[str] = UNSET
    account_number_display: Maybe[str] = UNSET
    account_type: Maybe[str] = UNSET
    institution_name: Maybe[str] = UNSET


class Bills(Shape, frozen=True, kw_only=True):
    """A bill of a credit account (6.4)."""

    total_payment_due: Maybe[Number] = UNSET
    minimum_payment_due: Maybe[Number] = UNSET
    due_date: Maybe[str] = UNSET
    auto_pay_enabled: Maybe[bool] = UNSET
    auto_pay_amount: Maybe[Number] = UNSET
    auto_pay_date: Maybe[str] = UNSET
    past_due_amount: Maybe[Number] = UNSET
    last_payment_amount: Maybe[Number] = UNSET
    last_payment_date: Maybe[str] = UNSET
    statement_balance: Maybe[Number] = UNSET
    statement_date: Maybe[str] = UNSET


class ScheduledPayments(Shape, frozen=True, kw_only=True):
    """A payment that is planned for a credit account (6.4)."""

    amount: Maybe[Number] = UNSET
    date: Maybe[str] = UNSET
    type: Maybe[str] = UNSET
    pay_to_principal: Maybe[bool] = UNSET


class Account(Shape, frozen=True, kw_only=True):
    """An account of any category, in a list or in full.

    The members of all categories side by side: deposit, loan, line of credit, investment, annuity,
    insurance, commercial, digital wallet. Required is what every category of every version
    requires; `account_category` is required from 6.0 on.
    """

    account_id: str
    product_name: str
    status: str
    currency: Currency
    account_type: str
    account_number_display: Maybe[str] = UNSET
    nickname: Maybe[str] = UNSET
    current_balance: Maybe[Number] = UNSET
    available_balance: Maybe[Number] = UNSET
    account_number: Maybe[str] = UNSET
    principal_balance: Maybe[Number] = UNSET
    escrow_balance: Maybe[Number] = UNSET
    original_principal: Maybe[Number] = UNSET
    originating_date: Maybe[str] = UNSET
    loan_term: Maybe[int] = UNSET
    next_payment_amount: Maybe[Number] = UNSET
    next_payment_date: Maybe[str] = UNSET
    last_payment_amount: Maybe[Number] = UNSET
    last_payment_date: Maybe[str] = UNSET
    maturity_date: Maybe[str] = UNSET
    interest_paid_year_to_date: Maybe[Number] = UNSET
    interest_rate: Maybe[Number] = UNSET
    interest_rate_type: Maybe[str] = UNSET
    credit_line: Maybe[Number] = UNSET
    available_credit: Maybe[Number] = UNSET
    minimum_payment_amount: Maybe[Number] = UNSET
    past_due_amount: Maybe[Number] = UNSET
    last_stmt_balance: Maybe[Number] = UNSET
    last_stmt_date: Maybe[str] = UNSET
    purchases_apr: Maybe[Number] = UNSET
    advances_apr: Maybe[Number] = UNSET
    available_cash_balance: Maybe[Number] = UNSET
    balance_as_of: Maybe[str] = UNSET
    current_value: Maybe[Number] = UNSET
    holdings: Maybe[list[Holding]] = UNSET
    account_category: Maybe[str] = UNSET
    product_id: Maybe[str] = UNSET
    earned_interest: Maybe[InterestRate] = UNSET
    under_arbitration: Maybe[bool] = UNSET
    overdraft_opt_in: Maybe[bool] = UNSET
    overdrafted: Maybe[bool] = UNSET
    overdraft_protection_funded: Maybe[bool] = UNSET
    overdraft_funding_sources: Maybe[list[FundingSource]] = UNSET
    current_school: Maybe[str] = UNSET
    loan_provider_name: Maybe[str] = UNSET
    charged_interest: Maybe[InterestRate] = UNSET
    annual_percentage_rate: Maybe[Number] = UNSET
    transfers_apr: Maybe[Number] = UNSET
    bills: Maybe[list[Bills]] = UNSET
    scheduled_payments: Maybe[list[ScheduledPayments]] = UNSET
    cash_advance_balance: Maybe[Number] = UNSET
    transfer_balance: Maybe[Number] = UNSET
    ppil_balance: Maybe[Number] = UNSET
    fee_schedule: Maybe[str] = UNSET
    ppil_apr: Maybe[Number] = UNSET
    balance_transfers_apr: Maybe[Number] = UNSET
    target_rate_sale_apr: Maybe[Number] = UNSET


class PaymentNetwork(Shape, frozen=True, kw_only=True):
    """How money reaches the account."""

    bank_id: str
    identifier: str
    type: str
    transfer_in: bool
    transfer_out: bool


class AssetTransferNetwork(Shape, frozen=True, kw_only=True):
    """How securities reach the account (6.0 and later)."""

    identifier: str
    institution_id: str
    type: str
    identifier_type: Maybe[str] = UNSET
    institution_name: Maybe[str] = UNSET
    joint_account: Maybe[bool] = UNSET


class Accounts(Shape, frozen=True, kw_only=True):
    """A page of accounts, 6.x."""

    accounts: list[Account]
    page: Maybe[PageMetadata] = UNSET
    links: Maybe[PageLinks] = UNSET


class WrappedAccount(Shape, frozen=True, kw_only=True):
    """One account of 5.x: exactly one member, named for its category."""

    deposit_account: Maybe[Account] = UNSET
    loan_account: Maybe[Account] = UNSET
    loc_account: Maybe[Account] = UNSET
    investment_account: Maybe[Account] = UNSET
    annuity_account: Maybe[Account] = UNSET
    insurance_account: Maybe[Account] = UNSET
    commercial_account: Maybe[Account] = UNSET


class WrappedAccounts(Shape, frozen=True, kw_only=True):
    """A page of accounts, 5.x."""

    accounts: list[WrappedAccount]
    page: Maybe[PageMetadata] = UNSET
    links: Maybe[PageLinks] = UNSET


class PaymentNetworks(Shape, frozen=True, kw_only=True):
    """Payment networks of an account."""

    payment_networks: list[PaymentNetwork]
    page: Maybe[PageMetadata] = UNSET


class AssetTransferNetworks(Shape, frozen=True, kw_only=True):
    """Asset transfer networks of an account (6.0 and later)."""

    asset_transfer_networks: list[AssetTransferNetwork]
