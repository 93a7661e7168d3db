from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from op_openbanking.errors import (
    BankError,
    ConfigError,
    ConsentRequired,
    OpenBankingError,
    ProtocolViolation,
    RateLimited,
    TokenInvalid,
    TransportError,
)
from op_openbanking.fapi.binding import Evidence
from op_openbanking.fapi.profile import AnswerForm, AuthMethod
from op_openbanking.fapi.token_status import introspect, revoke
from op_openbanking.fapi.tokens import TokenSet, client_credentials, exchange, refresh
from op_openbanking.flow import Request, Response
from op_openbanking.testing.middle import ABSENT, changed_json

HYBRID, JARM = AnswerForm.HYBRID, AnswerForm.JARM
Change = Callable[[Request, Response], Response]


def tokens_of(
    world: Any, answer: AnswerForm | None = HYBRID, change: Change | None = None
) -> TokenSet:
    response = world.finish(world.land(answer))
    tokens: TokenSet = world.run(exchange(world.client, response), change)
    return tokens


def at(path: str, **changes: object) -> Change:
    def change(request: Request, response: Response) -> Response:
        return changed_json(response, **changes) if request.url.endswith(path) else response

    return change


def refused(check: str, attempt: Callable[[], object]) -> None:
    with pytest.raises(TokenInvalid) as caught:
        attempt()
    assert caught.value.check == check
    assert caught.value.section


@pytest.mark.parametrize("auth", list(AuthMethod))
def test_a_code_becomes_tokens_over_the_mutual_tls_alias(make_world: Any, auth: AuthMethod) -> None:
    world = make_world(auth=auth)
    tokens = tokens_of(world)
    asked = next(each for each in world.server.requests if each.url.endswith("/token"))
    assert asked.url == "https://mtls.bank.example/token"
    assert asked.client_certificate == world.client.client_certificate
    assert not asked.idempotent
    assert tokens.evidence is Evidence.INTROSPECTION
    assert tokens.expires_at_s == world.now_s + 600
    assert tokens.id_token is not None
    assert tokens.id_token.subject == "user-1"


def test_a_jwt_token_is_checked_by_its_own_claim(make_world: Any) -> None:
    world = make_world(jwt_access_tokens=True)
    assert tokens_of(world).evidence is Evidence.TOKEN
    assert not any(each.url.endswith("/introspect") for each in world.server.requests)


def test_the_metadata_is_believed_where_introspection_is_not_wanted(world: Any) -> None:
    world.client = replace(world.client, introspects_opaque=False)
    assert tokens_of(world).evidence is Evidence.METADATA


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"token_type": "DPoP"}, "token-type"),
        ({"token_type": "mac"}, "token-type"),
        ({"scope": "openid accounts admin"}, "scope"),
        ({"id_token": ABSENT}, "id-token-missing"),
    ],
)
def test_refuses_a_token_answer_with_one_member_wrong(
    world: Any, change: dict[str, object], check: str
) -> None:
    refused(check, lambda: tokens_of(world, change=at("/token", **change)))


@pytest.mark.parametrize(
    "change",
    [
        {"access_token": ABSENT},
        {"access_token": ""},
        {"access_token": 1},
        {"access_token": "a b"},
        {"access_token": "ü"},
        {"access_token": "a\n"},
        {"access_token": "x" * 40_000},
        {"token_type": ABSENT},
        {"token_type": None},
        {"expires_in": -1},
        {"expires_in": "soon"},
        {"expires_in": True},
        {"refresh_token": 1},
        {"scope": 1},
        {"id_token": 1},
    ],
)
def test_a_token_answer_of_the_wrong_shape_is_the_peers_fault(
    world: Any, change: dict[str, object]
) -> None:
    with pytest.raises(ProtocolViolation):
        tokens_of(world, change=at("/token", **change))


def test_expires_in_may_come_as_text(world: Any) -> None:
    assert tokens_of(world, change=at("/token", expires_in="60")).expires_at_s == world.now_s + 60


