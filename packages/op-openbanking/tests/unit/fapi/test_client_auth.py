from __future__ import annotations

import json
from typing import Any

import pytest

from op_openbanking.errors import ConfigError
from op_openbanking.fapi.client_auth import (
    ASSERTION_TYPE,
    Audience,
    Call,
    PrivateKeyJWT,
    SelfSignedTLSClientAuth,
    TLSClientAuth,
)
from op_openbanking.jose.jws import peek
from op_openbanking.jose.jwt import ClaimRules, verify_jwt


def call_of(world: Any) -> Call:
    return Call(
        "client-1",
        world.client.server,
        "https://mtls.bank.example/par",
        world.now_s,
        world.client.entropy,
    )


def test_an_assertion_is_short_lived_and_addressed_to_the_issuer(world: Any) -> None:
    fields = world.run(PrivateKeyJWT(world.client_signer).credentials(call_of(world)))
    assert fields["client_id"] == "client-1"
    assert fields["client_assertion_type"] == ASSERTION_TYPE
    rules = ClaimRules(issuer="client-1", audience="https://auth.bank.example", max_lifetime_s=60)
    token = verify_jwt(
        fields["client_assertion"], world.client_signer.jwk, rules=rules, now_s=world.now_s
    )
    assert token.claims.text("sub") == "client-1"
    assert "nbf" not in token.claims
    assert token.header["kid"] == "client-1"


def test_each_assertion_has_a_jti_of_its_own(world: Any) -> None:
    seen = set()
    for _ in range(3):
        fields = world.run(PrivateKeyJWT(world.client_signer).credentials(call_of(world)))
        seen.add(json.loads(peek(fields["client_assertion"])[1])["jti"])
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("audience", "aud"),
    [
        (Audience.ISSUER, "https://auth.bank.example"),
        (Audience.TOKEN_ENDPOINT, "https://auth.bank.example/token"),
        (Audience.ENDPOINT, "https://mtls.bank.example/par"),
        (("https://a.example",), "https://a.example"),
        (("https://a.example", "b"), ["https://a.example", "b"]),
    ],
)
def test_the_audience_is_as_the_bank_asks(world: Any, audience: Any, aud: Any) -> None:
    method = PrivateKeyJWT(world.client_signer, audience=audience)
    fields = world.run(method.credentials(call_of(world)))
    assert json.loads(peek(fields["client_assertion"])[1])["aud"] == aud


@pytest.mark.parametrize("lifetime_s", [0, 301])
def test_an_assertion_lives_at_most_five_minutes(world: Any, lifetime_s: int) -> None:
    with pytest.raises(ConfigError, match="lifetime_s"):
        PrivateKeyJWT(world.client_signer, lifetime_s=lifetime_s)


def test_an_empty_audience_is_refused(world: Any) -> None:
    with pytest.raises(ConfigError, match="audience"):
        PrivateKeyJWT(world.client_signer, audience=())


@pytest.mark.parametrize("method", [TLSClientAuth(), SelfSignedTLSClientAuth()])
def test_mutual_tls_sends_the_client_id_alone(world: Any, method: Any) -> None:
    assert world.run(method.credentials(call_of(world))) == {"client_id": "client-1"}
