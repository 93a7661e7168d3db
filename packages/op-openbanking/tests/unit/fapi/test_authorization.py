from __future__ import annotations

import asyncio
import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from op_openbanking.errors import (
    BankError,
    ConfigError,
    ConsentRequired,
    KeyNotFound,
    OpenBankingError,
    ProtocolViolation,
    SecurityError,
    SignatureInvalid,
    StateMismatch,
    TokenInvalid,
    TransportError,
)
from op_openbanking.fapi.authorization import AuthorizationResponse, begin, finish
from op_openbanking.fapi.callback import Callback
from op_openbanking.fapi.client_auth import PrivateKeyJWT
from op_openbanking.fapi.profile import AnswerForm
from op_openbanking.fapi.tokens import exchange
from op_openbanking.flow import Request, Response, arun
from op_openbanking.jose.jws import peek
from op_openbanking.signing.local import LocalSigner
from op_openbanking.testing.middle import ABSENT, changed_token, changed_url, parameters_of

HYBRID, JARM, CODE = AnswerForm.HYBRID, AnswerForm.JARM, AnswerForm.CODE


def refused(world: Any, landed: Any, check: str, **options: Any) -> SecurityError:
    with pytest.raises(SecurityError) as caught:
        world.finish(landed, **options)
    assert caught.value.check == check
    assert caught.value.section
    return caught.value


def request_object(world: Any) -> dict[str, Any]:
    pushed = next(each for each in world.server.requests if each.url.endswith("/par"))
    fields = dict(parse_qsl(pushed.body.decode()))
    claims: dict[str, Any] = json.loads(peek(fields["request"])[1])
    return claims


@pytest.mark.parametrize("answer", [HYBRID, JARM])
def test_a_good_answer_becomes_a_response(world: Any, answer: AnswerForm) -> None:
    response = world.finish(world.land(answer))
    assert isinstance(response, AuthorizationResponse)
    assert (response.id_token is not None) == (answer is HYBRID)
    assert response.code not in repr(response)


def test_the_request_object_holds_every_parameter_and_its_bounds(world: Any) -> None:
    world.land(JARM, acr_values=("urn:openbanking:psd2:sca",), parameters={"login_hint": "me"})
    claims = request_object(world)
    assert claims["iss"] == claims["client_id"] == "client-1"
    assert claims["aud"] == "https://auth.bank.example"
    assert 0 < claims["exp"] - claims["nbf"] <= 3600
    assert claims["nbf"] < world.now_s
    assert claims["response_type"] == "code"
    assert claims["response_mode"] == "jwt"
    assert claims["redirect_uri"] == "https://tpp.example/callback"
    assert claims["scope"] == "openid accounts"
    assert claims["code_challenge_method"] == "S256"
    assert claims["login_hint"] == "me"
    assert claims["claims"]["id_token"]["acr"] == {
        "essential": True,
        "values": ["urn:openbanking:psd2:sca"],
    }
    assert len(claims["state"]) == len(claims["nonce"]) == len(claims["code_challenge"]) == 43


def test_after_a_push_only_client_id_and_request_uri_are_sent(world: Any) -> None:
    flow = begin(world.client, scope="accounts", store=world.store, user_agent="b")
    assert set(parameters_of(world.run(flow).url)) == {"client_id", "request_uri"}


def test_without_a_push_the_three_parameters_are_repeated_outside(world: Any) -> None:
    flow = begin(
        world.client, scope="openid accounts", store=world.store, user_agent="b", pushes=False
    )
    outer = parameters_of(world.run(flow).url)
    assert set(outer) == {"client_id", "response_type", "scope", "request"}


