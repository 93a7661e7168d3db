from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from op_openbanking.errors import (
    BankError,
    ConfigError,
    ProtocolViolation,
    SecurityError,
    SignatureInvalid,
    TokenInvalid,
)
from op_openbanking.fapi.fapi1_advanced import FAPI1_ADVANCED
from op_openbanking.fapi.fapi2_security import FAPI2_SECURITY
from op_openbanking.fapi.profile import AnswerForm, AuthMethod, Profile, SenderConstraint
from op_openbanking.fapi.registration import (
    Dialect,
    SignedRequest,
    client_metadata,
    delete_registration,
    read_registration,
    register,
    update_registration,
)
from op_openbanking.fapi.software_statement import SoftwareStatement, verify_statement
from op_openbanking.flow import Request, Response
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.jws import peek
from op_openbanking.jose.jwt import sign_jwt
from op_openbanking.testing.authorization_server import ISSUER
from op_openbanking.testing.middle import ABSENT, changed_json

REDIRECT = "https://tpp.example/callback"
UUID4 = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")


def metadata(**options: Any) -> dict[str, object]:
    arguments: dict[str, Any] = {
        "redirect_uris": (REDIRECT,),
        "auth_method": AuthMethod.PRIVATE_KEY_JWT,
        "scope": "openid accounts",
        **options,
    }
    return client_metadata(FAPI1_ADVANCED, **arguments)


def statement(world: Any, **changes: object) -> str:
    claims: dict[str, object] = {
        "iss": "OpenBanking Ltd",
        "iat": int(world.now_s) - 10,
        "jti": "ssa-1",
        "software_id": "4fV9Yw2aKkqvMTXH2bPLgp",
        "software_redirect_uris": [REDIRECT, "https://tpp.example/other"],
        "software_roles": ["AISP", "PISP"],
        "software_jwks": JWKSet.of([world.client_signer.jwk]).to_members(),
        **changes,
    }
    return sign_jwt(
        {name: value for name, value in claims.items() if value is not ABSENT},
        world.server_signer,
    )


def enrol(
    world: Any,
    members: dict[str, object],
    *,
    change: Callable[[Request, Response], Response] | None = None,
    **options: Any,
) -> Any:
    flow = register(
        world.client.server, members, clock=world.clock, entropy=world.client.entropy, **options
    )
    return world.run(flow, change)


def signing(world: Any) -> SignedRequest:
    return SignedRequest(
        world.client_signer, SoftwareStatement.parse(statement(world)), audience=ISSUER
    )


def test_plain_registration_sends_json_and_keeps_the_answer(world: Any) -> None:
    jwks = JWKSet.of([world.client_signer.jwk])
    made = enrol(world, metadata(jwks=jwks), initial_access_token="initial")
    sent = world.server.requests[-1]
    assert sent.header("content-type") == "application/json"
    assert sent.header("authorization") == "Bearer initial"
    assert json.loads(sent.body)["jwks"] == jwks.to_members()
    assert made.client_id in world.server.clients
    assert made.management_token == "manage"
    assert "management_token" not in repr(made)


@pytest.mark.parametrize(
    ("dialect", "content_type"),
    [
        (Dialect.OBIE, "application/jwt"),
        (Dialect.OBIE_OLD, "application/jose"),
        (Dialect.CDR, "application/jwt"),
    ],
)
def test_a_signed_registration_carries_the_statement(
    world: Any, dialect: Dialect, content_type: str
) -> None:
    made = enrol(
        world,
        metadata(),
        dialect=dialect,
        signing=signing(world),
        client_certificate="C" * 43,
    )
    sent = world.server.requests[-1]
    claims = json.loads(peek(sent.body)[1])
    assert sent.header("content-type") == content_type
    assert sent.url == "https://mtls.bank.example/register"
    assert sent.client_certificate == "C" * 43
    assert claims["iss"] == "4fV9Yw2aKkqvMTXH2bPLgp"
    assert claims["aud"] == ISSUER
    assert claims["exp"] - claims["iat"] == 300
    assert UUID4.match(claims["jti"])
    assert claims["software_statement"].count(".") == 2
    assert "implicit" not in claims["grant_types"]
    assert ("software_id" in claims) == (dialect is not Dialect.CDR)
    assert made.client_id


def test_a_signed_dialect_needs_a_statement(world: Any) -> None:
    with pytest.raises(ConfigError, match="needs a signer and a software statement"):
        enrol(world, metadata(), dialect=Dialect.OBIE)


def test_the_statement_must_vouch_for_each_redirect_uri(world: Any) -> None:
    members = metadata(redirect_uris=("https://evil.example/callback",))
    with pytest.raises(ConfigError, match=r"does not vouch for 'https://evil\.example"):
        enrol(world, members, dialect=Dialect.OBIE, signing=signing(world))


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"id_token_signed_response_alg": "RS256"}, "registration-id_token_signed_response_alg"),
        ({"request_object_signing_alg": "none"}, "registration-request_object_signing_alg"),
        (
            {"token_endpoint_auth_method": "client_secret_basic"},
            "registration-token_endpoint_auth_method",
        ),
        ({"redirect_uris": [REDIRECT, "https://evil.example"]}, "registration-redirect_uris"),
        (
            {"tls_client_certificate_bound_access_tokens": False},
            "registration-tls_client_certificate_bound_access_tokens",
        ),
    ],
)
def test_refuses_a_registration_that_is_weaker_than_asked(
    world: Any, change: dict[str, object], check: str
) -> None:
    with pytest.raises(TokenInvalid) as caught:
        enrol(world, metadata(), change=lambda _, response: changed_json(response, **change))
    assert caught.value.check == check


