from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from op_openbanking.bank import Bank
from op_openbanking.banks.profile import BankProfile, Limits, Signing
from op_openbanking.fapi.client import CertificateBinding, Client
from op_openbanking.fapi.client_auth import PrivateKeyJWT
from op_openbanking.fapi.fapi1_advanced import FAPI1_ADVANCED
from op_openbanking.fapi.metadata import discover
from op_openbanking.flow import Flow, Transport, run
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.rotation import KeyRing
from op_openbanking.signing.local import LocalSigner
from op_openbanking.stores.base import Store
from op_openbanking.stores.memory import MemoryStore
from op_openbanking.testing.authorization_server import ISSUER, AuthorizationServer
from op_openbanking.testing.obie_bank import BANK_ISSUER, BASE, TPP_ISSUER, OBIEBank
from op_openbanking.traits.consent import Redirect
from op_openbanking.traits.pages import Pages, each

T = TypeVar("T")
NOW_S = 1_800_000_000.0
REDIRECT = "https://tpp.example/callback"
BROWSER = "session-1"

_OPTIONAL = (
    "bulk-reads",
    "beneficiaries",
    "event-poll",
    "event-push",
    "event-subscription",
)


class Entropy:
    """Octets that differ at each call and are the same in each run."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, count: int) -> bytes:
        self.calls += 1
        return hashlib.shake_128(str(self.calls).encode()).digest(count)


def profile(**changes: Any) -> BankProfile:
    members: dict[str, Any] = {
        "name": "memory",
        "title": "In memory",
        "standard": "uk-obie",
        "version": "3.1.11",
        "issuer": ISSUER,
        "services": {
            "aisp": f"{BASE}/aisp",
            "pisp": f"{BASE}/pisp",
            "cbpii": f"{BASE}/cbpii",
            "vrp": f"{BASE}/pisp",
            "events": BASE,
        },
        "signing": Signing(mode="obie-jws", issuer=TPP_ISSUER, bank_issuer=BANK_ISSUER),
        "limits": Limits(max_pages=50),
        "offers": _OPTIONAL,
    }
    return BankProfile(**{**members, **changes})


class UKWorld:
    """A client of ours and a UK bank, both in memory, under a clock that is moved by hand."""

    def __init__(self, keys: tuple[Any, Any], *, rows: int = 60) -> None:
        self.now_s = NOW_S
        self.bank_signer = LocalSigner.from_key(keys[0], kid="bank-1")
        self.signer = LocalSigner.from_key(keys[1], kid="client-1")
        server = AuthorizationServer(clock=self.clock, signer=self.bank_signer)
        server.clients["client-1"] = {
            "redirect_uris": [REDIRECT],
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": JWKSet.of([self.signer.jwk]).to_members(),
        }
        self.bank = OBIEBank(
            server,
            signer=self.bank_signer,
            client_keys=JWKSet.of([self.signer.jwk]),
            clock=self.clock,
            rows=rows,
        )
        self.transport: Transport = self.bank
        self.client = Client(
            profile=FAPI1_ADVANCED,
            server=run(discover(ISSUER), self.bank),
            client_id="client-1",
            redirect_uri=REDIRECT,
            authentication=PrivateKeyJWT(self.signer),
            binding=CertificateBinding("C" * 43),
            clock=self.clock,
            entropy=Entropy(),
            request_signer=self.signer,
        )
        self.store: Store = MemoryStore()

    def clock(self) -> float:
        return self.now_s

    def ours(self, **changes: Any) -> Bank:
        """A client of ours, with the profile changed; every call is as after a restart."""
        return Bank(
            profile(**changes),
            self.client,
            store=self.store,
            message_signer=self.signer,
            bank_keys=KeyRing(f"{ISSUER}/jwks"),
        )

    def run(self, flow: Flow[T]) -> T:
        return run(flow, self.transport)

    def all(self, pages: Pages[T]) -> list[T]:
        return list(each(pages, self.transport))

    def authorise(self, ours: Bank, consent_id: str) -> Any:
        """The owner agrees."""
        step = self.run(ours.authorise(consent_id, user_agent=BROWSER))
        assert isinstance(step, Redirect)
        landed = self.bank.visit(step.url, consent_id)
        return self.run(ours.land(landed, user_agent=BROWSER))

    def granted(self, ours: Bank, wish: Any) -> str:
        """A consent that is asked for and agreed to."""
        consent = self.run(ours.ask(wish))
        self.authorise(ours, consent.id)
        return consent.id


@pytest.fixture(scope="session")
def keys() -> tuple[Any, Any]:
    return tuple(rsa.generate_private_key(65537, 2048) for _ in range(2))  # type: ignore[return-value]


@pytest.fixture
def world(keys: tuple[Any, Any]) -> UKWorld:
    return UKWorld(keys)


@pytest.fixture
def make_world(keys: tuple[Any, Any]) -> Callable[..., UKWorld]:
    return lambda **options: UKWorld(keys, **options)


@pytest.fixture(params=["3.1.10", "3.1.11"])
def judged(
    world: UKWorld, messages: Callable[..., Any], request: pytest.FixtureRequest
) -> Iterator[tuple[UKWorld, Bank]]:
    """A world where every message to and from the bank obeys the published files."""
    files = messages(f"obie/v{request.param}/*.yaml")
    world.transport = files.checking(world.bank, only=BASE)
    yield world, world.ours(version=request.param)
    assert files.seen
