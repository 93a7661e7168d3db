from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from op_openbanking.errors import (
    BankError,
    ConsentRequired,
    TokenInvalid,
)
from op_openbanking.fapi.authorization import begin, finish
from op_openbanking.fapi.binding import Evidence
from op_openbanking.fapi.callback import Callback
from op_openbanking.fapi.client import CertificateBinding
from op_openbanking.fapi.fapi1_advanced import FAPI1_ADVANCED
from op_openbanking.fapi.fapi2_security import FAPI2_SECURITY
from op_openbanking.fapi.profile import AnswerForm, AuthMethod, SenderConstraint
from op_openbanking.fapi.registration import (
    client_metadata,
    delete_registration,
    read_registration,
    register,
    update_registration,
)
from op_openbanking.fapi.resource import call
from op_openbanking.fapi.token_status import introspect, revoke
from op_openbanking.fapi.tokens import client_credentials, exchange, refresh
from op_openbanking.flow import Flow, Request, arun, run
from op_openbanking.http.aiohttp import AiohttpTransport
from op_openbanking.http.httpx import AsyncHTTPXTransport, HTTPXTransport
from op_openbanking.http.httpx2 import AsyncHTTPX2Transport, HTTPX2Transport
from op_openbanking.http.tls import ClientCertificate
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.signing.local import LocalSigner
from op_openbanking.testing.middle import (
    parameters_of,
)

pytestmark = [pytest.mark.interop, pytest.mark.slow]

Drive = Callable[[Flow[Any]], Any]
REDIRECT = "https://tpp.example/callback"
BROWSER = "session-1"
SUBJECT = r"CN=tpp,O=Example\, Ltd,C=DE"
SCOPE = "openid accounts payments"


def _blocking(kind: Any) -> Callable[[Any], Drive]:
    def driver(world: Any) -> Drive:
        def drive(flow: Flow[Any]) -> Any:
            with kind(world.settings) as transport:
                return run(flow, transport)

        return drive

    return driver


def _awaited(kind: Any) -> Callable[[Any], Drive]:
    def driver(world: Any) -> Drive:
        async def exchange_all(flow: Flow[Any]) -> Any:
            async with kind(world.settings) as transport:
                return await arun(flow, transport)

        return lambda flow: asyncio.run(exchange_all(flow))

    return driver


DRIVERS = {
    "httpx2": _blocking(HTTPX2Transport),
    "httpx2-async": _awaited(AsyncHTTPX2Transport),
    "httpx": _blocking(HTTPXTransport),
    "httpx-async": _awaited(AsyncHTTPXTransport),
    "aiohttp": _awaited(AiohttpTransport),
}


@pytest.mark.parametrize("answer", [AnswerForm.HYBRID, AnswerForm.JARM])
@pytest.mark.parametrize("driver", sorted(DRIVERS))
def test_the_whole_conversation_succeeds(world: Any, driver: str, answer: AnswerForm) -> None:
    drive = DRIVERS[driver](world)
    client, store = world.client, world.store
    redirect = drive(
        begin(
            client,
            scope=SCOPE,
            store=store,
            user_agent=BROWSER,
            answer=answer,
            acr_values=("urn:openbanking:psd2:sca",),
            claims={
                "id_token": {"openbanking_intent_id": {"value": "intent-1", "essential": True}}
            },
            expected_claims={"openbanking_intent_id": "intent-1"},
        )
    )
    assert set(parameters_of(redirect.url)) == {"client_id", "request_uri"}
    landed = world.visit(redirect.url)
    expected = {"code", "id_token", "state"} if answer is AnswerForm.HYBRID else {"response"}
    assert set(parameters_of(landed)) >= expected
    response = drive(finish(client, Callback.from_url(landed), store=store, user_agent=BROWSER))
    tokens = drive(exchange(client, response))
    assert tokens.evidence is Evidence.INTROSPECTION
    assert tokens.id_token is not None
    assert tokens.id_token.subject == "user-1"
    assert tokens.bound_to == client.client_certificate
    url = f"{world.provider.issuer}/resource"
    first = drive(call(client, tokens, Request("GET", url)))
    assert first.status == 200
    assert json.loads(first.body) == {"account": "user-1", "client": client.client_id}
    fresh = drive(refresh(client, tokens))
    assert fresh.access_token != tokens.access_token
    assert drive(call(client, fresh, Request("GET", url))).status == 200
    drive(revoke(client, fresh.refresh_token or ""))
    assert not drive(introspect(client, fresh.access_token)).active
    assert drive(call(client, fresh, Request("GET", url))).status == 401
    with pytest.raises(ConsentRequired, match="invalid_grant"):
        drive(refresh(client, fresh))


