from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest

from op_openbanking.errors import ConfigError, TokenInvalid
from op_openbanking.fapi.client import CertificateBinding
from op_openbanking.fapi.resource import call
from op_openbanking.fapi.tokens import TokenSet, client_credentials
from op_openbanking.flow import Request
from op_openbanking.testing.authorization_server import RESOURCE


def tokens_of(world: Any) -> TokenSet:
    tokens: TokenSet = world.run(client_credentials(world.client, scope="accounts"))
    return tokens


def test_the_token_goes_into_the_header_over_its_certificate(world: Any) -> None:
    tokens = tokens_of(world)
    response = world.run(call(world.client, tokens, Request("GET", RESOURCE, idempotent=True)))
    sent = world.server.requests[-1]
    assert response.status == 200
    assert sent.header("authorization") == f"Bearer {tokens.access_token}"
    assert sent.client_certificate == tokens.bound_to
    assert sent.idempotent
    assert uuid.UUID(sent.header("x-fapi-interaction-id") or "").version == 4
    assert tokens.access_token not in sent.url
    assert tokens.access_token not in repr(sent)


def test_an_interaction_id_of_the_caller_is_kept(world: Any) -> None:
    request = Request("GET", RESOURCE, headers=(("x-fapi-interaction-id", "mine"),))
    world.run(call(world.client, tokens_of(world), request))
    assert world.server.requests[-1].header("x-fapi-interaction-id") == "mine"


def test_refuses_a_token_of_a_former_certificate(world: Any) -> None:
    tokens = tokens_of(world)
    renewed = replace(world.client, binding=CertificateBinding("D" * 43))
    with pytest.raises(TokenInvalid) as caught:
        world.run(call(renewed, tokens, Request("GET", RESOURCE)))
    assert caught.value.check == "cnf-mismatch"


def test_refuses_a_token_that_has_expired(world: Any) -> None:
    tokens = tokens_of(world)
    world.now_s += 600
    with pytest.raises(TokenInvalid) as caught:
        world.run(call(world.client, tokens, Request("GET", RESOURCE)))
    assert caught.value.check == "token-expired"


def test_refuses_a_token_anywhere_but_in_the_header(world: Any) -> None:
    tokens = tokens_of(world)
    in_query = Request("GET", f"{RESOURCE}?access_token={tokens.access_token}")
    twice = Request("GET", RESOURCE, headers=(("authorization", "Bearer x"),))
    for request in (in_query, twice):
        with pytest.raises(ConfigError, match="Authorization header alone"):
            world.run(call(world.client, tokens, request))


def test_refuses_a_token_of_another_client(world: Any) -> None:
    other = replace(world.client, client_id="client-2")
    with pytest.raises(ConfigError, match="another client"):
        world.run(call(other, tokens_of(world), Request("GET", RESOURCE)))


@pytest.mark.parametrize("asks", [False, True])
def test_a_dpop_token_travels_with_a_proof(make_world: Any, asks: bool) -> None:
    world = make_world(fapi2=True, dpop=True, asks_for_dpop_nonce=asks)
    tokens = tokens_of(world)
    world.client.binding._nonces.clear()
    response = world.run(call(world.client, tokens, Request("GET", f"{RESOURCE}?page=2")))
    assert response.status == 200
    sent = world.server.requests[-1]
    assert sent.header("authorization") == f"DPoP {tokens.access_token}"


def test_the_server_refuses_a_stolen_token(world: Any) -> None:
    tokens = tokens_of(world)
    headers = (("authorization", f"Bearer {tokens.access_token}"),)
    assert world.server.send(Request("GET", RESOURCE, headers=headers)).status == 401


@pytest.mark.parametrize("dpop", [False, True])
def test_a_token_never_goes_over_plain_http(make_world: Any, dpop: bool) -> None:
    world = make_world(fapi2=dpop, dpop=dpop)
    with pytest.raises(ConfigError, match="https alone"):
        world.run(call(world.client, tokens_of(world), Request("GET", "http://localhost:9/x")))


def test_a_certificate_is_never_asked_for_over_plain_http() -> None:
    with pytest.raises(ConfigError, match="https alone"):
        Request("GET", "http://localhost:9/x", needs_client_certificate=True)


def test_refuses_a_token_in_disguise(world: Any) -> None:
    tokens = tokens_of(world)
    coded = "".join(f"%{ord(letter):02x}" for letter in tokens.access_token)
    media = (("content-type", "application/x-www-form-urlencoded"),)
    body = f"access_token={coded}".encode()
    for request in (
        Request("GET", f"{RESOURCE}?access_token={coded}"),
        Request("POST", RESOURCE, headers=media, body=body),
    ):
        with pytest.raises(ConfigError, match="Authorization header alone"):
            world.run(call(world.client, tokens, request))
