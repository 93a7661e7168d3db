"""Accounts and balances.

Source: Consumer Data Standards 1.31.0, cds_banking.json and cds_common.json.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe, Number
from op_openbanking.standards.cdr.wire import (
    Links,
    LinksPaginated,
    MetaPaginated,
    OpenObject,
    PAFAddress,
    Shape,
    SimpleAddress,
)


class Account(Shape, frozen=True, kw_only=True):
    """Schema `BankingAccountV2`."""

    account_id: str
    display_name: str
    account_ownership: str
    masked_number: str
    product_category: str
    product_name: str
    creation_date: Maybe[str] = UNSET
    nickname: Maybe[str] = UNSET
    open_status: Maybe[str] = UNSET
    is_owned: Maybe[bool] = UNSET


class AccountsData(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingAccountListV2_data`."""

    accounts: list[Account]


class Accounts(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingAccountListV2`."""

    data: AccountsData
    links: LinksPaginated
    meta: MetaPaginated


class TermDepositAccount(Shape, frozen=True, kw_only=True):
    """Schema `BankingTermDepositAccount`."""

    lodgement_date: str
    maturity_date: str
    maturity_instructions: str
    maturity_amount: Maybe[str] = UNSET
    maturity_currency: Maybe[str] = UNSET


class CreditCardAccount(Shape, frozen=True, kw_only=True):
    """Schema `BankingCreditCardAccount`."""

    min_payment_amount: str
    payment_due_amount: str
    payment_due_date: str
    payment_currency: Maybe[str] = UNSET


class LoanAccount(Shape, frozen=True, kw_only=True):
    """Schema `BankingLoanAccountV2`."""

    original_start_date: Maybe[str] = UNSET
    original_loan_amount: Maybe[str] = UNSET
    original_loan_currency: Maybe[str] = UNSET
    loan_end_date: Maybe[str] = UNSET
    next_instalment_date: Maybe[str] = UNSET
    min_instalment_amount: Maybe[str] = UNSET
    min_instalment_currency: Maybe[str] = UNSET
    max_redraw: Maybe[str] = UNSET
    max_redraw_currency: Maybe[str] = UNSET
    min_redraw: Maybe[str] = UNSET
    min_redraw_currency: Maybe[str] = UNSET
    offset_account_enabled: Maybe[bool] = UNSET
    offset_account_ids: Maybe[list[str]] = UNSET
    repayment_type: Maybe[str] = UNSET
    repayment_frequency: Maybe[str] = UNSET


class ProductRateCondition(Shape, frozen=True, kw_only=True):
    """Schema `BankingProductRateCondition`."""

    additional_info: Maybe[str] = UNSET
    additional_info_uri: Maybe[str] = UNSET


class ProductRateTier(Shape, frozen=True, kw_only=True):
    """Schema `BankingProductRateTierV3`."""

    name: str
    unit_of_measure: str
    minimum_value: Number
    maximum_value: Maybe[Number] = UNSET
    rate_application_method: Maybe[str] = UNSET
    applicability_conditions: Maybe[ProductRateCondition] = UNSET
    additional_info: Maybe[str] = UNSET
    additional_info_uri: Maybe[str] = UNSET


class ProductDepositRate(Shape, frozen=True, kw_only=True):
    """Schema `BankingProductDepositRate`."""

    deposit_rate_type: str
    rate: str
    calculation_frequency: Maybe[str] = UNSET
    application_frequency: Maybe[str] = UNSET
    tiers: Maybe[list[ProductRateTier]] = UNSET
    additional_value: Maybe[str] = UNSET
    additional_info: Maybe[str] = UNSET
    additional_info_uri: Maybe[str] = UNSET


class ProductLendingRate(Shape, frozen=True, kw_only=True):
    """Schema `BankingProductLendingRateV2`."""

    lending_rate_type: str
    rate: str
    comparison_rate: Maybe[str] = UNSET
    calculation_frequency: Maybe[str] = UNSET
    application_frequency: Maybe[str] = UNSET
    interest_payment_due: Maybe[str] = UNSET
    repayment_type: Maybe[str] = UNSET
    loan_purpose: Maybe[str] = UNSET
    tiers: Maybe[list[ProductRateTier]] = UNSET
    additional_value: Maybe[str] = UNSET
    additional_info: Maybe[str] = UNSET
    additional_info_uri: Maybe[str] = UNSET


class Features(Shape, frozen=True, kw_only=True):
    """Member `features` of `AccountDetail`."""

    feature_type: str
    additional_value: Maybe[str] = UNSET
    additional_info: Maybe[str] = UNSET
    additional_info_uri: Maybe[str] = UNSET
    is_activated: Maybe[bool] = UNSET


class ProductDiscountEligibility(Shape, frozen=True, kw_only=True):
    """Schema `BankingProductDiscountEligibility`."""

    discount_eligibility_type: str
    additional_value: Maybe[str] = UNSET
    additional_info: Maybe[str] = UNSET
    additional_info_uri: Maybe[str] = UNSET


class ProductDiscount(Shape, frozen=True, kw_only=True):
    """Schema `BankingProductDiscount`."""

    description: str
    discount_type: str
    amount: Maybe[str] = UNSET
    balance_rate: Maybe[str] = UNSET
    transaction_rate: Maybe[str] = UNSET
    accrued_rate: Maybe[str] = UNSET
    fee_rate: Maybe[str] = UNSET
    additional_value: Maybe[str] = UNSET
    additional_info: Maybe[str] = UNSET
    additional_info_uri: Maybe[str] = UNSET
    eligibility: Maybe[list[ProductDiscountEligibility]] = UNSET


class ProductFee(Shape, frozen=True, kw_only=True):
    """Schema `BankingProductFee`."""

    name: str
    fee_type: str
    amount: Maybe[str] = UNSET
    balance_rate: Maybe[str] = UNSET
    transaction_rate: Maybe[str] = UNSET
    accrued_rate: Maybe[str] = UNSET
    accrual_frequency: Maybe[str] = UNSET
    currency: Maybe[str] = UNSET
    additional_value: Maybe[str] = UNSET
    additional_info: Maybe[str] = UNSET
    additional_info_uri: Maybe[str] = UNSET
    discounts: Maybe[list[ProductDiscount]] = UNSET


class PhysicalAddress(Shape, frozen=True, kw_only=True):
    """Schema `CommonPhysicalAddress`."""

    address_u_type: str
    simple: Maybe[SimpleAddress] = UNSET
    paf: Maybe[PAFAddress] = UNSET


class AccountDetail(Shape, frozen=True, kw_only=True):
    """Schema `BankingAccountDetailV3`."""

    account_id: str
    display_name: str
    account_ownership: str
    masked_number: str
    product_category: str
    product_name: str
    creation_date: Maybe[str] = UNSET
    nickname: Maybe[str] = UNSET
    open_status: Maybe[str] = UNSET
    is_owned: Maybe[bool] = UNSET
    bsb: Maybe[str] = UNSET
    account_number: Maybe[str] = UNSET
    bundle_name: Maybe[str] = UNSET
    specific_account_u_type: Maybe[str] = UNSET
    term_deposit: Maybe[list[TermDepositAccount]] = UNSET
    credit_card: Maybe[CreditCardAccount] = UNSET
    loan: Maybe[LoanAccount] = UNSET
    deposit_rate: Maybe[str] = UNSET
    lending_rate: Maybe[str] = UNSET
    deposit_rates: Maybe[list[ProductDepositRate]] = UNSET
    lending_rates: Maybe[list[ProductLendingRate]] = UNSET
    features: Maybe[list[Features]] = UNSET
    fees: Maybe[list[ProductFee]] = UNSET
    addresses: Maybe[list[PhysicalAddress]] = UNSET


class AccountResponse(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingAccountByIdV3`."""

    data: AccountDetail
    links: Links
    meta: Maybe[OpenObject] = UNSET


class BalancePurse(Shape, frozen=True, kw_only=True):
    """Schema `BankingBalancePurse`."""

    amount: str
    currency: Maybe[str] = UNSET


class Balance(Shape, frozen=True, kw_only=True):
    """Schema `BankingBalance`."""

    account_id: str
    current_balance: str
    available_balance: str
    credit_limit: Maybe[str] = UNSET
    amortised_limit: Maybe[str] = UNSET
    currency: Maybe[str] = UNSET
    purses: Maybe[list[BalancePurse]] = UNSET


class BalancesData(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingAccountsBalanceList_data`."""

    balances: list[Balance]


class Balances(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingAccountsBalanceList`."""

    data: BalancesData
    links: LinksPaginated
    meta: MetaPaginated


class BalanceResponse(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingAccountsBalanceById`."""

    data: Balance
    links: Links
    meta: Maybe[OpenObject] = UNSET


class AccountIdsData(Shape, frozen=True, kw_only=True):
    """Schema `RequestAccountIds_data`."""

    account_ids: list[str]


class AccountIdsRequest(Shape, frozen=True, kw_only=True):
    """Schema `RequestAccountIds`."""

    data: AccountIdsData
    meta: Maybe[OpenObject] = UNSET