@pytest.mark.parametrize(
    ("claims", "check"),
    [
        ({"iss": "https://other.example"}, "claim-iss"),
        ({"aud": "other"}, "claim-aud"),
        ({"exp": 1}, "claim-exp"),
        ({"nonce": "another"}, "claim-nonce"),
        ({"nonce": ABSENT}, "claim-nonce"),
        ({"sub": "user-2"}, "claim-sub"),
        ({"sub": ABSENT}, "claim-sub"),
        ({"at_hash": "77QmUPtjPfzWtF2AnpK9RQ"}, "claim-at_hash"),
        ({"azp": "other"}, "claim-azp"),
    ],
)
def test_refuses_an_id_token_with_one_claim_wrong(
    world: Any, claims: dict[str, object], check: str
) -> None:
    def change(request: Request, response: Response) -> Response:
        if not request.url.endswith("/token"):
            return response
        token = json.loads(response.body)["id_token"]
        return changed_json(response, id_token=world.forged(token, **claims))

    refused(check, lambda: tokens_of(world, change=change))


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"cnf": ABSENT}, "cnf"),
        ({"cnf": None}, "cnf"),
        ({"cnf": {"jkt": "C" * 43}}, "cnf"),
        ({"cnf": {"x5t#S256": 1}}, "cnf"),
        ({"cnf": {"x5t#S256": "D" * 43}}, "cnf-mismatch"),
        ({"active": False}, "inactive"),
        ({"iss": "https://other.example"}, "introspection"),
        ({"client_id": "other"}, "introspection"),
    ],
)
def test_refuses_a_token_that_is_not_bound_to_us(
    world: Any, change: dict[str, object], check: str
) -> None:
    refused(check, lambda: tokens_of(world, change=at("/introspect", **change)))


@pytest.mark.parametrize(
    ("cnf", "check"), [(ABSENT, "cnf"), ({"x5t#S256": "D" * 43}, "cnf-mismatch")]
)
def test_refuses_a_jwt_token_that_is_not_bound_to_us(
    make_world: Any, cnf: object, check: str
) -> None:
    world = make_world(jwt_access_tokens=True)

    def change(request: Request, response: Response) -> Response:
        if not request.url.endswith("/token"):
            return response
        members = json.loads(response.body)
        token = world.forged(members["access_token"], cnf=cnf)
        id_token = world.forged(members["id_token"], at_hash=ABSENT)
        return changed_json(response, access_token=token, id_token=id_token)

    refused(check, lambda: tokens_of(world, change=change))


@pytest.mark.parametrize("text", ["a.b.c", "a.b.c.d.e"])
def test_a_token_that_only_looks_like_a_jwt_is_opaque(world: Any, text: str) -> None:
    def change(request: Request, response: Response) -> Response:
        if request.url.endswith("/introspect"):
            cnf = {"x5t#S256": world.client.binding.thumbprint}
            return changed_json(response, active=True, cnf=cnf)
        if not request.url.endswith("/token"):
            return response
        id_token = world.forged(json.loads(response.body)["id_token"], at_hash=ABSENT)
        return changed_json(response, access_token=text, id_token=id_token)

    assert tokens_of(world, change=change).evidence is Evidence.INTROSPECTION


@pytest.mark.parametrize(
    ("response", "kind", "retryable"),
    [
        (Response(400, (), b'{"error":"invalid_grant"}'), ConsentRequired, False),
        (Response(400, (), b'{"error":"invalid_request"}'), BankError, False),
        (Response(401, (), b""), BankError, False),
        (Response(403, (), b"<html>"), BankError, False),
        (Response(429, (("retry-after", "7"),), b""), RateLimited, True),
        (Response(503, (("retry-after", "7"),), b"down"), TransportError, False),
        (Response(302, (("location", "/x"),), b""), BankError, False),
        (Response(200, (("content-type", "text/html"),), b"<html>"), ProtocolViolation, False),
        (Response(200, (("content-type", "application/json"),), b"[1]"), ProtocolViolation, False),
        (Response(200, (("content-type", "application/json"),), b"\xff"), ProtocolViolation, False),
        (
            Response(200, (("content-type", "application/json"),), b"[" * 100_000),
            ProtocolViolation,
            False,
        ),
    ],
)
def test_a_bad_answer_gets_a_typed_error(
    world: Any, response: Response, kind: type[OpenBankingError], retryable: bool
) -> None:
    def change(request: Request, good: Response) -> Response:
        return response if request.url.endswith("/token") else good

    with pytest.raises(OpenBankingError) as caught:
        tokens_of(world, change=change)
    assert type(caught.value) is kind
    assert caught.value.retryable is retryable
    if isinstance(caught.value, RateLimited):
        assert caught.value.retry_after_s == 7


