from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from op_openbanking.standards.base import Wire
from op_openbanking.standards.fdx import accounts, customers, statements, transactions, wire
from op_openbanking.standards.registry import standard

pytestmark = pytest.mark.conformance

Load = Callable[[Path], dict[str, Any]]

# Each shape, and the entities of the table that it holds side by side, in any version.
ENTITIES: dict[type[Wire], tuple[str, ...]] = {
    wire.PageMetadata: ("PageMetadata",),
    wire.Currency: ("Currency",),
    wire.HateoasLink: ("HateoasLink",),
    wire.InterestRate: ("InterestRate",),
    wire.FiAttribute: ("FiAttribute",),
    accounts.SecurityId: ("SecurityId",),
    accounts.TaxLot: ("TaxLot",),
    accounts.Holding: ("Holding",),
    accounts.FundingSource: ("FundingSource",),
    accounts.Bills: ("Bills",),
    accounts.ScheduledPayments: ("ScheduledPayments",),
    accounts.Account: (
        "DepositAccount",
        "DepositAccountDescriptor",
        "LoanAccount",
        "LoanAccountDescriptor",
        "LocAccount",
        "LocAccountDescriptor",
        "LineOfCreditAccount",
        "LineOfCreditAccountDescriptor",
        "InvestmentAccount",
        "InvestmentAccountDescriptor",
        "AnnuityAccountDescriptor",
        "InsuranceAccountDescriptor",
        "CommercialAccountDescriptor",
        "DigitalWalletDescriptor",
    ),
    accounts.PaymentNetwork: ("PaymentNetwork",),
    accounts.AssetTransferNetwork: ("AssetTransferNetwork",),
    transactions.Transaction: (
        "DepositTransaction",
        "LoanTransaction",
        "LocTransaction",
        "LineOfCreditTransaction",
        "InvestmentTransaction",
    ),
    customers.CustomerName: ("CustomerName",),
    customers.BusinessCustomer: ("BusinessCustomer",),
    customers.Customer: ("Customer", "CustomerWithName"),
    customers.Address: ("Address",),
    customers.DeliveryAddress: ("DeliveryAddress",),
    customers.TelephoneNumber: ("TelephoneNumber",),
    customers.AccountHolder: ("AccountHolder",),
    customers.AccountContact: ("AccountContact",),
    statements.Statement: ("Statement",),
}


def fields(schemas: dict[str, Any], entity: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for parent in schemas[entity].get("extends", []):
        found |= fields(schemas, parent)
    found |= schemas[entity].get("fields", {})
    return found


@pytest.mark.parametrize("shape", ENTITIES, ids=lambda shape: shape.__name__)
def test_a_shape_has_the_members_of_its_entities_in_all_versions(
    specs: Path, load: Load, shape: type[Wire]
) -> None:
    table = load(specs / "fdx" / "fdx-core-facts.json")
    places = [
        fields(table[version]["schemas"], entity)
        for version in standard("fdx").versions
        for entity in ENTITIES[shape]
        if entity in table[version]["schemas"]
    ]
    declared = [f for f in msgspec.structs.fields(shape) if f.name != "unknown"]
    assert places
    assert {f.encode_name for f in declared} == {name for place in places for name in place}
    everywhere = set.intersection(
        *({name for name, kind in place.items() if kind.endswith("*")} for place in places)
    )
    assert {f.encode_name for f in declared if f.required} == everywhere


def test_the_versions_are_those_of_the_table(specs: Path, load: Load) -> None:
    table = load(specs / "fdx" / "fdx-core-facts.json")
    assert tuple(table) == standard("fdx").versions
