from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from op_openbanking.errors import (
    ConfigError,
    KeyNotFound,
    SecurityError,
    SignatureInvalid,
    StateMismatch,
    TokenInvalid,
)
from op_openbanking.fapi.metadata import discover
from op_openbanking.fapi.profile import AnswerForm
from op_openbanking.fapi.tokens import exchange
from op_openbanking.flow import Request, Response
from op_openbanking.testing.middle import (
    ABSENT,
    changed_json,
    changed_token,
    changed_url,
    parameters_of,
)

pytestmark = [pytest.mark.interop, pytest.mark.slow]

SCOPE = "openid accounts payments"


def _unsigned(token: str) -> str:
    _, payload, signature = token.split(".")
    header = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    return f"{header}.{payload}.{signature}"


def _flipped(token: str) -> str:
    header, payload, signature = token.split(".")
    return f"{header}.{payload}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


Forge = Callable[[Any, str], str]


def _claim(**claims: object) -> Forge:
    return lambda world, token: changed_token(token, world.provider.keys["PS256"], claims=claims)


FORGERIES: dict[str, tuple[Forge, type[SecurityError], str]] = {
    "iss": (_claim(iss="https://other.example"), TokenInvalid, "claim-iss"),
    "aud": (_claim(aud="other-client"), TokenInvalid, "claim-aud"),
    "exp": (_claim(exp=int(time.time()) - 60), TokenInvalid, "claim-exp"),
    "no-exp": (_claim(exp=ABSENT), TokenInvalid, "claim-exp"),
    "alg": (
        lambda world, token: changed_token(token, world.provider.keys["RS256"]),
        SignatureInvalid,
        "jws-alg",
    ),
    "alg-none": (lambda world, token: _unsigned(token), SignatureInvalid, "jws-alg"),
    "kid": (
        lambda world, token: changed_token(
            token, world.provider.keys["PS256"], header={"kid": "nobody"}
        ),
        KeyNotFound,
        "jwks-kid",
    ),
    "signature": (lambda world, token: _flipped(token), SignatureInvalid, "jws-signature"),
}
ID_TOKEN_FORGERIES = FORGERIES | {
    "nonce": (_claim(nonce="another"), TokenInvalid, "claim-nonce"),
    "no-nonce": (_claim(nonce=ABSENT), TokenInvalid, "claim-nonce"),
    "azp": (_claim(azp="other-client"), TokenInvalid, "claim-azp"),
}
HYBRID_FORGERIES = ID_TOKEN_FORGERIES | {
    "s_hash": (_claim(s_hash="bOhtX8F73IMjSPeVAqxyTQ"), TokenInvalid, "claim-s_hash"),
    "no-s_hash": (_claim(s_hash=ABSENT), TokenInvalid, "claim-s_hash"),
    "c_hash": (_claim(c_hash="LDktKdoQak3Pk0cnXxCltA"), TokenInvalid, "claim-c_hash"),
}
BACK_FORGERIES = ID_TOKEN_FORGERIES | {
    "sub": (_claim(sub="user-2"), TokenInvalid, "claim-sub"),
    "at_hash": (_claim(at_hash="77QmUPtjPfzWtF2AnpK9RQ"), TokenInvalid, "claim-at_hash"),
}


def _refused(error: type[SecurityError], check: str, attempt: Callable[[], object]) -> None:
    with pytest.raises(error) as caught:
        attempt()
    assert caught.value.check == check
    assert caught.value.section


@pytest.mark.parametrize("forgery", sorted(HYBRID_FORGERIES))
def test_refuses_a_hybrid_answer_with_one_thing_changed(world: Any, forgery: str) -> None:
    forge, error, check = HYBRID_FORGERIES[forgery]
    landed = world.begin(AnswerForm.HYBRID)
    token = parameters_of(landed)["id_token"]
    forged = changed_url(landed, id_token=forge(world, token))
    _refused(error, check, lambda: world.finish(forged))


