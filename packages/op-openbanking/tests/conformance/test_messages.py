"""The judge of messages itself: it must find what is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from op_openbanking.flow import Request, Response

pytestmark = pytest.mark.conformance

HOST = "https://bank.example"
OBIE = f"{HOST}/open-banking/v3.1"
JSON = (("content-type", "application/json; charset=utf-8"),)
TOKEN = ("authorization", "Bearer x")
CONSENT = Request(
    "POST",
    f"{OBIE}/aisp/account-access-consents",
    headers=(TOKEN, *JSON),
    body=b'{"Data":{"Permissions":["ReadBalances"]},"Risk":{}}',
)
READ = Request("GET", f"{OBIE}/aisp/accounts", headers=(TOKEN,))


@pytest.fixture
def obie(messages: Any) -> Any:
    return messages("obie/v3.1.11/*.yaml")


def test_good_messages_pass_and_are_counted(obie: Any) -> None:
    obie.check_request(CONSENT)
    obie.check_request(READ)
    obie.check_answer(READ, Response(401))
    assert obie.seen == ["POST /account-access-consents", "GET /accounts"]


BAD = {
    "no such path": replace(READ, url=f"{OBIE}/aisp/acounts"),
    "no such verb": replace(READ, method="PUT"),
    "no token": replace(READ, headers=()),
    "unknown query": replace(READ, url=f"{READ.url}?page=2"),
    "a body where none belongs": replace(READ, body=b"{}"),
    "no body": replace(CONSENT, body=b""),
    "media type": replace(CONSENT, headers=(TOKEN, ("content-type", "text/plain"))),
    "unknown member": replace(CONSENT, body=CONSENT.body.replace(b'"Risk"', b'"Risky"')),
    "unknown code": replace(CONSENT, body=CONSENT.body.replace(b"ReadBal", b"ReadBol")),
    "no signature": Request(
        "POST",
        f"{OBIE}/pisp/domestic-payments",
        headers=(TOKEN, *JSON, ("x-idempotency-key", "k")),
        body=b"{}",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_request_that_is_wrong_is_found(obie: Any, case: str) -> None:
    with pytest.raises(AssertionError):
        obie.check_request(BAD[case])


@pytest.mark.parametrize(
    ("status", "body"), [(200, b"{}"), (201, b""), (200, b'{"Data":{},"Links":{},"Other":1}')]
)
def test_an_answer_that_is_wrong_is_found(obie: Any, status: int, body: bytes) -> None:
    with pytest.raises(AssertionError):
        obie.check_answer(READ, Response(status, JSON, body))


def test_parameters_of_a_link_that_the_bank_wrote_are_its_own(obie: Any) -> None:
    link = f"{OBIE}/aisp/accounts?page=2"
    body = (
        f'{{"Data":{{"Account":[]}},"Links":{{"Self":"{READ.url}","Next":"{link}"}},"Meta":{{}}}}'
    )
    obie.check_answer(READ, Response(200, JSON, body.encode()))
    obie.check_request(replace(READ, url=link))
    with pytest.raises(AssertionError, match="pages"):
        obie.check_request(replace(READ, url=f"{READ.url}?pages=2"))


REQUEST_ID = ("x-request-id", "99391c7e-ad88-49ec-a2ad-99ddcb1f7721")
OTHERS = {
    "berlin group": (
        ("berlin-group/psd2-api_v1.3.12*.json",),
        {"prefix": ""},
        Request(
            "GET",
            f"{HOST}/v1/accounts/3dc3d5b3-7023-4848-9853-f5400a64e80f/transactions?bookingStatus=both",
            headers=(REQUEST_ID, ("consent-id", "c-1")),
        ),
        "bookingStatus=both",
    ),
    "stet": (
        ("stet/*.yaml",),
        {"prefix": "/stet/psd2/v1"},
        Request(
            "POST",
            f"{HOST}/stet/psd2/v1/funds-confirmations",
            headers=(TOKEN, REQUEST_ID, ("signature", "x"), *JSON),
            body=b'{"paymentCoverageRequestId":"1","instructedAmount":{"currency":"EUR",'
            b'"amount":"1.00"},"accountId":{"iban":"FR7612345987650123456789014"}}',
        ),
        '"paymentCoverageRequestId"',
    ),
    "cdr": (
        ("cdr/v1.31.0/cds_banking*",),
        {},
        Request("GET", f"{HOST}/cds-au/v1/banking/accounts?page-size=25", headers=(("x-v", "2"),)),
        "page-size=25",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_files_of_every_standard_judge(messages: Any, name: str) -> None:
    patterns, options, good, needed = OTHERS[name]
    files = messages(*patterns, **options)
    files.check_request(good)
    wrong = replace(
        good,
        url=good.url.replace(needed, "x=y"),
        body=good.body.replace(needed.encode(), b'"x"'),
    )
    with pytest.raises(AssertionError):
        files.check_request(wrong)
