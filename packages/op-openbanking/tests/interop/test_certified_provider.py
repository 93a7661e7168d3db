from __future__ import annotations

import asyncio
import base64
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from op_openbanking.errors import (
    BankError,
    ConfigError,
    ConsentRequired,
    KeyNotFound,
    SecurityError,
    SignatureInvalid,
    StateMismatch,
    TokenInvalid,
)
from op_openbanking.fapi.authorization import AuthorizationResponse, begin, finish
from op_openbanking.fapi.binding import Evidence
from op_openbanking.fapi.callback import Callback
from op_openbanking.fapi.client import CertificateBinding, Client
from op_openbanking.fapi.client_auth import (
    ClientAuthentication,
    PrivateKeyJWT,
    SelfSignedTLSClientAuth,
    TLSClientAuth,
)
from op_openbanking.fapi.dpop import DPoPKey
from op_openbanking.fapi.fapi1_advanced import FAPI1_ADVANCED
from op_openbanking.fapi.fapi2_security import FAPI2_SECURITY
from op_openbanking.fapi.metadata import discover
from op_openbanking.fapi.pending_memory import MemoryPendingStore
from op_openbanking.fapi.profile import AnswerForm, AuthMethod, Profile, SenderConstraint
from op_openbanking.fapi.registration import (
    client_metadata,
    delete_registration,
    read_registration,
    register,
    update_registration,
)
from op_openbanking.fapi.resource import call
from op_openbanking.fapi.token_status import introspect, revoke
from op_openbanking.fapi.tokens import TokenSet, client_credentials, exchange, refresh
from op_openbanking.flow import Flow, Request, Response, arun, run
from op_openbanking.http.aiohttp import AiohttpTransport
from op_openbanking.http.httpx import AsyncHTTPXTransport, HTTPXTransport
from op_openbanking.http.httpx2 import AsyncHTTPX2Transport, HTTPX2Transport
from op_openbanking.http.settings import TransportSettings
from op_openbanking.http.tls import ClientCertificate, TrustAnchors, client_context
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.signing.local import LocalSigner
from op_openbanking.testing.middle import (
    ABSENT,
    Middle,
    changed_json,
    changed_token,
    changed_url,
    parameters_of,
)

pytestmark = [pytest.mark.interop, pytest.mark.slow]

T = TypeVar("T")
Drive = Callable[[Flow[Any]], Any]
REDIRECT = "https://tpp.example/callback"
BROWSER = "session-1"
SUBJECT = r"CN=tpp,O=Example\, Ltd,C=DE"
SCOPE = "openid accounts payments"


@dataclass(frozen=True)
class World:
    """One registered client, its keys and its way to the provider."""

    provider: Any
    client: Client
    settings: TransportSettings
    store: MemoryPendingStore

    def run(
        self, flow: Flow[T], change: Callable[[Request, Response], Response] | None = None
    ) -> T:
        with HTTPX2Transport(self.settings) as transport:
            return run(flow, transport if change is None else Middle(transport, change))

    def begin(self, answer: AnswerForm, **options: Any) -> str:
        redirect = self.run(
            begin(
                self.client,
                scope=SCOPE,
                store=self.store,
                user_agent=BROWSER,
                answer=answer,
                **options,
            )
        )
        return visit(redirect.url, self.settings.trust)

    def finish(self, landed: str, **options: Any) -> AuthorizationResponse:
        return self.run(
            finish(
                self.client,
                Callback.from_url(landed),
                store=self.store,
                user_agent=BROWSER,
            ),
            **options,
        )

    def tokens(self, answer: AnswerForm = AnswerForm.JARM, **options: Any) -> TokenSet:
        return self.run(exchange(self.client, self.finish(self.begin(answer, **options))))


def visit(url: str, trust: TrustAnchors) -> str:
    """The browser: follows redirects with cookies until it lands at the client."""
    with httpx2.Client(verify=client_context(trust), trust_env=False) as browser:
        for _ in range(10):
            answer = browser.get(url)
            assert answer.status_code in {302, 303}, answer.text
            url = str(httpx2.URL(url).join(answer.headers["location"]))
            if url.startswith(REDIRECT):
                return answer.headers["location"]
    raise AssertionError("the browser was sent around in circles")


