"""Account access consents, accounts, balances and transactions.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe, Number
from op_openbanking.standards.uk_obie.wire import (
    AccountIdentification,
    Agent,
    Amount,
    BalanceAmount,
    Links,
    Meta,
    OpenObject,
    Servicer,
    Shape,
)


class AccountConsentData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `AccountConsent`."""

    permissions: list[str]
    expiration_date_time: Maybe[str] = UNSET
    transaction_from_date_time: Maybe[str] = UNSET
    transaction_to_date_time: Maybe[str] = UNSET


class AccountConsent(Shape, frozen=True, kw_only=True):
    """Schema `OBReadConsent1`."""

    data: AccountConsentData
    risk: OpenObject


class AccountConsentResponseData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `AccountConsentResponse`."""

    consent_id: str
    creation_date_time: str
    status: str
    status_update_date_time: str
    permissions: list[str]
    expiration_date_time: Maybe[str] = UNSET
    transaction_from_date_time: Maybe[str] = UNSET
    transaction_to_date_time: Maybe[str] = UNSET


class AccountConsentResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBReadConsentResponse1`."""

    data: AccountConsentResponseData
    risk: OpenObject
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class Account(Shape, frozen=True, kw_only=True):
    """Schema `OBAccount6`."""

    account_id: str
    status: Maybe[str] = UNSET
    status_update_date_time: Maybe[str] = UNSET
    currency: Maybe[str] = UNSET
    account_type: Maybe[str] = UNSET
    account_sub_type: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    nickname: Maybe[str] = UNSET
    opening_date: Maybe[str] = UNSET
    maturity_date: Maybe[str] = UNSET
    switch_status: Maybe[str] = UNSET
    account: Maybe[list[AccountIdentification]] = UNSET
    servicer: Maybe[Servicer] = UNSET


class AccountsData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `Accounts`."""

    account: Maybe[list[Account]] = UNSET


class Accounts(Shape, frozen=True, kw_only=True):
    """Schema `OBReadAccount6`."""

    data: AccountsData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class CreditLine(Shape, frozen=True, kw_only=True):
    """Member `CreditLine` of `Balance`."""

    included: bool
    type: Maybe[str] = UNSET
    amount: Maybe[Amount] = UNSET


class Balance(Shape, frozen=True, kw_only=True):
    """Member `Balance` of `BalancesData`."""

    account_id: str
    credit_debit_indicator: str
    type: str
    date_time: str
    amount: BalanceAmount
    credit_line: Maybe[list[CreditLine]] = UNSET
    local_amount: Maybe[BalanceAmount] = UNSET


class BalancesData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `Balances`."""

    balance: list[Balance]
    total_value: Maybe[Amount] = UNSET


class Balances(Shape, frozen=True, kw_only=True):
    """Schema `OBReadBalance1`."""

    data: BalancesData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET


class CurrencyExchange(Shape, frozen=True, kw_only=True):
    """Schema `OBCurrencyExchange5`."""

    source_currency: str
    exchange_rate: Number
    target_currency: Maybe[str] = UNSET
    unit_currency: Maybe[str] = UNSET
    contract_identification: Maybe[str] = UNSET
    quotation_date: Maybe[str] = UNSET
    instructed_amount: Maybe[Amount] = UNSET


class BankTransactionCode(Shape, frozen=True, kw_only=True):
    """Schema `OBBankTransactionCodeStructure1`."""

    code: str
    sub_code: str


class ProprietaryBankTransactionCode(Shape, frozen=True, kw_only=True):
    """Schema `ProprietaryBankTransactionCodeStructure1`."""

    code: str
    issuer: Maybe[str] = UNSET


class TransactionBalance(Shape, frozen=True, kw_only=True):
    """Schema `OBTransactionCashBalance`."""

    credit_debit_indicator: str
    type: str
    amount: Amount


class MerchantDetails(Shape, frozen=True, kw_only=True):
    """Schema `OBMerchantDetails1`."""

    merchant_name: Maybe[str] = UNSET
    merchant_category_code: Maybe[str] = UNSET


class CardInstrument(Shape, frozen=True, kw_only=True):
    """Schema `OBTransactionCardInstrument1`."""

    card_scheme_name: str
    authorisation_type: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    identification: Maybe[str] = UNSET


class Transaction(Shape, frozen=True, kw_only=True):
    """Schema `OBTransaction6`."""

    account_id: str
    credit_debit_indicator: str
    status: str
    booking_date_time: str
    amount: Amount
    transaction_id: Maybe[str] = UNSET
    transaction_reference: Maybe[str] = UNSET
    statement_reference: Maybe[list[str]] = UNSET
    transaction_mutability: Maybe[str] = UNSET
    value_date_time: Maybe[str] = UNSET
    transaction_information: Maybe[str] = UNSET
    address_line: Maybe[str] = UNSET
    charge_amount: Maybe[Amount] = UNSET
    currency_exchange: Maybe[CurrencyExchange] = UNSET
    bank_transaction_code: Maybe[BankTransactionCode] = UNSET
    proprietary_bank_transaction_code: Maybe[ProprietaryBankTransactionCode] = UNSET
    balance: Maybe[TransactionBalance] = UNSET
    merchant_details: Maybe[MerchantDetails] = UNSET
    creditor_agent: Maybe[Agent] = UNSET
    creditor_account: Maybe[AccountIdentification] = UNSET
    debtor_agent: Maybe[Agent] = UNSET
    debtor_account: Maybe[AccountIdentification] = UNSET
    card_instrument: Maybe[CardInstrument] = UNSET
    supplementary_data: Maybe[OpenObject] = UNSET


class TransactionsData(Shape, frozen=True, kw_only=True):
    """Schema `OBReadDataTransaction6`."""

    transaction: Maybe[list[Transaction]] = UNSET


class Transactions(Shape, frozen=True, kw_only=True):
    """Schema `OBReadTransaction6`."""

    data: TransactionsData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