def test_a_refresh_rotates_and_keeps_the_id_token(world: Any) -> None:
    tokens = tokens_of(world)
    fresh: TokenSet = world.run(refresh(world.client, tokens))
    assert fresh.refresh_token not in (None, tokens.refresh_token)
    assert fresh.id_token is not None
    with pytest.raises(ConsentRequired):
        world.run(refresh(world.client, tokens))


def test_a_refresh_without_rotation_keeps_the_refresh_token(world: Any) -> None:
    tokens = tokens_of(world)
    fresh = world.run(refresh(world.client, tokens), at("/token", refresh_token=ABSENT))
    assert fresh.refresh_token == tokens.refresh_token


def test_a_refresh_may_not_widen_the_scope_or_change_the_person(world: Any) -> None:
    tokens = tokens_of(world)
    refused(
        "scope",
        lambda: world.run(refresh(world.client, tokens), at("/token", scope="openid x")),
    )
    other = tokens_of(world)

    def change(request: Request, response: Response) -> Response:
        if not request.url.endswith("/token"):
            return response
        token = json.loads(response.body)["id_token"]
        return changed_json(response, id_token=world.forged(token, sub="user-2"))

    refused("claim-sub", lambda: world.run(refresh(world.client, other), change))


def test_client_credentials_give_no_refresh_token(world: Any) -> None:
    tokens = world.run(client_credentials(world.client, scope="accounts"))
    assert tokens.refresh_token is None
    with pytest.raises(ConfigError, match="no refresh token"):
        world.run(refresh(world.client, tokens))


def test_a_spent_code_is_refused(world: Any) -> None:
    response = world.finish(world.land(JARM))
    world.run(exchange(world.client, response))
    with pytest.raises(ConsentRequired, match="invalid_grant"):
        world.run(exchange(world.client, response))


def test_a_token_set_cannot_be_constructed_by_hand(world: Any) -> None:
    tokens = tokens_of(world)
    with pytest.raises((ConfigError, ValueError)):
        replace(tokens, bound_to="D" * 43)
    with pytest.raises(ConfigError, match=r"fapi\.tokens alone"):
        TokenSet("a", None, "s", None, "i", "c", "b", Evidence.TOKEN)


def test_a_token_set_hides_its_tokens_and_survives_a_store(world: Any) -> None:
    tokens = tokens_of(world)
    assert tokens.access_token not in repr(tokens)
    assert str(tokens.refresh_token) not in repr(tokens)
    again = TokenSet.from_bytes(tokens.to_bytes())
    assert again.access_token == tokens.access_token
    assert again.id_token is not None
    assert again.id_token.subject == "user-1"
    assert again.bound_to == tokens.bound_to
    for octets in (b"", b"[]", b"{}", b"\xff", b'{"access_token":1}'):
        with pytest.raises(ConfigError, match="not readable"):
            TokenSet.from_bytes(octets)


def test_tokens_of_another_client_are_refused(world: Any) -> None:
    tokens = tokens_of(world)
    other = replace(world.client, client_id="client-2")
    with pytest.raises(ConfigError, match="another client"):
        world.run(refresh(other, tokens))
    with pytest.raises(ConfigError, match="another client"):
        world.run(exchange(other, world.finish(world.land(JARM))))


def test_a_revoked_token_is_inactive(world: Any) -> None:
    tokens = tokens_of(world)
    assert world.run(introspect(world.client, tokens.access_token)).active
    world.run(revoke(world.client, str(tokens.refresh_token)))
    assert not world.run(introspect(world.client, tokens.access_token)).active


def test_a_refused_revocation_is_an_error(world: Any) -> None:
    bad = Response(503, (("retry-after", "5"),), b"")
    with pytest.raises(TransportError) as caught:
        world.run(revoke(world.client, "token"), lambda *_: bad)
    assert caught.value.retry_after_s == 5


