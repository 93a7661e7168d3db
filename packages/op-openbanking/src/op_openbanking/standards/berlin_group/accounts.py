"""Accounts, card accounts, balances and transactions.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12 (2022-07-01), OpenAPI file.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.berlin_group.wire import (
    AccountOwner,
    AccountReference,
    Address,
    Amount,
    Href,
    Shape,
)


class Balance(Shape, frozen=True, kw_only=True):
    """Schema `balance`."""

    balance_amount: Amount
    balance_type: str
    credit_limit_included: Maybe[bool] = UNSET
    last_change_date_time: Maybe[str] = UNSET
    reference_date: Maybe[str] = UNSET
    last_committed_transaction: Maybe[str] = UNSET


class AccountDetails(Shape, frozen=True, kw_only=True):
    """Schema `accountDetails`."""

    currency: str
    resource_id: Maybe[str] = UNSET
    iban: Maybe[str] = UNSET
    bban: Maybe[str] = UNSET
    msisdn: Maybe[str] = UNSET
    owner_name: Maybe[str] = UNSET
    owner_names: Maybe[list[AccountOwner]] = UNSET
    psu_name: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    display_name: Maybe[str] = UNSET
    product: Maybe[str] = UNSET
    cash_account_type: Maybe[str] = UNSET
    status: Maybe[str] = UNSET
    bic: Maybe[str] = UNSET
    linked_accounts: Maybe[str] = UNSET
    usage: Maybe[str] = UNSET
    details: Maybe[str] = UNSET
    balances: Maybe[list[Balance]] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")


class Accounts(Shape, frozen=True, kw_only=True):
    """Schema `accountList`."""

    accounts: list[AccountDetails]


class Balances(Shape, frozen=True, kw_only=True):
    """Schema `readAccountBalanceResponse-200`."""

    balances: list[Balance]
    account: Maybe[AccountReference] = UNSET


class ReportExchangeRate(Shape, frozen=True, kw_only=True):
    """Schema `reportExchangeRate`."""

    source_currency: str
    exchange_rate: str
    unit_currency: str
    target_currency: str
    quotation_date: str
    contract_identification: Maybe[str] = UNSET


class RemittanceInformationStructured(Shape, frozen=True, kw_only=True):
    """Schema `remittanceInformationStructured`."""

    reference: str
    reference_type: Maybe[str] = UNSET
    reference_issuer: Maybe[str] = UNSET


class EntryDetails(Shape, frozen=True, kw_only=True):
    """Schema `EntryDetailsElement`."""

    transaction_amount: Amount
    end_to_end_id: Maybe[str] = UNSET
    mandate_id: Maybe[str] = UNSET
    check_id: Maybe[str] = UNSET
    creditor_id: Maybe[str] = UNSET
    currency_exchange: Maybe[list[ReportExchangeRate]] = UNSET
    creditor_name: Maybe[str] = UNSET
    creditor_account: Maybe[AccountReference] = UNSET
    creditor_agent: Maybe[str] = UNSET
    ultimate_creditor: Maybe[str] = UNSET
    debtor_name: Maybe[str] = UNSET
    debtor_account: Maybe[AccountReference] = UNSET
    debtor_agent: Maybe[str] = UNSET
    ultimate_debtor: Maybe[str] = UNSET
    remittance_information_unstructured: Maybe[str] = UNSET
    remittance_information_unstructured_array: Maybe[list[str]] = UNSET
    remittance_information_structured: Maybe[RemittanceInformationStructured] = UNSET
    remittance_information_structured_array: Maybe[list[RemittanceInformationStructured]] = UNSET
    purpose_code: Maybe[str] = UNSET


class StandingOrderDetails(Shape, frozen=True, kw_only=True):
    """Schema `standingOrderDetails`."""

    start_date: str
    frequency: str
    end_date: Maybe[str] = UNSET
    execution_rule: Maybe[str] = UNSET
    within_a_month_flag: Maybe[bool] = UNSET
    months_of_execution: Maybe[list[str]] = UNSET
    multiplicator: Maybe[int] = UNSET
    day_of_execution: Maybe[str] = UNSET
    limit_amount: Maybe[Amount] = UNSET


class AdditionalInformationStructured(Shape, frozen=True, kw_only=True):
    """Schema `additionalInformationStructured`."""

    standing_order_details: StandingOrderDetails


class Transaction(Shape, frozen=True, kw_only=True):
    """Schema `transactions`."""

    transaction_amount: Amount
    transaction_id: Maybe[str] = UNSET
    entry_reference: Maybe[str] = UNSET
    end_to_end_id: Maybe[str] = UNSET
    batch_indicator: Maybe[bool] = UNSET
    batch_number_of_transactions: Maybe[int] = UNSET
    mandate_id: Maybe[str] = UNSET
    check_id: Maybe[str] = UNSET
    creditor_id: Maybe[str] = UNSET
    booking_date: Maybe[str] = UNSET
    value_date: Maybe[str] = UNSET
    currency_exchange: Maybe[list[ReportExchangeRate]] = UNSET
    creditor_name: Maybe[str] = UNSET
    creditor_account: Maybe[AccountReference] = UNSET
    creditor_agent: Maybe[str] = UNSET
    ultimate_creditor: Maybe[str] = UNSET
    debtor_name: Maybe[str] = UNSET
    debtor_account: Maybe[AccountReference] = UNSET
    debtor_agent: Maybe[str] = UNSET
    ultimate_debtor: Maybe[str] = UNSET
    remittance_information_unstructured: Maybe[str] = UNSET
    remittance_information_unstructured_array: Maybe[list[str]] = UNSET
    remittance_information_structured: Maybe[str] = UNSET
    remittance_information_structured_array: Maybe[list[RemittanceInformationStructured]] = UNSET
    entry_details: Maybe[list[EntryDetails]] = UNSET
    additional_information: Maybe[str] = UNSET
    additional_information_structured: Maybe[AdditionalInformationStructured] = UNSET
    purpose_code: Maybe[str] = UNSET
    bank_transaction_code: Maybe[str] = UNSET
    proprietary_bank_transaction_code: Maybe[str] = UNSET
    balance_after_transaction: Maybe[Balance] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")


class AccountReport(Shape, frozen=True, kw_only=True):
    """Schema `accountReport`."""

    links: dict[str, Href] = field(name="_links")
    booked: Maybe[list[Transaction]] = UNSET
    pending: Maybe[list[Transaction]] = UNSET
    information: Maybe[list[Transaction]] = UNSET


class Transactions(Shape, frozen=True, kw_only=True):
    """Schema `transactionsResponse-200_json`."""

    account: Maybe[AccountReference] = UNSET
    transactions: Maybe[AccountReport] = UNSET
    balances: Maybe[list[Balance]] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")


class CardAccountDetails(Shape, frozen=True, kw_only=True):
    """Schema `cardAccountDetails`."""

    masked_pan: str
    currency: str
    resource_id: Maybe[str] = UNSET
    owner_name: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    display_name: Maybe[str] = UNSET
    product: Maybe[str] = UNSET
    debit_accounting: Maybe[bool] = UNSET
    status: Maybe[str] = UNSET
    usage: Maybe[str] = UNSET
    details: Maybe[str] = UNSET
    credit_limit: Maybe[Amount] = UNSET
    balances: Maybe[list[Balance]] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")


class CardAccounts(Shape, frozen=True, kw_only=True):
    """Schema `cardAccountList`."""

    card_accounts: list[CardAccountDetails]


class CardBalances(Shape, frozen=True, kw_only=True):
    """Schema `readCardAccountBalanceResponse-200`."""

    balances: list[Balance]
    card_account: Maybe[AccountReference] = UNSET
    debit_accounting: Maybe[bool] = UNSET


class CardTransaction(Shape, frozen=True, kw_only=True):
    """Schema `cardTransaction`."""

    transaction_amount: Amount
    card_transaction_id: Maybe[str] = UNSET
    terminal_id: Maybe[str] = UNSET
    transaction_date: Maybe[str] = UNSET
    acceptor_transaction_date_time: Maybe[str] = UNSET
    booking_date: Maybe[str] = UNSET
    value_date: Maybe[str] = UNSET
    grand_total_amount: Maybe[Amount] = UNSET
    currency_exchange: Maybe[list[ReportExchangeRate]] = UNSET
    original_amount: Maybe[Amount] = UNSET
    markup_fee: Maybe[Amount] = UNSET
    markup_fee_percentage: Maybe[str] = UNSET
    card_acceptor_id: Maybe[str] = UNSET
    card_acceptor_address: Maybe[Address] = UNSET
    card_acceptor_phone: Maybe[str] = UNSET
    merchant_category_code: Maybe[str] = UNSET
    masked_pan: Maybe[str] = field(default=UNSET, name="maskedPAN")
    transaction_details: Maybe[str] = UNSET
    invoiced: Maybe[bool] = UNSET
    proprietary_bank_transaction_code: Maybe[str] = UNSET


class CardAccountReport(Shape, frozen=True, kw_only=True):
    """Schema `cardAccountReport`."""

    links: dict[str, Href] = field(name="_links")
    booked: Maybe[list[CardTransaction]] = UNSET
    pending: Maybe[list[CardTransaction]] = UNSET


class CardTransactions(Shape, frozen=True, kw_only=True):
    """Schema `cardAccountsTransactionsResponse200`."""

    card_account: Maybe[AccountReference] = UNSET
    debit_accounting: Maybe[bool] = UNSET
    card_transactions: Maybe[CardAccountReport] = UNSET
    balances: Maybe[list[Balance]] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")


class AccountDetailsResponse(Shape, frozen=True, kw_only=True):
    """Answer of GET /v1/accounts/{account-id}."""

    account: AccountDetails


class CardAccountDetailsResponse(Shape, frozen=True, kw_only=True):
    """Answer of GET /v1/card-accounts/{account-id}."""

    card_account: CardAccountDetails


class TransactionDetails(Shape, frozen=True, kw_only=True):
    """Schema `transactionDetailsBody`."""

    transaction_details: Transaction


class TransactionDetailsResponse(Shape, frozen=True, kw_only=True):
    """Answer of GET /v1/accounts/{account-id}/transactions/{transactionId}."""

    transactions_details: TransactionDetails
