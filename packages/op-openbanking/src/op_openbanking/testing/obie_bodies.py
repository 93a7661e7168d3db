"""Bodies of the UK bank in memory: its accounts, its rows, its envelopes and its errors."""

from __future__ import annotations

from collections.abc import Mapping

from op_openbanking.flow import Response
from op_openbanking.jose.strict_json import encode_object


def account(account_id: str) -> dict[str, object]:
    """One account."""
    return {
        "AccountId": account_id,
        "Currency": "GBP",
        "AccountType": "Personal",
        "AccountSubType": "CurrentAccount",
        "Nickname": "Bills" if account_id == "a-1" else "Holidays",
        "Account": [
            {
                "SchemeName": "UK.OBIE.SortCodeAccountNumber",
                "Identification": "20000019825731",
                "Name": "Ada Byron",
            }
        ],
    }


def row(account_id: str, number: int) -> dict[str, object]:
    """One booked transaction."""
    return {
        "AccountId": account_id,
        "TransactionId": f"t-{number}",
        "CreditDebitIndicator": "Debit" if number % 2 else "Credit",
        "Status": "Booked",
        "BookingDateTime": "2024-05-01T10:00:00+01:00",
        "Amount": {"Amount": f"{number}.50", "Currency": "GBP"},
        "TransactionInformation": f"Row {number}",
    }


def members(value: Mapping[str, object], name: str) -> dict[str, object]:
    """The object in a member.

    Raises:
        TypeError: It is no object.
    """
    inner = value[name]
    if not isinstance(inner, dict):
        raise TypeError(f"{name} is no object")
    return inner


def links(own: str, **more: str) -> dict[str, object]:
    """Links and Meta of an answer."""
    return {"Links": {"Self": own, **more}, "Meta": {}}


def error_answer(code: str, status: int = 400) -> Response:
    """An error in the standard's form."""
    fault = {"ErrorCode": code, "Message": "refused", "Path": "Data"}
    return json_answer(
        status, {"Code": f"{status} Bad", "Id": "e-1", "Message": "refused", "Errors": [fault]}
    )


def json_answer(status: int, members: Mapping[str, object]) -> Response:
    """An answer with a body."""
    headers = (("content-type", "application/json; charset=utf-8"),)
    return Response(status, headers, encode_object(dict(members)))
