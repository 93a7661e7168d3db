"""A page of 1,000 OBIE transactions: read, mapped to the model, written; beside pydantic v2.

The pydantic models have the same members, keep unknown ones (`extra="allow"`) and read the same
octets in the same run. Times are the best of seven, in ms; memory is what the result holds, in MB.

Run: .venv/bin/python packages/op-openbanking/benchmarks/bench_wire.py
"""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from functools import partial

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_pascal

from op_openbanking.standards.base import decode, encode
from op_openbanking.standards.uk_obie import accounts, mapping

ROWS = 1_000
ROUNDS = 7


class Open(BaseModel):
    model_config = ConfigDict(extra="allow", alias_generator=to_pascal, populate_by_name=True)


class Amount(Open):
    amount: str
    currency: str


class Identification(Open):
    scheme_name: str | None = None
    identification: str | None = None
    name: str | None = None
    secondary_identification: str | None = None


class Address(Open):
    address_type: str | None = None
    department: str | None = None
    sub_department: str | None = None
    street_name: str | None = None
    building_number: str | None = None
    post_code: str | None = None
    town_name: str | None = None
    country_sub_division: str | None = None
    country: str | None = None
    address_line: list[str] | None = None


class Agent(Open):
    scheme_name: str | None = None
    identification: str | None = None
    name: str | None = None
    postal_address: Address | None = None


class Exchange(Open):
    source_currency: str
    exchange_rate: Decimal
    target_currency: str | None = None
    unit_currency: str | None = None
    contract_identification: str | None = None
    quotation_date: str | None = None
    instructed_amount: Amount | None = None


class BankCode(Open):
    code: str
    sub_code: str


class ProprietaryCode(Open):
    code: str
    issuer: str | None = None


class RowBalance(Open):
    credit_debit_indicator: str
    type: str
    amount: Amount


class Merchant(Open):
    merchant_name: str | None = None
    merchant_category_code: str | None = None


class Card(Open):
    card_scheme_name: str
    authorisation_type: str | None = None
    name: str | None = None
    identification: str | None = None


class Transaction(Open):
    account_id: str
    credit_debit_indicator: str
    status: str
    booking_date_time: str
    amount: Amount
    transaction_id: str | None = None
    transaction_reference: str | None = None
    statement_reference: list[str] | None = None
    transaction_mutability: str | None = None
    value_date_time: str | None = None
    transaction_information: str | None = None
    address_line: str | None = None
    charge_amount: Amount | None = None
    currency_exchange: Exchange | None = None
    bank_transaction_code: BankCode | None = None
    proprietary_bank_transaction_code: ProprietaryCode | None = None
    balance: RowBalance | None = None
    merchant_details: Merchant | None = None
    creditor_agent: Agent | None = None
    creditor_account: Identification | None = None
    debtor_agent: Agent | None = None
    debtor_account: Identification | None = None
    card_instrument: Card | None = None
    supplementary_data: Open | None = None


class TransactionsData(Open):
    transaction: list[Transaction] | None = None


class Links(Open):
    self: str
    first: str | None = None
    prev: str | None = None
    next: str | None = None
    last: str | None = None


class Meta(Open):
    total_pages: int | None = None
    first_available_date_time: str | None = None
    last_available_date_time: str | None = None


class Transactions(Open):
    data: TransactionsData
    links: Links | None = None
    meta: Meta | None = None


def page(*, own_member: bool = False) -> bytes:
    rows: list[dict[str, object]] = []
    for number in range(ROWS):
        row: dict[str, object] = {
            "AccountId": "a-1",
            "TransactionId": f"t-{number}",
            "TransactionReference": f"Ref {number}",
            "CreditDebitIndicator": "Debit",
            "Status": "Booked",
            "TransactionMutability": "Mutable",
            "BookingDateTime": "2024-05-01T10:00:00+01:00",
            "ValueDateTime": "2024-05-02T00:00:00Z",
            "TransactionInformation": "Coffee",
            "Amount": {"Amount": f"{number}.00", "Currency": "GBP"},
            "BankTransactionCode": {"Code": "PMNT", "SubCode": "RCDT"},
            "ProprietaryBankTransactionCode": {"Code": "Transfer", "Issuer": "Bank"},
            "Balance": {
                "Amount": {"Amount": "230.00", "Currency": "GBP"},
                "CreditDebitIndicator": "Credit",
                "Type": "InterimBooked",
            },
            "MerchantDetails": {"MerchantName": "Shop", "MerchantCategoryCode": "5812"},
            "CreditorAccount": {
                "SchemeName": "UK.OBIE.IBAN",
                "Identification": "GB33BUKB20201555555555",
                "Name": "Shop",
            },
        }
        if own_member:
            row["BankOwn"] = {"Points": 1.50}
        rows.append(row)
    body = {"Data": {"Transaction": rows}, "Links": {"Self": "/x"}, "Meta": {"TotalPages": 1}}
    return json.dumps(body, separators=(",", ":")).encode()


def best_ms(call: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def held_mb(call: Callable[[], object]) -> float:
    call()
    gc.collect()
    tracemalloc.start()
    result = call()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return held / 1e6


def read(octets: bytes) -> accounts.Transactions:
    return decode(octets, accounts.Transactions, standard="uk-obie", resource="transactions")


def dump(peer: Transactions) -> str:
    return peer.model_dump_json(by_alias=True, exclude_unset=True)


def model(octets: bytes) -> object:
    return mapping.transaction_page(read(octets))


def main() -> None:
    print(f"{'':52}{'ours':>8}{'pydantic':>10}")
    for name, octets in (("clean", page()), ("one own member a row", page(own_member=True))):
        wire, peer = read(octets), Transactions.model_validate_json(octets)
        theirs = partial(Transactions.model_validate_json, octets)
        for title, measured, ours, other in (
            ("read to wire, ms", best_ms, partial(read, octets), theirs),
            ("read to wire and model, ms", best_ms, partial(model, octets), theirs),
            ("write, ms", best_ms, partial(encode, wire), partial(dump, peer)),
            ("held, MB", held_mb, partial(read, octets), theirs),
        ):
            print(f"{name + ': ' + title:52}{measured(ours):8.2f}{measured(other):10.2f}")


if __name__ == "__main__":
    main()