def enrol(
    provider: Any,
    *,
    profile: Profile = FAPI1_ADVANCED,
    auth: AuthMethod = AuthMethod.PRIVATE_KEY_JWT,
    algorithm: str = "PS256",
    constraint: SenderConstraint = SenderConstraint.MTLS,
) -> World:
    leaf = provider.certificate("tpp")
    certificate = ClientCertificate.from_pem(leaf.pem, leaf.key_pem)
    key = (
        rsa.generate_private_key(65537, 2048)
        if algorithm == "PS256"
        else ec.generate_private_key(ec.SECP256R1())
    )
    signer = LocalSigner.from_key(key, kid="client-1")
    keys = [replace(signer.jwk, x5c=())]
    if auth is AuthMethod.SELF_SIGNED_TLS_CLIENT_AUTH:
        keys.append(JWK.from_pem(leaf.pem, use="sig"))
    trust = TrustAnchors(ca_pem=provider.authority.pem)
    settings = TransportSettings(certificate=certificate, trust=trust)
    with HTTPX2Transport(settings) as transport:
        server = run(discover(provider.issuer), transport)
        extra = {"fapi_profile": "2.0"} if profile is FAPI2_SECURITY else None
        metadata = client_metadata(
            profile,
            redirect_uris=(REDIRECT,),
            auth_method=auth,
            scope=SCOPE,
            algorithm=algorithm,
            jwks=JWKSet.of(keys),
            subject_dn=SUBJECT if auth is AuthMethod.TLS_CLIENT_AUTH else None,
            constraint=constraint,
            extra=extra,
        )
        registration = run(
            register(
                server,
                metadata,
                clock=time.time,
                entropy=secrets.token_bytes,
                initial_access_token=provider.initial_access_token,
                client_certificate=certificate.thumbprint,
            ),
            transport,
        )
    authentications: dict[AuthMethod, ClientAuthentication] = {
        AuthMethod.PRIVATE_KEY_JWT: PrivateKeyJWT(signer),
        AuthMethod.TLS_CLIENT_AUTH: TLSClientAuth(),
        AuthMethod.SELF_SIGNED_TLS_CLIENT_AUTH: SelfSignedTLSClientAuth(),
    }
    dpop = DPoPKey(signer, signer.jwk)
    mtls = CertificateBinding(certificate.thumbprint)
    client = Client(
        profile=profile,
        server=server,
        client_id=registration.client_id,
        redirect_uri=REDIRECT,
        authentication=authentications[auth],
        binding=mtls if constraint is SenderConstraint.MTLS else dpop,
        clock=time.time,
        entropy=secrets.token_bytes,
        request_signer=signer if profile.requires_request_object else None,
    )
    return World(provider, client, settings, MemoryPendingStore(clock=time.time))


@pytest.fixture(scope="session")
def world(provider: Any) -> World:
    return enrol(provider)


def _blocking(kind: Any) -> Callable[[World], Drive]:
    def driver(world: World) -> Drive:
        def drive(flow: Flow[Any]) -> Any:
            with kind(world.settings) as transport:
                return run(flow, transport)

        return drive

    return driver


def _awaited(kind: Any) -> Callable[[World], Drive]:
    def driver(world: World) -> Drive:
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
def test_the_whole_conversation_succeeds(world: World, driver: str, answer: AnswerForm) -> None:
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
    landed = visit(redirect.url, world.settings.trust)
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
    provider: Any, auth: AuthMethod, algorithm: str
) -> None:
    world = enrol(provider, auth=auth, algorithm=algorithm)
    own = world.run(client_credentials(world.client, scope="accounts"))
    assert own.scope == "accounts"
    answer = AnswerForm.HYBRID if algorithm == "PS256" else AnswerForm.JARM
    assert world.tokens(answer).scope == SCOPE


def test_a_request_object_goes_through_the_browser_where_it_is_not_pushed(world: World) -> None:
    landed = world.begin(AnswerForm.HYBRID, pushes=False)
    assert world.finish(landed).id_token is not None


@pytest.mark.parametrize("constraint", list(SenderConstraint))
def test_fapi_2_completes_with_both_sender_constraints(
    provider: Any, constraint: SenderConstraint
) -> None:
    world = enrol(provider, profile=FAPI2_SECURITY, constraint=constraint)
    landed = world.begin(AnswerForm.CODE)
    assert parameters_of(landed)["iss"] == provider.issuer
    tokens = world.run(exchange(world.client, world.finish(landed)))
    assert tokens.evidence is Evidence.INTROSPECTION
    fresh = world.run(refresh(world.client, tokens))
    assert fresh.bound_to == world.client.binding.thumbprint
    # The provider's own resource: it demands the certificate, or a proof with its nonce and ath.
    response = world.run(call(world.client, fresh, Request("GET", f"{provider.issuer}/me")))
    assert json.loads(response.body)["sub"] == "user-1"


def test_a_registration_is_read_changed_and_deleted(provider: Any) -> None:
    world = enrol(provider)
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


def test_registration_without_the_initial_token_is_refused(world: World) -> None:
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