def test_a_part_of_the_scope_may_be_refreshed(world: Any) -> None:
    tokens = tokens_of(world)
    flow = refresh(world.client, tokens, scope="openid")
    assert world.run(flow, at("/token", scope="openid")).scope == "openid"
    with pytest.raises(ConfigError, match="another client"):
        world.run(refresh(replace(world.client, client_id="x"), tokens))


def test_an_introspection_without_active_is_the_peers_fault(world: Any) -> None:
    tokens = tokens_of(world)
    with pytest.raises(ProtocolViolation, match="active"):
        world.run(introspect(world.client, tokens.access_token), at("/introspect", active=ABSENT))


def test_parameters_of_the_flow_cannot_be_replaced(world: Any) -> None:
    with pytest.raises(ConfigError, match="set by this flow"):
        world.run(
            client_credentials(world.client, scope="a", parameters={"grant_type": "password"})
        )


@pytest.mark.parametrize("asks", [False, True])
def test_dpop_binds_by_a_key_and_answers_a_nonce(make_world: Any, asks: bool) -> None:
    world = make_world(fapi2=True, dpop=True, asks_for_dpop_nonce=asks)
    tokens = tokens_of(world, None)
    assert tokens.bound_to == world.client.binding.thumbprint
    pushes = [each for each in world.server.requests if each.url.endswith("/par")]
    assert all(each.header("dpop") for each in pushes)


def test_a_dpop_client_refuses_a_bearer_token(make_world: Any) -> None:
    world = make_world(fapi2=True, dpop=True)
    change = at("/token", token_type="Bearer")
    refused("token-type", lambda: tokens_of(world, None, change))
    other = make_world(fapi2=True, dpop=True)
    change = at("/introspect", cnf={"jkt": "D" * 43})
    refused("cnf-mismatch", lambda: tokens_of(other, None, change))


def jwt_of(payload: bytes, header: bytes = b'{"alg":"PS256"}') -> str:
    parts = (base64.urlsafe_b64encode(part).rstrip(b"=") for part in (header, payload, b"x"))
    return b".".join(parts).decode("ascii")


@pytest.mark.parametrize(
    "token",
    [
        jwt_of(b'{"cnf":{"x5t#S256":"A"},"cnf":{"x5t#S256":"B"}}'),
        jwt_of(b'{"cnf":{"x5t#S256":"A"},"a":NaN}'),
        jwt_of(b"[]"),
    ],
)
def test_a_jwt_token_whose_claims_cannot_be_read_is_not_bound(world: Any, token: str) -> None:
    world.client = replace(world.client, introspects_opaque=False)
    response = world.finish(world.land(JARM, scope="accounts"))
    refused(
        "cnf",
        lambda: world.run(exchange(world.client, response), at("/token", access_token=token)),
    )


def test_a_jwt_token_is_judged_whatever_its_kid_is(world: Any) -> None:
    token = jwt_of(b'{"cnf":{"x5t#S256":"%s"}}' % (b"A" * 43), b'{"alg":"PS256","kid":1}')
    response = world.finish(world.land(JARM, scope="accounts"))
    refused(
        "cnf-mismatch",
        lambda: world.run(exchange(world.client, response), at("/token", access_token=token)),
    )


@pytest.mark.parametrize("expires_in", [10**10, 10**400, "9" * 11])
def test_an_endless_token_is_a_violation(world: Any, expires_in: object) -> None:
    with pytest.raises(ProtocolViolation, match="expires_in"):
        tokens_of(world, JARM, at("/token", expires_in=expires_in))


@pytest.mark.parametrize("token", ["\u00e9", "a\n", "a" * 40_000])
def test_a_refresh_token_of_odd_letters_is_a_violation(world: Any, token: str) -> None:
    with pytest.raises(ProtocolViolation, match="refresh_token"):
        tokens_of(world, JARM, at("/token", refresh_token=token))


def test_an_old_id_token_is_not_that_of_this_exchange(world: Any) -> None:
    def change(request: Request, response: Response) -> Response:
        if not request.url.endswith("/token"):
            return response
        id_token = json.loads(response.body)["id_token"]
        return changed_json(response, id_token=world.forged(id_token, iat=world.now_s - 10**8))

    refused("claim-iat", lambda: tokens_of(world, JARM, change))