def test_state_and_nonce_differ_each_time(world: Any) -> None:
    world.land(JARM)
    first = request_object(world)
    world.server.requests.clear()
    world.land(JARM)
    second = request_object(world)
    assert first["state"] != second["state"]
    assert first["nonce"] != second["nonce"]
    assert first["code_challenge"] != second["code_challenge"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"answer": CODE}, "does not allow the answer form"),
        ({"answer": HYBRID, "scope": "accounts"}, "needs the scope openid"),
        ({"user_agent": ""}, "must name the browser"),
        ({"request_lifetime_s": 3600}, "at most 60 minutes"),
        ({"request_lifetime_s": 0}, "at most 60 minutes"),
        ({"parameters": {"state": "mine"}}, "set by this flow"),
        ({"parameters": {"iss": "mine"}}, "set by the request object"),
        ({"scope": "accounts", "acr_values": ("x",)}, "need the scope"),
        ({"scope": "accounts", "expected_claims": {"a": "b"}}, "need the scope"),
        ({"claims": {"id_token": 1}, "acr_values": ("x",)}, "must be an object"),
    ],
)
def test_refuses_to_ask_for_what_the_profile_forbids(
    world: Any, options: dict[str, Any], problem: str
) -> None:
    arguments = {"scope": "openid accounts", "user_agent": "b", "answer": JARM, **options}
    with pytest.raises(ConfigError, match=problem):
        world.run(begin(world.client, store=world.store, **arguments))
    assert len(world.store) == 0


def test_a_response_cannot_be_constructed_by_hand(world: Any) -> None:
    response = world.finish(world.land(JARM))
    with pytest.raises(ConfigError, match="finish alone"):
        AuthorizationResponse("code", response.request, None)
    with pytest.raises((ConfigError, ValueError)):
        replace(response, code="another")


@pytest.mark.parametrize(
    ("claims", "check"),
    [
        ({"iss": "https://other.example"}, "claim-iss"),
        ({"aud": "other"}, "claim-aud"),
        ({"aud": ["client-1", "other"]}, "claim-azp"),
        ({"azp": "other"}, "claim-azp"),
        ({"exp": 1_799_999_000}, "claim-exp"),
        ({"exp": "soon"}, "claim-exp"),
        ({"iat": 1_799_999_000}, "claim-iat"),
        ({"iat": 1_800_000_999}, "claim-iat"),
        ({"iat": ABSENT}, "claim-iat"),
        ({"sub": ABSENT}, "claim-sub"),
        ({"nonce": "another"}, "claim-nonce"),
        ({"nonce": ABSENT}, "claim-nonce"),
        ({"s_hash": "bOhtX8F73IMjSPeVAqxyTQ"}, "claim-s_hash"),
        ({"s_hash": ABSENT}, "claim-s_hash"),
        ({"c_hash": "LDktKdoQak3Pk0cnXxCltA"}, "claim-c_hash"),
        ({"c_hash": ABSENT}, "claim-c_hash"),
        ({"acr": "urn:openbanking:psd2:ca"}, "claim-acr"),
        ({"acr": ABSENT}, "claim-acr"),
        ({"openbanking_intent_id": "another"}, "claim-openbanking_intent_id"),
        ({"openbanking_intent_id": ABSENT}, "claim-openbanking_intent_id"),
    ],
)
def test_refuses_a_detached_signature_with_one_claim_wrong(
    world: Any, claims: dict[str, object], check: str
) -> None:
    world.server.user_claims["openbanking_intent_id"] = "intent-1"
    landed = world.land(
        HYBRID,
        acr_values=("urn:openbanking:psd2:sca",),
        expected_claims={"openbanking_intent_id": "intent-1"},
    )
    token = parameters_of(landed)["id_token"]
    refused(world, changed_url(landed, id_token=world.forged(token, **claims)), check)


