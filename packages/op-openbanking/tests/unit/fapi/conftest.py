from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from op_openbanking.fapi.authorization import begin, finish
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
from op_openbanking.fapi.profile import AnswerForm, AuthMethod
from op_openbanking.flow import Flow, Request, Response, run
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.signing.local import LocalSigner
from op_openbanking.testing.authorization_server import ISSUER, AuthorizationServer
from op_openbanking.testing.middle import Middle, changed_token

T = TypeVar("T")
NOW_S = 1_800_000_000.0
REDIRECT = "https://tpp.example/callback"
BROWSER = "session-1"
THUMBPRINT = "C" * 43


class Entropy:
    """Octets that differ at each call and are the same in each run."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, count: int) -> bytes:
        self.calls += 1
        return hashlib.shake_128(str(self.calls).encode()).digest(count)


class World:
    """A client, a server in memory, and a clock that stands still until it is moved."""

    def __init__(
        self,
        *,
        fapi2: bool = False,
        dpop: bool = False,
        auth: AuthMethod = AuthMethod.PRIVATE_KEY_JWT,
        **server: bool,
    ) -> None:
        self.now_s = NOW_S
        key = ec.generate_private_key(ec.SECP256R1())
        self.server_signer = LocalSigner.from_key(key, kid="bank-1")
        self.client_signer = LocalSigner.from_key(
            ec.generate_private_key(ec.SECP256R1()), kid="client-1"
        )
        self.server = AuthorizationServer(clock=self.clock, signer=self.server_signer, **server)
        self.server.clients["client-1"] = {
            "redirect_uris": [REDIRECT],
            "token_endpoint_auth_method": auth.value,
            "jwks": JWKSet.of([self.client_signer.jwk]).to_members(),
        }
        self.store = MemoryPendingStore(clock=self.clock)
        authentications: dict[AuthMethod, ClientAuthentication] = {
            AuthMethod.PRIVATE_KEY_JWT: PrivateKeyJWT(self.client_signer),
            AuthMethod.TLS_CLIENT_AUTH: TLSClientAuth(),
            AuthMethod.SELF_SIGNED_TLS_CLIENT_AUTH: SelfSignedTLSClientAuth(),
        }
        self.client = Client(
            profile=FAPI2_SECURITY if fapi2 else FAPI1_ADVANCED,
            server=self.run(discover(ISSUER)),
            client_id="client-1",
            redirect_uri=REDIRECT,
            authentication=authentications[auth],
            binding=(
                DPoPKey(self.client_signer, self.client_signer.jwk)
                if dpop
                else CertificateBinding(THUMBPRINT)
            ),
            clock=self.clock,
            entropy=Entropy(),
            request_signer=None if fapi2 else self.client_signer,
        )

    def clock(self) -> float:
        return self.now_s

    def run(
        self, flow: Flow[T], change: Callable[[Request, Response], Response] | None = None
    ) -> T:
        return run(flow, self.server if change is None else Middle(self.server, change))

    def land(self, answer: AnswerForm | None = None, **options: Any) -> str:
        """Begin, and come back from the bank."""
        arguments: dict[str, Any] = {"scope": "openid accounts", "user_agent": BROWSER, **options}
        redirect = self.run(begin(self.client, store=self.store, answer=answer, **arguments))
        return self.server.visit(redirect.url)

    def finish(self, landed: str | Callback, *, browser: str = BROWSER, **changes: Any) -> Any:
        callback = Callback.from_url(landed) if isinstance(landed, str) else landed
        client = replace(self.client, **changes)
        return self.run(finish(client, callback, store=self.store, user_agent=browser))

    def forged(self, token: str, **claims: object) -> str:
        return changed_token(token, self.server_signer, claims=claims)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def make_world() -> type[World]:
    return World
