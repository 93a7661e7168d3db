from __future__ import annotations

import datetime as dt
import json
import secrets
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from op_openbanking.fapi.authorization import AuthorizationResponse, begin, finish
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
from op_openbanking.fapi.registration import client_metadata, register
from op_openbanking.fapi.tokens import TokenSet, exchange
from op_openbanking.flow import Flow, Request, Response, run
from op_openbanking.http.httpx2 import HTTPX2Transport
from op_openbanking.http.settings import TransportSettings
from op_openbanking.http.tls import ClientCertificate, TrustAnchors, client_context
from op_openbanking.jose import base64url
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.signing.local import LocalSigner
from op_openbanking.testing.middle import Middle
from op_openbanking.testing.pki import IssuedCertificate, ThrowAwayCA

T = TypeVar("T")
REDIRECT = "https://tpp.example/callback"
BROWSER = "session-1"
SUBJECT = r"CN=tpp,O=Example\, Ltd,C=DE"
SCOPE = "openid accounts payments"
HERE = Path(__file__).parent
CACHE = HERE.parents[3] / ".cache" / "interop"
INITIAL_ACCESS_TOKEN = "let-me-register"


class Provider:
    """The certified provider in a process of its own, and everything the test knows about it."""

    def __init__(self, issuer: str, authority: ThrowAwayCA, keys: dict[str, LocalSigner]) -> None:
        self.issuer = issuer
        self.authority = authority
        self.keys = keys
        self.initial_access_token = INITIAL_ACCESS_TOKEN

    def certificate(self, name: str) -> IssuedCertificate:
        return self.authority.issue(name, now=dt.datetime.now(dt.UTC))


@pytest.fixture(scope="session")
def node_modules() -> Path:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node or npm is not installed")
    fcntl = pytest.importorskip("fcntl")
    CACHE.mkdir(parents=True, exist_ok=True)
    wanted, done = (HERE / "package.json").read_bytes(), CACHE / ".installed"
    with (CACHE / ".lock").open("w") as lock:
        # Two test processes share the folder: one of them installs.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_bytes() != wanted:
            _install(npm)
            done.write_bytes(wanted)
    return CACHE


def _install(npm: str) -> None:
    (CACHE / "package.json").write_bytes((HERE / "package.json").read_bytes())
    npm_install = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--no-package-lock"],
        cwd=CACHE,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    if npm_install.returncode:
        pytest.skip(f"npm could not install oidc-provider: {npm_install.stderr[-200:]}")


@pytest.fixture(scope="session")
def provider(node_modules: Path) -> Iterator[Provider]:
    now = dt.datetime.now(dt.UTC)
    authority = ThrowAwayCA.create(now=now)
    server = authority.issue("server", now=now, hosts=("localhost", "127.0.0.1"))
    rsa_key = rsa.generate_private_key(65537, 2048)
    ec_key = ec.generate_private_key(ec.SECP256R1())
    keys = {
        "PS256": LocalSigner.from_key(rsa_key, kid="rsa-1"),
        "ES256": LocalSigner.from_key(ec_key, kid="ec-1"),
        "RS256": LocalSigner.from_key(rsa_key, kid="rsa-1", alg="RS256"),
    }
    setup = {
        "key": server.key_pem.decode(),
        "certificate": server.pem.decode(),
        "authority": authority.pem.decode(),
        "jwks": {"keys": [_private_rsa(rsa_key), _private_ec(ec_key)]},
        "initialAccessToken": INITIAL_ACCESS_TOKEN,
    }
    process = subprocess.Popen(
        ["node", str(HERE / "server.mjs"), str(node_modules)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(setup) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], 30)
        line = process.stdout.readline() if ready else ""
        assert line, f"the provider did not start (status {process.poll()})"
        yield Provider(json.loads(line)["issuer"], authority, keys)
    finally:
        # The server ends when its standard input closes; its own process alone is ended otherwise.
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        process.stdout.close()


def _text(number: int, size: int | None = None) -> str:
    octets = number.to_bytes(size or (number.bit_length() + 7) // 8, "big")
    return base64url.encode(octets).decode()


def _private_rsa(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    numbers = key.private_numbers()
    parts = {"d": numbers.d, "p": numbers.p, "q": numbers.q, "dp": numbers.dmp1}
    parts |= {"dq": numbers.dmq1, "qi": numbers.iqmp, "n": numbers.public_numbers.n}
    members = {name: _text(value) for name, value in parts.items()}
    return {"kty": "RSA", "kid": "rsa-1", "use": "sig", "alg": "PS256", "e": "AQAB", **members}


def _private_ec(key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    numbers = key.private_numbers()
    point = numbers.public_numbers
    parts = {"d": numbers.private_value, "x": point.x, "y": point.y}
    members = {name: _text(value, 32) for name, value in parts.items()}
    return {"kty": "EC", "kid": "ec-1", "use": "sig", "alg": "ES256", "crv": "P-256", **members}


@dataclass(frozen=True)
class World:
    """One registered client, its keys and its way to the provider."""

    provider: Provider
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
        return self.visit(redirect.url)

    def visit(self, url: str) -> str:
        """Be the browser: follow redirects with cookies until they lead to the client."""
        context = client_context(self.settings.trust)
        with httpx2.Client(verify=context, trust_env=False) as browser:
            for _ in range(10):
                answer = browser.get(url)
                assert answer.status_code in {302, 303}, answer.text
                location: str = answer.headers["location"]
                if location.startswith(REDIRECT):
                    return location
                url = str(httpx2.URL(url).join(location))
        raise AssertionError("the browser was sent around in circles")

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


def _enrol(
    provider: Provider,
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
def enrol(provider: Provider) -> Callable[..., World]:
    """Registers a client, with the options of `_enrol`."""
    return lambda **options: _enrol(provider, **options)


@pytest.fixture(scope="session")
def world(enrol: Callable[..., World]) -> World:
    return enrol()
