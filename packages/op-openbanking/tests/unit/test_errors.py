from __future__ import annotations

import inspect

import pytest

from op_openbanking import errors
from op_openbanking.errors import (
    BankError,
    ExtraMissing,
    OpenBankingError,
    RateLimited,
    SecurityError,
    TransportError,
    UnknownPlugin,
    quoted,
)
from op_openbanking.fapi.profile import AuthMethod

CLASSES = [
    each
    for _, each in inspect.getmembers(errors, inspect.isclass)
    if issubclass(each, OpenBankingError)
]


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    drawn: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        name = line.split()[0] if line.split() else ""
        if name and hasattr(errors, name) and inspect.isclass(getattr(errors, name)):
            drawn.append((len(line) - len(line.lstrip()), name))
    assert {name for _, name in drawn} == {each.__name__ for each in CLASSES}
    parents: dict[int, str] = {}
    for indent, name in drawn:
        parents[indent] = name
        if indent:
            assert getattr(errors, name).__bases__[0].__name__ == parents[indent - 2]


def test_only_rate_limits_and_transport_may_be_retried() -> None:
    retryable = {each.__name__ for each in CLASSES if each.retryable}
    assert retryable == {"RateLimited", "TransportError", "SignerUnavailable"}


@pytest.mark.parametrize("each", [c for c in CLASSES if issubclass(c, SecurityError)])
def test_a_security_refusal_names_check_and_section(each: type[SecurityError]) -> None:
    error = each("it is wrong", check="jws-alg", section="FAPI1-ADV 8.6 (PS256 or ES256)")
    assert str(error) == "it is wrong [jws-alg; FAPI1-ADV 8.6 (PS256 or ES256)]"
    assert not error.retryable


def test_a_bank_error_carries_its_facts() -> None:
    error = BankError("refused", status=403, code="UK.OBIE.Reauthenticate", interaction_id="i")
    assert (error.status, error.code, error.interaction_id) == (403, "UK.OBIE.Reauthenticate", "i")
    assert str(error) == "refused [HTTP 403, UK.OBIE.Reauthenticate]"
    assert str(BankError("refused")) == "refused"
    assert RateLimited("slow down", retry_after_s=3).retry_after_s == 3


def test_a_transport_error_may_forbid_its_own_retry() -> None:
    assert TransportError("gone").retryable
    assert not TransportError("sent, no answer", retryable=False).retryable


def test_an_absent_library_names_the_extra() -> None:
    assert "pip install 'op-openbanking[aws]'" in str(ExtraMissing("AWS KMS", extra="aws"))
    assert "known: a, b" in str(UnknownPlugin("signer", "c", known=("a", "b")))


def test_a_peers_text_is_cut_and_made_printable() -> None:
    assert quoted("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"
    assert quoted("x" * 81) == "'" + "x" * 80 + "'..."
    assert quoted({"a": 1}) == "\"{'a': 1}\""


def test_a_name_is_quoted_by_its_value() -> None:
    assert quoted(AuthMethod.PRIVATE_KEY_JWT) == "'private_key_jwt'"