@pytest.mark.parametrize(
    ("claims", "check"),
    [
        ({"iss": "https://other.example"}, "claim-iss"),
        ({"iss": ABSENT}, "claim-iss"),
        ({"aud": "other"}, "claim-aud"),
        ({"exp": 1_799_999_000}, "claim-exp"),
        ({"exp": 1_800_009_000}, "claim-exp"),
        ({"exp": ABSENT}, "claim-exp"),
        ({"state": "another"}, "state"),
        ({"state": ABSENT}, "state"),
        ({"state": 1}, "claim-state"),
        ({"code": ABSENT}, "claim-code"),
        ({"code": ""}, "code"),
        ({"code": "ü"}, "code"),
    ],
)
def test_refuses_a_signed_answer_with_one_claim_wrong(
    world: Any, claims: dict[str, object], check: str
) -> None:
    landed = world.land(JARM)
    token = parameters_of(landed)["response"]
    forged = changed_url(landed, response=world.forged(token, **claims))
    if check == "claim-state":
        with pytest.raises(SecurityError):
            world.finish(forged)
    else:
        refused(world, forged, check)


@pytest.mark.parametrize("answer", [HYBRID, JARM])
def test_refuses_keys_and_algorithms_that_are_not_the_banks(world: Any, answer: AnswerForm) -> None:
    name = "id_token" if answer is HYBRID else "response"
    forgeries: list[tuple[Callable[[str], str], type[SecurityError], str]] = [
        (lambda t: changed_token(t, world.client_signer), SignatureInvalid, "jws-signature"),
        (
            lambda t: changed_token(t, world.server_signer, header={"kid": "nobody"}),
            KeyNotFound,
            "jwks-kid",
        ),
        (lambda t: "eyJhbGciOiJub25lIn0" + t[t.index(".") :], SignatureInvalid, "jws-alg"),
        (lambda t: "eyJhbGciOiJIUzI1NiJ9" + t[t.index(".") :], SignatureInvalid, "jws-alg"),
        (lambda t: t + "A", SignatureInvalid, "jws-signature-form"),
    ]
    for forge, kind, check in forgeries:
        landed = world.land(answer)
        token = parameters_of(landed)[name]
        error = refused(world, changed_url(landed, **{name: forge(token)}), check)
        assert isinstance(error, kind)


@pytest.mark.parametrize(
    "name", ["code", "state", "iss", "id_token", "error", "access_token", "token_type"]
)
def test_refuses_anything_beside_a_signed_answer(world: Any, name: str) -> None:
    landed = world.land(JARM)
    inner = json.loads(peek(parameters_of(landed)["response"])[1])
    value = inner["state"] if name == "state" else "x"
    refused(world, f"{landed}&{urlencode({name: value})}", "answer-unsigned")


def test_refuses_a_plain_answer_where_a_signed_one_was_asked_for(world: Any) -> None:
    landed = world.land(JARM)
    inner = json.loads(peek(parameters_of(landed)["response"])[1])
    plain = urlencode({"code": inner["code"], "state": inner["state"]})
    refused(world, f"https://tpp.example/callback?{plain}", "answer-unsigned")


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"code": "another"}, "claim-c_hash"),
        ({"code": ABSENT}, "answer-form"),
        ({"id_token": ABSENT}, "answer-form"),
        ({"access_token": "x"}, "answer-form"),
        ({"state": "another"}, "state"),
        ({"state": ABSENT}, "state"),
        ({"iss": "https://other.example"}, "iss"),
    ],
)
def test_refuses_a_hybrid_answer_with_one_parameter_wrong(
    world: Any, change: dict[str, object], check: str
) -> None:
    refused(world, changed_url(world.land(HYBRID), **change), check)


def test_refuses_a_hybrid_answer_in_the_query(world: Any) -> None:
    refused(world, world.land(HYBRID).replace("#", "?"), "answer-form")


def test_takes_a_hybrid_answer_that_the_page_posted_on(world: Any) -> None:
    url, _, fragment = world.land(HYBRID).partition("#")
    assert world.finish(Callback.from_form(url, fragment.encode())).id_token is not None


@pytest.mark.parametrize("answer", [HYBRID, JARM])
def test_an_answer_counts_once(world: Any, answer: AnswerForm) -> None:
    landed = world.land(answer)
    world.finish(landed)
    refused(world, landed, "state")