@pytest.mark.parametrize(
    ("change", "error", "check"),
    [
        ({"code": "another-code"}, TokenInvalid, "claim-c_hash"),
        ({"state": "another-state"}, StateMismatch, "state"),
        ({"state": ABSENT}, StateMismatch, "state"),
        ({"id_token": ABSENT}, TokenInvalid, "answer-form"),
        ({"response": "a.b.c"}, SignatureInvalid, "jws-form"),
        ({"access_token": "token"}, TokenInvalid, "answer-form"),
        ({"iss": "https://other.example"}, StateMismatch, "iss"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_refuses_a_hybrid_answer_with_a_parameter_changed(
    world: Any, change: dict[str, object], error: type[SecurityError], check: str
) -> None:
    landed = changed_url(world.begin(AnswerForm.HYBRID), **change)
    _refused(error, check, lambda: world.finish(landed))


def test_refuses_a_hybrid_answer_in_the_query(world: Any) -> None:
    landed = world.begin(AnswerForm.HYBRID).replace("#", "?")
    _refused(TokenInvalid, "answer-form", lambda: world.finish(landed))


@pytest.mark.parametrize("forgery", sorted(FORGERIES))
def test_refuses_a_jarm_answer_with_one_thing_changed(world: Any, forgery: str) -> None:
    forge, error, check = FORGERIES[forgery]
    landed = world.begin(AnswerForm.JARM)
    forged = changed_url(landed, response=forge(world, parameters_of(landed)["response"]))
    _refused(error, check, lambda: world.finish(forged))


@pytest.mark.parametrize("name", ["code", "state", "error", "id_token", "iss"])
def test_refuses_anything_beside_a_jarm_answer(world: Any, name: str) -> None:
    landed = world.begin(AnswerForm.JARM)
    response = parameters_of(landed)["response"]
    state = next(reversed(world.store._pending))
    value = state if name == "state" else "x"
    forged = changed_url(landed, response=response, **{name: value})
    _refused(TokenInvalid, "answer-unsigned", lambda: world.finish(forged))


def test_refuses_a_jarm_answer_of_another_state(world: Any) -> None:
    landed = world.begin(AnswerForm.JARM)
    forged = changed_url(
        landed, response=_claim(state="another")(world, parameters_of(landed)["response"])
    )
    _refused(StateMismatch, "state", lambda: world.finish(forged))


def test_refuses_an_answer_a_second_time(world: Any) -> None:
    landed = world.begin(AnswerForm.JARM)
    world.finish(landed)
    _refused(StateMismatch, "state", lambda: world.finish(landed))


def test_refuses_a_plain_code_instead_of_a_jarm_answer(world: Any) -> None:
    landed = world.begin(AnswerForm.JARM)
    state = next(reversed(world.store._pending))
    forged = changed_url(landed, response=ABSENT, code="a-code", state=state)
    _refused(TokenInvalid, "answer-unsigned", lambda: world.finish(forged))


@pytest.mark.parametrize("forgery", sorted(BACK_FORGERIES))
def test_refuses_a_token_answer_with_one_claim_changed(world: Any, forgery: str) -> None:
    forge, error, check = BACK_FORGERIES[forgery]
    answer = world.finish(world.begin(AnswerForm.HYBRID))

    def change(request: Request, response: Response) -> Response:
        if not request.url.endswith("/token"):
            return response
        return changed_json(response, id_token=forge(world, _member(response, "id_token")))

    _refused(error, check, lambda: world.run(exchange(world.client, answer), change))


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"token_type": "DPoP"}, "token-type"),
        ({"scope": f"{SCOPE} admin"}, "scope"),
        ({"id_token": ABSENT}, "id-token-missing"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_refuses_a_token_answer_with_a_member_changed(
    world: Any, change: dict[str, object], check: str
) -> None:
    answer = world.finish(world.begin(AnswerForm.JARM))

    def middle(request: Request, response: Response) -> Response:
        return changed_json(response, **change) if request.url.endswith("/token") else response

    _refused(TokenInvalid, check, lambda: world.run(exchange(world.client, answer), middle))


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"cnf": {"x5t#S256": "A" * 43}}, "cnf-mismatch"),
        ({"cnf": ABSENT}, "cnf"),
        ({"active": False}, "inactive"),
    ],
    ids=["other-certificate", "unbound", "inactive"],
)
def test_refuses_a_token_that_is_not_bound_to_us(
    world: Any, change: dict[str, object], check: str
) -> None:
    answer = world.finish(world.begin(AnswerForm.JARM))

    def middle(request: Request, response: Response) -> Response:
        asked = request.url.endswith("/token/introspection")
        return changed_json(response, **change) if asked else response

    _refused(TokenInvalid, check, lambda: world.run(exchange(world.client, answer), middle))


def test_refuses_a_jwt_token_that_is_bound_to_another_certificate(world: Any) -> None:
    resource = {"resource": "https://api.bank.example"}
    answer = world.finish(world.begin(AnswerForm.JARM, parameters=resource))

    def middle(request: Request, response: Response) -> Response:
        if not request.url.endswith("/token"):
            return response
        token = _claim(cnf={"x5t#S256": "A" * 43})(world, _member(response, "access_token"))
        id_token = _claim(at_hash=ABSENT)(world, _member(response, "id_token"))
        return changed_json(response, access_token=token, id_token=id_token)

    flow = exchange(world.client, answer, parameters=resource)
    _refused(TokenInvalid, "cnf-mismatch", lambda: world.run(flow, middle))


def test_refuses_metadata_of_another_issuer(world: Any) -> None:
    def middle(request: Request, response: Response) -> Response:
        return changed_json(response, issuer="https://other.example")

    _refused(TokenInvalid, "issuer", lambda: world.run(discover(world.provider.issuer), middle))


def test_refuses_a_server_that_does_not_bind_tokens(world: Any) -> None:
    server = replace(world.client.server, binds_tokens=False)
    with pytest.raises(ConfigError, match="does not say that it binds"):
        replace(world.client, server=server)


def _member(response: Response, name: str) -> str:
    value: str = json.loads(response.body)[name]
    return value