def test_an_answer_without_client_id_is_the_peers_fault(world: Any) -> None:
    with pytest.raises(ProtocolViolation, match="client_id"):
        enrol(world, metadata(), change=lambda _, r: changed_json(r, client_id=ABSENT))


def test_a_secret_that_a_bank_sends_is_not_kept(world: Any) -> None:
    made = enrol(world, metadata(), change=lambda _, r: changed_json(r, client_secret="hush"))
    assert "client_secret" not in made.members


def test_a_refusal_carries_the_code_of_the_bank(world: Any) -> None:
    body = b'{"error":"unapproved_software_statement","error_description":"ask first"}'
    with pytest.raises(BankError) as caught:
        enrol(world, metadata(), change=lambda *_: Response(400, (), body))
    assert caught.value.code == "unapproved_software_statement"
    assert caught.value.description == "ask first"
    assert "ask first" not in str(caught.value)


def test_a_registration_is_read_replaced_and_deleted(world: Any) -> None:
    good = Response(200, (("content-type", "application/json"),), b'{"client_id":"c"}')
    uri = f"{ISSUER}/register/c"
    answers = {"GET": good, "PUT": good, "DELETE": Response(204)}

    def change(request: Request, _: Response) -> Response:
        assert request.header("authorization") == "Bearer manage"
        return answers[request.method]

    assert world.run(read_registration(uri, token="manage"), change).client_id == "c"
    flow = update_registration(
        uri,
        {"client_id": "c"},
        token="manage",
        clock=world.clock,
        entropy=world.client.entropy,
    )
    assert world.run(flow, change).client_id == "c"
    assert world.server.requests[-1].method == "PUT"
    world.run(delete_registration(uri, token="manage"), change)
    answers["DELETE"] = Response(405)
    with pytest.raises(BankError, match="405"):
        world.run(delete_registration(uri, token="manage"), change)


@pytest.mark.parametrize(
    ("profile", "options", "problem"),
    [
        (FAPI1_ADVANCED, {"algorithm": "RS256"}, "does not allow RS256"),
        (FAPI1_ADVANCED, {"constraint": SenderConstraint.DPOP}, "bound by dpop"),
        (FAPI2_SECURITY, {"jwks": JWKSet(()), "jwks_uri": "https://a.example"}, "exclude"),
    ],
)
def test_metadata_stays_within_the_profile(
    profile: Profile, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        client_metadata(
            profile,
            redirect_uris=(REDIRECT,),
            auth_method=AuthMethod.TLS_CLIENT_AUTH,
            scope="openid",
            **options,
        )


def test_metadata_says_what_the_profile_needs() -> None:
    members = metadata(subject_dn="CN=tpp", answers=frozenset({AnswerForm.HYBRID}))
    assert members["response_types"] == ["code id_token"]
    assert members["tls_client_certificate_bound_access_tokens"] is True
    assert members["tls_client_auth_subject_dn"] == "CN=tpp"
    assert "authorization_signed_response_alg" not in members
    assert metadata()["authorization_signed_response_alg"] == "PS256"
    dpop = client_metadata(
        FAPI2_SECURITY,
        redirect_uris=(REDIRECT,),
        auth_method=AuthMethod.PRIVATE_KEY_JWT,
        scope="accounts",
        constraint=SenderConstraint.DPOP,
    )
    assert dpop["dpop_bound_access_tokens"] is True
    assert dpop["response_types"] == ["code"]


def test_a_statement_is_read_and_verified(world: Any) -> None:
    token = statement(world)
    read = SoftwareStatement.parse(token)
    assert read.roles == ("AISP", "PISP")
    keys = JWKSet.of([world.server_signer.jwk])
    assert verify_statement(token, keys, issuer="OpenBanking Ltd", now_s=world.now_s) == read
    cdr = statement(
        world,
        iss="cdr-register",
        software_redirect_uris=ABSENT,
        redirect_uris=[REDIRECT],
        software_roles="data-recipient-software-product",
    )
    assert SoftwareStatement.parse(cdr).roles == ("data-recipient-software-product",)


def test_refuses_a_statement_that_is_forged_old_or_foreign(world: Any) -> None:
    keys = JWKSet.of([world.server_signer.jwk])

    def verify(token: str, issuer: str = "OpenBanking Ltd") -> None:
        verify_statement(token, keys, issuer=issuer, now_s=world.now_s)

    attempts: list[tuple[Callable[[], None], type[SecurityError]]] = [
        (lambda: verify(statement(world), "cdr-register"), TokenInvalid),
        (lambda: verify(statement(world, iat=1)), TokenInvalid),
        (lambda: verify(statement(world)[:-2] + "AA"), SecurityError),
        (lambda: verify("a.b"), SignatureInvalid),
    ]
    for attempt, kind in attempts:
        with pytest.raises(kind):
            attempt()


@pytest.mark.parametrize("token", ["", "a.b.c", "ü", "x" * 200_000])
def test_a_statement_that_is_no_jwt_is_a_matter_of_configuration(token: str) -> None:
    with pytest.raises(ConfigError):
        SoftwareStatement.parse(token)


@pytest.mark.parametrize(
    "change",
    [{"software_id": 1}, {"software_redirect_uris": [1]}, {"software_roles": {"x": 1}}],
)
def test_a_statement_of_the_wrong_shape_is_refused(world: Any, change: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="lacks software_id"):
        SoftwareStatement.parse(statement(world, **change))