def test_a_user_who_says_no_is_told_apart(world: World) -> None:
    for answer in (AnswerForm.JARM, AnswerForm.HYBRID):
        landed = world.begin(answer, parameters={"login_hint": "refuse"})
        with pytest.raises(ConsentRequired, match="access_denied"):
            world.finish(landed)


def test_a_stolen_token_is_worthless_with_another_certificate(world: World) -> None:
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


def test_a_jwt_access_token_is_checked_without_introspection(world: World) -> None:
    resource = {"resource": "https://api.bank.example"}
    answer = world.finish(world.begin(AnswerForm.JARM, parameters=resource))
    tokens = world.run(exchange(world.client, answer, parameters=resource))
    assert tokens.evidence is Evidence.TOKEN


def _unsigned(token: str) -> str:
    _, payload, signature = token.split(".")
    header = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    return f"{header}.{payload}.{signature}"


def _flipped(token: str) -> str:
    header, payload, signature = token.split(".")
    return f"{header}.{payload}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


Forge = Callable[[World, str], str]


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
def test_refuses_a_hybrid_answer_with_one_thing_changed(world: World, forgery: str) -> None:
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
    world: World, change: dict[str, object], error: type[SecurityError], check: str
) -> None:
    landed = changed_url(world.begin(AnswerForm.HYBRID), **change)
    _refused(error, check, lambda: world.finish(landed))


def test_refuses_a_hybrid_answer_in_the_query(world: World) -> None:
    landed = world.begin(AnswerForm.HYBRID).replace("#", "?")
    _refused(TokenInvalid, "answer-form", lambda: world.finish(landed))


@pytest.mark.parametrize("forgery", sorted(FORGERIES))
def test_refuses_a_jarm_answer_with_one_thing_changed(world: World, forgery: str) -> None:
    forge, error, check = FORGERIES[forgery]
    landed = world.begin(AnswerForm.JARM)
    forged = changed_url(landed, response=forge(world, parameters_of(landed)["response"]))
    _refused(error, check, lambda: world.finish(forged))


@pytest.mark.parametrize("name", ["code", "state", "error", "id_token", "iss"])
def test_refuses_anything_beside_a_jarm_answer(world: World, name: str) -> None:
    landed = world.begin(AnswerForm.JARM)
    response = parameters_of(landed)["response"]
    state = next(reversed(world.store._pending))
    value = state if name == "state" else "x"
    forged = changed_url(landed, response=response, **{name: value})
    _refused(TokenInvalid, "answer-unsigned", lambda: world.finish(forged))


def test_refuses_a_jarm_answer_of_another_state(world: World) -> None:
    landed = world.begin(AnswerForm.JARM)
    forged = changed_url(
        landed, response=_claim(state="another")(world, parameters_of(landed)["response"])
    )
    _refused(StateMismatch, "state", lambda: world.finish(forged))


def test_refuses_an_answer_a_second_time(world: World) -> None:
    landed = world.begin(AnswerForm.JARM)
    world.finish(landed)
    _refused(StateMismatch, "state", lambda: world.finish(landed))


def test_refuses_a_plain_code_instead_of_a_jarm_answer(world: World) -> None:
    landed = world.begin(AnswerForm.JARM)
    state = next(reversed(world.store._pending))
    forged = changed_url(landed, response=ABSENT, code="a-code", state=state)
    _refused(TokenInvalid, "answer-unsigned", lambda: world.finish(forged))


@pytest.mark.parametrize("forgery", sorted(BACK_FORGERIES))
def test_refuses_a_token_answer_with_one_claim_changed(world: World, forgery: str) -> None:
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
    world: World, change: dict[str, object], check: str
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
    world: World, change: dict[str, object], check: str
) -> None:
    answer = world.finish(world.begin(AnswerForm.JARM))

    def middle(request: Request, response: Response) -> Response:
        asked = request.url.endswith("/token/introspection")
        return changed_json(response, **change) if asked else response

    _refused(TokenInvalid, check, lambda: world.run(exchange(world.client, answer), middle))


def test_refuses_a_jwt_token_that_is_bound_to_another_certificate(world: World) -> None:
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


def test_refuses_metadata_of_another_issuer(world: World) -> None:
    def middle(request: Request, response: Response) -> Response:
        return changed_json(response, issuer="https://other.example")

    _refused(TokenInvalid, "issuer", lambda: world.run(discover(world.provider.issuer), middle))


def test_refuses_a_server_that_does_not_bind_tokens(world: World) -> None:
    server = replace(world.client.server, binds_tokens=False)
    with pytest.raises(ConfigError, match="does not say that it binds"):
        replace(world.client, server=server)


def _member(response: Response, name: str) -> str:
    value: str = json.loads(response.body)[name]
    return value