@pytest.mark.parametrize("auth", list(AuthMethod))
@pytest.mark.parametrize("algorithm", ["PS256", "ES256"])
def test_every_client_authentication_and_algorithm_works(
    enrol: Any, auth: AuthMethod, algorithm: str
) -> None:
    world = enrol(auth=auth, algorithm=algorithm)
    own = world.run(client_credentials(world.client, scope="accounts"))
    assert own.scope == "accounts"
    answer = AnswerForm.HYBRID if algorithm == "PS256" else AnswerForm.JARM
    assert world.tokens(answer).scope == SCOPE


def test_a_request_object_goes_through_the_browser_where_it_is_not_pushed(world: Any) -> None:
    landed = world.begin(AnswerForm.HYBRID, pushes=False)
    assert world.finish(landed).id_token is not None


@pytest.mark.parametrize("constraint", list(SenderConstraint))
def test_fapi_2_completes_with_both_sender_constraints(
    enrol: Any, provider: Any, constraint: SenderConstraint
) -> None:
    world = enrol(profile=FAPI2_SECURITY, constraint=constraint)
    landed = world.begin(AnswerForm.CODE)
    assert parameters_of(landed)["iss"] == provider.issuer
    tokens = world.run(exchange(world.client, world.finish(landed)))
    assert tokens.evidence is Evidence.INTROSPECTION
    fresh = world.run(refresh(world.client, tokens))
    assert fresh.bound_to == world.client.binding.thumbprint
    # The provider's own resource: it demands the certificate, or a proof with its nonce and ath.
    response = world.run(call(world.client, fresh, Request("GET", f"{provider.issuer}/me")))
    assert json.loads(response.body)["sub"] == "user-1"


def test_a_registration_is_read_changed_and_deleted(enrol: Any, provider: Any) -> None:
    world = enrol()
    server, thumbprint = world.client.server, world.client.client_certificate
    metadata = client_metadata(
        FAPI1_ADVANCED,
        redirect_uris=(REDIRECT,),
        auth_method=AuthMethod.TLS_CLIENT_AUTH,
        scope=SCOPE,
        subject_dn=SUBJECT,
        jwks=JWKSet.of([LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1())).jwk]),
    )
    made = world.run(
        register(
            server,
            metadata,
            clock=time.time,
            entropy=secrets.token_bytes,
            initial_access_token=provider.initial_access_token,
            client_certificate=thumbprint,
        )
    )
    uri, token = made.management_uri or "", made.management_token or ""
    assert world.run(read_registration(uri, token=token)).client_id == made.client_id
    renamed = {**metadata, "client_id": made.client_id, "client_name": "Renamed"}
    after = world.run(
        update_registration(uri, renamed, token=token, clock=time.time, entropy=secrets.token_bytes)
    )
    assert after.members["client_name"] == "Renamed"
    world.run(delete_registration(uri, token=token))
    with pytest.raises(BankError, match="401"):
        world.run(read_registration(uri, token=token))


def test_registration_without_the_initial_token_is_refused(world: Any) -> None:
    metadata = client_metadata(
        FAPI1_ADVANCED,
        redirect_uris=(REDIRECT,),
        auth_method=AuthMethod.TLS_CLIENT_AUTH,
        scope=SCOPE,
        subject_dn=SUBJECT,
    )
    with pytest.raises(BankError):
        world.run(
            register(world.client.server, metadata, clock=time.time, entropy=secrets.token_bytes)
        )


def test_a_user_who_says_no_is_told_apart(world: Any) -> None:
    for answer in (AnswerForm.JARM, AnswerForm.HYBRID):
        landed = world.begin(answer, parameters={"login_hint": "refuse"})
        with pytest.raises(ConsentRequired, match="access_denied"):
            world.finish(landed)


def test_a_stolen_token_is_worthless_with_another_certificate(world: Any) -> None:
    tokens = world.tokens()
    leaf = world.provider.certificate("thief")
    thief = ClientCertificate.from_pem(leaf.pem, leaf.key_pem)
    other = replace(world.client, binding=CertificateBinding(thief.thumbprint))
    request = Request("GET", f"{world.provider.issuer}/resource")
    with pytest.raises(TokenInvalid) as caught:
        world.run(call(other, tokens, request))
    assert caught.value.check == "cnf-mismatch"
    bare = replace(
        request,
        headers=(("authorization", f"Bearer {tokens.access_token}"),),
        client_certificate=thief.thumbprint,
    )
    with HTTPX2Transport(replace(world.settings, certificate=thief)) as transport:
        assert transport.send(bare).status == 401


def test_a_jwt_access_token_is_checked_without_introspection(world: Any) -> None:
    resource = {"resource": "https://api.bank.example"}
    answer = world.finish(world.begin(AnswerForm.JARM, parameters=resource))
    tokens = world.run(exchange(world.client, answer, parameters=resource))
    assert tokens.evidence is Evidence.TOKEN