def test_a_refused_answer_is_spent_too(world: Any) -> None:
    landed = world.land(HYBRID)
    refused(world, changed_url(landed, code="another"), "claim-c_hash")
    refused(world, landed, "state")


def test_refuses_another_browser(world: Any) -> None:
    refused(world, world.land(JARM), "user-agent", browser="session-2")


def test_refuses_an_answer_that_comes_too_late(world: Any) -> None:
    landed = world.land(JARM, lifetime_s=60)
    world.now_s += 61
    refused(world, landed, "request-expired")


@pytest.mark.parametrize(
    "location",
    [
        "https://tpp.example/other",
        "https://evil.example/callback",
        "http://tpp.example/callback",
        "https://tpp.example/callback/",
    ],
)
def test_refuses_an_answer_at_another_redirect_uri(world: Any, location: str) -> None:
    landed = world.land(JARM).replace("https://tpp.example/callback", location)
    refused(world, landed, "redirect-uri")


def test_refuses_an_answer_to_a_request_at_another_server(world: Any) -> None:
    landed = world.land(JARM)
    other = replace(world.client.server, issuer="https://other.example")
    refused(world, landed, "iss", server=other)


def test_refuses_a_parameter_that_occurs_twice(world: Any) -> None:
    landed = world.land(HYBRID)
    refused(world, f"{landed}&state=x", "answer-twice")


def test_a_no_of_the_account_owner_is_told_apart(world: Any) -> None:
    landed = world.land(JARM)
    token = world.forged(
        parameters_of(landed)["response"],
        code=ABSENT,
        error="access_denied",
        error_description="no\nthanks",
    )
    with pytest.raises(ConsentRequired, match="access_denied") as caught:
        world.finish(changed_url(landed, response=token))
    assert caught.value.description == "no?thanks"


def test_an_error_of_the_server_is_told_apart(world: Any) -> None:
    landed = world.land(HYBRID)
    state = parameters_of(landed)["state"]
    with pytest.raises(BankError, match="server_error"):
        world.finish(f"https://tpp.example/callback#error=server_error&state={state}")


def test_an_error_without_a_pending_state_is_refused(world: Any) -> None:
    with pytest.raises(StateMismatch):
        world.finish("https://tpp.example/callback#error=server_error&state=x")


def test_a_forged_error_is_refused_where_answers_are_signed(world: Any) -> None:
    landed = world.land(JARM)
    token = world.forged(parameters_of(landed)["response"], code=ABSENT, error="access_denied")
    tampered = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")
    with pytest.raises(SignatureInvalid):
        world.finish(changed_url(landed, response=tampered))


class TestFAPI2:
    @pytest.fixture
    def world(self, make_world: Any) -> Any:
        return make_world(fapi2=True)

    def test_a_good_answer_becomes_a_response(self, world: Any) -> None:
        assert world.finish(world.land()).code

    @pytest.mark.parametrize(
        ("change", "check"),
        [
            ({"iss": ABSENT}, "iss"),
            ({"iss": "https://other.example"}, "iss"),
            ({"state": "another"}, "state"),
            ({"code": ABSENT}, "answer-form"),
            ({"id_token": "x"}, "answer-form"),
            ({"access_token": "x"}, "answer-form"),
        ],
    )
    def test_refuses_an_answer_with_one_parameter_wrong(
        self, world: Any, change: dict[str, object], check: str
    ) -> None:
        refused(world, changed_url(world.land(), **change), check)

    def test_requests_must_be_pushed(self, world: Any) -> None:
        flow = begin(
            world.client, scope="accounts", store=world.store, user_agent="b", pushes=False
        )
        with pytest.raises(ConfigError, match="must be pushed"):
            world.run(flow)

    def test_a_no_of_the_account_owner_is_told_apart(self, world: Any) -> None:
        landed = changed_url(world.land(), code=ABSENT, error="access_denied")
        with pytest.raises(ConsentRequired, match="access_denied"):
            world.finish(landed)

    def test_an_error_answer_without_iss_is_refused(self, world: Any) -> None:
        state = parameters_of(world.land())["state"]
        refused(world, f"https://tpp.example/callback?error=access_denied&state={state}", "iss")


