from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from op_openbanking.errors import ConfigError, TokenInvalid
from op_openbanking.jose.jws import sign_compact
from op_openbanking.jose.jwt import ClaimRules, parse_claims, sign_jwt, verify_jwt
from op_openbanking.signing.local import LocalSigner

SIGNER = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()), kid="k")
NOW = 1_735_689_600
RULES = ClaimRules(issuer="https://bank", audience="tpp", max_lifetime_s=3600, section="TEST 1")
GOOD: dict[str, Any] = {"iss": "https://bank", "aud": "tpp", "iat": NOW, "exp": NOW + 60}


def check(claims: dict[str, Any], rules: ClaimRules = RULES, typ: str | None = None) -> str:
    """The code of the check that refused, or an empty text."""
    token = sign_jwt({k: v for k, v in claims.items() if v is not ...}, SIGNER, typ=typ)
    try:
        verify_jwt(token, SIGNER.jwk, rules=rules, now_s=NOW)
    except TokenInvalid as error:
        return error.check
    return ""


def test_accepts_claims_within_the_rules() -> None:
    assert check(GOOD) == ""
    assert check({**GOOD, "aud": ["other", "tpp"], "nbf": NOW + 10, "iat": NOW + 0.5}) == ""
    assert check({**GOOD, "exp": NOW - 9}) == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("iss", "https://bank/"),
        ("iss", 7),
        ("iss", ...),
        ("aud", "tpp2"),
        ("aud", []),
        ("aud", [1]),
        ("aud", {"tpp": 1}),
        ("aud", ...),
        ("exp", NOW - 10),
        ("exp", NOW + 3601),
        ("exp", "soon"),
        ("exp", True),
        ("exp", -1),
        ("exp", 1e300),
        ("exp", ...),
        ("nbf", NOW + 11),
        ("nbf", "x"),
        ("iat", NOW + 11),
        ("iat", [NOW]),
    ],
)
def test_refuses_a_claim_outside_the_rules(name: str, value: object) -> None:
    assert check({**GOOD, name: value}) == f"claim-{name}"


def test_refuses_old_tokens_where_an_age_is_set() -> None:
    rules = ClaimRules(issuer=None, audience=None, max_age_s=60)
    assert check({"exp": NOW + 60, "iat": NOW - 71}, rules) == "claim-iat"
    assert check({"exp": NOW + 60}, rules) == "claim-iat"
    assert check({"exp": NOW + 60, "iat": NOW - 70}, rules) == ""


def test_event_tokens_may_have_no_expiry() -> None:
    rules = ClaimRules(issuer=None, audience=None, requires_expiry=False)
    assert check({"iat": NOW}, rules) == ""
    assert check({"iat": NOW, "exp": NOW - 100}, rules) == "claim-exp"


def test_required_claims_must_be_there() -> None:
    rules = ClaimRules(issuer=None, audience=None, required=("jti",))
    assert check(GOOD, rules) == "claim-jti"
    assert check({**GOOD, "jti": None}, rules) == "claim-jti"
    assert check({**GOOD, "jti": "1"}, rules) == ""


def test_type_is_checked_where_one_is_set() -> None:
    rules = ClaimRules(issuer=None, audience=None, types=frozenset({"jwt"}))
    assert check(GOOD, rules, typ="application/JWT") == ""
    assert check(GOOD, rules, typ="at+jwt") == "jwt-typ"
    assert check(GOOD, rules) == "jwt-typ"


@pytest.mark.parametrize("payload", [b"[]", b"x", b"\xff", b'{"a":1,"a":2}', b"{" * 200_000])
def test_refuses_a_payload_that_is_no_claims_set(payload: bytes) -> None:
    with pytest.raises(TokenInvalid) as caught:
        parse_claims(payload)
    assert caught.value.check == "jwt-claims"


def test_a_verified_signature_over_no_claims_is_refused() -> None:
    with pytest.raises(TokenInvalid):
        verify_jwt(sign_compact(b"x", SIGNER), SIGNER.jwk, rules=RULES, now_s=NOW)


def test_a_refusal_names_the_section_of_its_rules() -> None:
    token = sign_jwt({**GOOD, "aud": "other"}, SIGNER)
    with pytest.raises(TokenInvalid, match=r"\[claim-aud; TEST 1\]"):
        verify_jwt(token, SIGNER.jwk, rules=RULES, now_s=NOW)


@pytest.mark.parametrize("leeway_s", [-1, 301])
def test_leeway_has_bounds(leeway_s: int) -> None:
    with pytest.raises(ConfigError):
        ClaimRules(issuer=None, audience=None, leeway_s=leeway_s)


def test_typed_access_never_leaks_a_type_error() -> None:
    claims = parse_claims(b'{"a":1,"t":"x","n":null}')
    assert claims.optional_text("t") == "x"
    assert claims.optional_text("absent") is None
    assert claims.optional_instant_s("a") == 1
    for name in ("a", "n"):
        with pytest.raises(TokenInvalid):
            claims.text(name)
    assert "t" in claims
    assert "x" not in repr(claims)
