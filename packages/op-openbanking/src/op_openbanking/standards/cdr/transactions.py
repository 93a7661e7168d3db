"""Transactions.

Source: Consumer Data Standards 1.31.0, cds_banking.json and cds_common.json.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.cdr.wire import Links, LinksPaginated, OpenObject, Shape


class Transaction(Shape, frozen=True, kw_only=True):
    """Schema `BankingTransaction`."""

    account_id: str
    is_detail_available: bool
    type: str
    status: str
    description: str
    amount: str
    reference: str
    transaction_id: Maybe[str] = UNSET
    posting_date_time: Maybe[str] = UNSET
    value_date_time: Maybe[str] = UNSET
    execution_date_time: Maybe[str] = UNSET
    currency: Maybe[str] = UNSET
    merchant_name: Maybe[str] = UNSET
    merchant_category_code: Maybe[str] = UNSET
    biller_code: Maybe[str] = UNSET
    biller_name: Maybe[str] = UNSET
    crn: Maybe[str] = UNSET
    apca_number: Maybe[str] = UNSET


class TransactionsData(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingTransactionList_data`."""

    transactions: list[Transaction]


class MetaPaginatedTransaction(Shape, frozen=True, kw_only=True):
    """Schema `MetaPaginatedTransaction`."""

    total_records: int
    total_pages: int
    is_query_param_unsupported: Maybe[bool] = UNSET


class Transactions(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingTransactionList`."""

    data: TransactionsData
    links: LinksPaginated
    meta: MetaPaginatedTransaction


class X2P101Payload(Shape, frozen=True, kw_only=True):
    """Schema `BankingTransactionDetail_allOf_extendedData_x2p101Payload`."""

    extended_description: Maybe[str] = UNSET
    end_to_end_id: Maybe[str] = UNSET
    purpose_code: Maybe[str] = UNSET


class ExtendedData(Shape, frozen=True, kw_only=True):
    """Schema `BankingTransactionDetail_allOf_extendedData`."""

    service: str
    payer: Maybe[str] = UNSET
    payee: Maybe[str] = UNSET
    extension_u_type: Maybe[str] = UNSET
    x2p101_payload: Maybe[X2P101Payload] = UNSET


class TransactionDetail(Shape, frozen=True, kw_only=True):
    """Schema `BankingTransactionDetail`."""

    account_id: str
    is_detail_available: bool
    type: str
    status: str
    description: str
    amount: str
    reference: str
    extended_data: ExtendedData
    transaction_id: Maybe[str] = UNSET
    posting_date_time: Maybe[str] = UNSET
    value_date_time: Maybe[str] = UNSET
    execution_date_time: Maybe[str] = UNSET
    currency: Maybe[str] = UNSET
    merchant_name: Maybe[str] = UNSET
    merchant_category_code: Maybe[str] = UNSET
    biller_code: Maybe[str] = UNSET
    biller_name: Maybe[str] = UNSET
    crn: Maybe[str] = UNSET
    apca_number: Maybe[str] = UNSET


class TransactionResponse(Shape, frozen=True, kw_only=True):
    """Schema `ResponseBankingTransactionById`."""

    data: TransactionDetail
    links: Links
    meta: Maybe[OpenObject] = UNSET