def test_a_redirect_uri_with_a_query_of_its_own_is_kept(world: Any) -> None:
    uri = "https://tpp.example/callback?bank=a"
    world.server.clients["client-1"]["redirect_uris"] = [uri]
    world.client = replace(world.client, redirect_uri=uri)
    landed = world.land(JARM).replace("bank=a?", "bank=a&")
    assert urlsplit(landed).query.startswith("bank=a&response=")
    assert world.finish(landed).code
    spare = world.land(JARM).replace("bank=a?", "bank=b&")
    refused(world, spare, "redirect-uri")


def _fetches(world: Any) -> int:
    return len([each for each in world.server.requests if each.url.endswith("/jwks")])


def test_a_rotated_key_is_fetched_and_forged_names_are_not(world: Any) -> None:
    world.finish(world.land(JARM))
    assert _fetches(world) == 1
    world.now_s += 100
    key = ec.generate_private_key(ec.SECP256R1())
    world.server_signer = world.server._signer = LocalSigner.from_key(key, kid="bank-2")
    assert world.finish(world.land(JARM)).code
    assert _fetches(world) == 2
    for name in ("forged-1", "forged-2", "forged-3"):
        landed = world.land(JARM)
        token = parameters_of(landed)["response"]
        forged = changed_token(token, world.server_signer, header={"kid": name})
        refused(world, changed_url(landed, response=forged), "jwks-kid")
    assert _fetches(world) == 2


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (Response(500), TransportError),
        (Response(404), TransportError),
        (Response(200, (), b"{}"), ProtocolViolation),
        (Response(200, (), b"\xff"), ProtocolViolation),
    ],
)
def test_keys_that_cannot_be_fetched_are_not_asked_for_at_once_again(
    world: Any, broken: Response, kind: type[OpenBankingError]
) -> None:
    def change(request: Request, response: Response) -> Response:
        return broken if request.url.endswith("/jwks") else response

    for expected in (kind, TransportError):
        callback = Callback.from_url(world.land(JARM))
        flow = finish(world.client, callback, store=world.store, user_agent="session-1")
        with pytest.raises(expected):
            world.run(flow, change)
    assert _fetches(world) == 1


def test_signers_and_transports_that_are_awaited_serve_the_same_flows(world: Any) -> None:
    class Awaited:
        async def send(self, request: Request) -> Response:
            await asyncio.sleep(0)
            return cast("Response", world.server.send(request))

    class Signs:
        alg, kid = "ES256", "client-1"

        async def sign(self, data: bytes) -> bytes:
            await asyncio.sleep(0)
            return cast("bytes", world.client_signer.sign(data))

    client = replace(world.client, request_signer=Signs(), authentication=PrivateKeyJWT(Signs()))

    async def conversation() -> None:
        options: dict[str, Any] = {"store": world.store, "user_agent": "b"}
        redirect = await arun(begin(client, scope="openid accounts", **options), Awaited())
        callback = Callback.from_url(world.server.visit(redirect.url))
        answer = await arun(finish(client, callback, **options), Awaited())
        tokens = await arun(exchange(client, answer), Awaited())
        assert tokens.scope == "openid accounts"

    asyncio.run(conversation())


def test_a_token_error_names_neither_code_nor_state(world: Any) -> None:
    landed = world.land(HYBRID)
    found = parameters_of(landed)
    error = refused(world, changed_url(landed, code="secret-code"), "claim-c_hash")
    assert isinstance(error, TokenInvalid)
    for secret in ("secret-code", found["state"], found["id_token"]):
        assert secret not in str(error)


def test_a_response_is_neither_pickled_nor_copied(world: Any) -> None:
    response = world.finish(world.land(JARM))
    for attempt in (pickle.dumps, copy.copy):
        with pytest.raises(ConfigError, match="cannot be pickled"):
            attempt(response)
