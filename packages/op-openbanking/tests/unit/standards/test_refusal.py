from __future__ import annotations

import json
from importlib import import_module

import pytest
from hypothesis import given, strategies as st

from op_openbanking import errors
from op_openbanking.errors import BankError, BankUnavailable, RateLimited
from op_openbanking.flow import Request, Response
from op_openbanking.standards.refusal import faults_of, refuse

NOW_S = 1_800_000_000.0
READ = Request("GET", "https://api.bank.example/x", idempotent=True)
PAY = Request("POST", "https://api.bank.example/x")
STANDARDS = ("uk_obie", "berlin_group", "stet", "cdr", "fdx")
MEANINGS = {
    name: import_module(f"op_openbanking.standards.{name}.meanings").MEANINGS for name in STANDARDS
}


def refusal(
    standard: str, status: int, body: object = b"", *, request: Request = READ, **headers: str
) -> BankError:
    octets = body if isinstance(body, bytes) else json.dumps(body).encode()
    stated = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    with pytest.raises(BankError) as caught:
        refuse(Response(status, stated, octets), request, meanings=MEANINGS[standard], now_s=NOW_S)
    return caught.value


def obie(*codes: str) -> object:
    rows = [{"ErrorCode": code, "Message": "m", "Path": "Data.X"} for code in codes]
    return {"Code": "400 BadRequest", "Message": "m", "Errors": rows}


def berlin(code: str) -> object:
    return {"tppMessages": [{"category": "ERROR", "code": code, "text": "t", "path": "p"}]}


def cdr(code: str, urn: str | None = None) -> object:
    row = {"code": code, "title": "t", "detail": "d"}
    return {"errors": [row if urn is None else {**row, "meta": {"urn": urn}}]}


CDR = "urn:au-cds:error:cds-all:"
PROBLEM = {"type": "about:blank", "title": "t", "code": "CONSENT_EXPIRED"}
HTML = b"<html>Service Unavailable</html>"

CASES = [
    ("uk_obie", 403, obie("UK.OBIE.Reauthenticate"), "ReauthenticationRequired"),
    ("uk_obie", 400, obie("UK.OBIE.Field.Missing"), "RequestRefused"),
    ("uk_obie", 400, obie("UK.OBIE.Rules.FailsControlParameters"), "LimitExceeded"),
    ("uk_obie", 400, obie("UK.OBIE.Resource.NotFound"), "ResourceUnknown"),
    ("uk_obie", 409, obie("UK.OBIE.Rules.ResourceAlreadyExists"), "StateConflict"),
    ("uk_obie", 400, obie("UK.Bank.Own", "UK.OBIE.Reauthenticate"), "ReauthenticationRequired"),
    ("uk_obie", 400, obie("UK.Bank.Own"), "RequestRefused"),
    ("uk_obie", 401, b"", "ConsentRequired"),
    ("uk_obie", 403, b"", "AccessDenied"),
    ("uk_obie", 401, {"error": "invalid_token"}, "ConsentRequired"),
    ("uk_obie", 403, {"error": "insufficient_scope"}, "AccessDenied"),
    ("uk_obie", 404, HTML, "ResourceUnknown"),
    ("uk_obie", 503, HTML, "BankUnavailable"),
    ("uk_obie", 302, b"", "RequestRefused"),
    ("uk_obie", 299, b"", "BankError"),
    ("berlin_group", 401, berlin("CONSENT_EXPIRED"), "ConsentExpired"),
    ("berlin_group", 401, PROBLEM, "ConsentExpired"),
    ("berlin_group", 403, berlin("CONSENT_UNKNOWN"), "ConsentRevoked"),
    ("berlin_group", 401, berlin("CERTIFICATE_EXPIRED"), "AccessDenied"),
    ("berlin_group", 429, berlin("ACCESS_EXCEEDED"), "RateLimited"),
    ("berlin_group", 409, berlin("STATUS_INVALID"), "StateConflict"),
    ("stet", 400, {"status": 400, "error": "Bad Request", "message": "m"}, "RequestRefused"),
    ("cdr", 403, cdr(f"{CDR}Authorisation/RevokedConsent"), "ConsentRevoked"),
    ("cdr", 403, cdr("own", f"{CDR}Authorisation/InvalidConsent"), "ConsentRequired"),
    ("cdr", 503, cdr(f"{CDR}Service/Unavailable"), "BankUnavailable"),
    ("fdx", 404, {"code": 701, "message": "m"}, "ResourceUnknown"),
    ("fdx", 409, {"code": "705", "message": "m"}, "StateConflict"),
    ("fdx", 400, {"code": "9999", "message": "m"}, "RequestRefused"),
]


@pytest.mark.parametrize(("standard", "status", "body", "kind"), CASES)
def test_each_body_is_one_kind_of_error(
    standard: str, status: int, body: object, kind: str
) -> None:
    found = refusal(standard, status, body)
    assert type(found) is getattr(errors, kind)
    assert found.status == status


def test_an_error_tells_what_and_where_and_shows_no_words_of_the_bank() -> None:
    body = {"Errors": [{"ErrorCode": "UK.Bank.Own", "Message": "secret", "Path": "Data.A"}]}
    found = refusal("uk_obie", 400, body, x_fapi_interaction_id="i-1")
    assert [(fault.code, fault.path) for fault in found.faults] == [("UK.Bank.Own", "Data.A")]
    assert (found.code, found.interaction_id) == ("UK.Bank.Own", "i-1")
    assert found.description == "secret"
    assert "secret" not in f"{found}{found.faults!r}"


def test_the_code_that_decided_is_the_errors_code() -> None:
    found = refusal("uk_obie", 403, obie("UK.Bank.Own", "UK.OBIE.Reauthenticate"))
    assert found.code == "UK.OBIE.Reauthenticate"


def test_words_of_both_forms_without_a_list_are_kept() -> None:
    stet = refusal("stet", 400, {"status": 400, "error": "Bad Request", "message": "iban"})
    oauth = refusal("stet", 401, {"error": "invalid_token", "error_description": "old"})
    assert (stet.description, oauth.description) == ("iban", "old")


def test_a_bank_that_fails_may_be_asked_again_but_a_payment_without_key_may_not() -> None:
    read, pay = refusal("uk_obie", 503), refusal("uk_obie", 503, request=PAY)
    assert isinstance(read, BankUnavailable)
    assert (read.retryable, pay.retryable) == (True, False)


def test_the_time_to_wait_is_told() -> None:
    found = refusal("uk_obie", 429, retry_after="17")
    assert isinstance(found, RateLimited)
    assert found.retry_after_s == 17


@given(st.integers(200, 599), st.binary(max_size=200))
def test_no_body_breaks_the_taxonomy(status: int, body: bytes) -> None:
    refusal("uk_obie", status, body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Errors", "errors", "tppMessages", "code", "error", "meta", "urn"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(JSON)
def test_no_json_breaks_the_taxonomy(value: object) -> None:
    octets = json.dumps(value).encode()
    for fault in faults_of(Response(400, (), octets)):
        assert fault.code
