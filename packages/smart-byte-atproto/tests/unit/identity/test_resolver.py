from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from smart_byte_atproto.errors import (
    ATProtoError,
    IdentityMismatch,
    IdentityNotFound,
    InvalidDocument,
    InvalidSyntax,
    NetworkFailed,
    ResponseInvalid,
)
from smart_byte_atproto.identity.cache import CacheLimits
from smart_byte_atproto.identity.resolver import AsyncResolver, Resolver
from smart_byte_atproto.net.fetch import Fetch, Fetched, TextRecords

ALICE = "did:plc:gito43bv6lbityhgk36c23h2"
KEY = "zQ3shWLyu8mc4GLnyzrxvWj9kJPijwGbjdrr3pZ8hacUYxawh"


def document(did: str = ALICE, handle: str | None = "alice.test") -> dict[str, Any]:
    return {
        "id": did,
        "alsoKnownAs": [] if handle is None else [f"at://{handle}"],
        "verificationMethod": [
            {
                "id": f"{did}#atproto",
                "type": "Multikey",
                "controller": did,
                "publicKeyMultibase": KEY,
            }
        ],
        "service": [
            {
                "id": "#atproto_pds",
                "type": "AtprotoPersonalDataServer",
                "serviceEndpoint": "https://pds.example.test/",
            }
        ],
    }


@dataclass
class Net:
    """A network in memory."""

    pages: dict[str, tuple[int, bytes] | ATProtoError] = field(default_factory=dict)
    texts: dict[str, list[str] | ATProtoError] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def fetch(self, wanted: Fetch) -> Fetched:
        self.asked.append(wanted.url)
        page = self.pages.get(wanted.url, (404, b""))
        if isinstance(page, ATProtoError):
            raise page
        return Fetched(page[0], {}, page[1], "host")

    def text_records(self, wanted: TextRecords) -> list[str]:
        self.asked.append(wanted.name)
        texts = self.texts.get(wanted.name, [])
        if isinstance(texts, ATProtoError):
            raise texts
        return texts


class AsyncNet:
    """The same, awaited."""

    def __init__(self, net: Net) -> None:
        self.net = net

    async def fetch(self, wanted: Fetch) -> Fetched:
        await anyio.lowlevel.checkpoint()
        return self.net.fetch(wanted)

    async def text_records(self, wanted: TextRecords) -> list[str]:
        await anyio.lowlevel.checkpoint()
        return self.net.text_records(wanted)


def alice(net: Net) -> Net:
    net.pages[f"https://plc.directory/{ALICE}"] = (200, json.dumps(document()).encode())
    net.texts["_atproto.alice.test"] = ["v=spf1", f"did={ALICE}"]
    return net


def test_a_handle_and_its_did_name_each_other() -> None:
    found = Resolver(network=alice(Net())).identity("Alice.Test")
    assert (found.did, found.handle, found.pds) == (ALICE, "alice.test", "https://pds.example.test")
    assert found.document.signing_key().multikey == KEY


async def test_the_same_is_found_awaited() -> None:
    resolver = AsyncResolver(network=AsyncNet(alice(Net())))
    assert (await resolver.identity("alice.test")).did == ALICE
    assert (await resolver.identity(ALICE)).handle == "alice.test"


def test_a_did_whose_handle_is_not_confirmed_has_none() -> None:
    net = alice(Net())
    for texts in ([], ["did=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"], ["did=a", "did=b"]):
        net.texts["_atproto.alice.test"] = list(texts)
        assert Resolver(network=net).identity(ALICE).handle is None


def test_a_handle_that_its_did_does_not_claim_is_refused() -> None:
    net = alice(Net())
    net.texts["_atproto.mallory.test"] = [f"did={ALICE}"]
    with pytest.raises(IdentityMismatch, match=r"claim"):
        Resolver(network=net).identity("mallory.test")


def test_several_dids_for_a_handle_are_none() -> None:
    net = alice(Net())
    net.texts["_atproto.alice.test"] = [f"did={ALICE}", "did=did:web:example.com"]
    with pytest.raises(IdentityMismatch):
        Resolver(network=net).did_of("alice.test")


def test_the_handles_own_host_is_asked_where_dns_says_nothing() -> None:
    net = Net(pages={"https://bob.test/.well-known/atproto-did": (200, f" {ALICE}\n".encode())})
    assert Resolver(network=net).did_of("bob.test") == ALICE
    net.pages["https://bob.test/.well-known/atproto-did"] = (200, b"<!doctype html><html>")
    with pytest.raises(IdentityNotFound):
        Resolver(network=net).did_of("bob.test")


def test_trouble_with_dns_is_not_taken_for_an_answer() -> None:
    net = Net(texts={"_atproto.bob.test": NetworkFailed("dns", "no answer")})
    with pytest.raises(NetworkFailed):
        Resolver(network=net).did_of("bob.test")
    net.pages["https://bob.test/.well-known/atproto-did"] = (200, ALICE.encode())
    assert Resolver(network=net).did_of("bob.test") == ALICE


@pytest.mark.parametrize("handle", ["a.localhost", "a.onion", "a.example", "a.internal"])
def test_names_of_private_networks_are_not_asked(handle: str) -> None:
    net = Net()
    with pytest.raises(IdentityNotFound):
        Resolver(network=net).did_of(handle)
    assert net.asked == []


@pytest.mark.parametrize(
    "did",
    [
        "did:web:example.com:user",
        "did:web:example.com%3A8080",
        "did:web:example.com%2fx",
        "did:web:a%40b.com",
        "did:key:zQ3sh",
        "did:plc:short",
    ],
)
def test_dids_that_atproto_does_not_take_are_not_asked(did: str) -> None:
    net = Net()
    with pytest.raises(IdentityNotFound):
        Resolver(network=net).document(did)
    assert net.asked == []


def test_did_web_is_asked_at_its_host() -> None:
    did = "did:web:example.com"
    page = (200, json.dumps(document(did)).encode())
    net = Net(pages={"https://example.com/.well-known/did.json": page})
    assert Resolver(network=net).document(did).pds == "https://pds.example.test"


@pytest.mark.parametrize(
    ("page", "error"),
    [
        ((404, b""), IdentityNotFound),
        ((410, b""), IdentityNotFound),
        ((500, b""), ResponseInvalid),
        ((200, b"<html>"), ResponseInvalid),
        ((200, b"[]"), ResponseInvalid),
        ((200, b"{}"), InvalidDocument),
        ((200, json.dumps(document("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")).encode()), InvalidDocument),
    ],
)
def test_a_directory_that_answers_something_else_is_not_believed(
    page: tuple[int, bytes], error: type[ATProtoError]
) -> None:
    net = Net(pages={f"https://plc.directory/{ALICE}": page})
    with pytest.raises(error):
        Resolver(network=net).document(ALICE)


def test_what_is_no_identifier_is_refused() -> None:
    with pytest.raises(InvalidSyntax):
        Resolver(network=Net()).identity("alice")


def test_answers_are_kept_until_they_are_stale_or_purged() -> None:
    net, now = alice(Net()), [0.0]
    resolver = Resolver(network=net, clock=lambda: now[0], limits=CacheLimits(10, 100, 5, 10))
    resolver.identity("alice.test")
    before = len(net.asked)
    resolver.identity("alice.test")
    assert len(net.asked) == before
    now[0] = 11
    resolver.identity("alice.test")
    assert len(net.asked) == before * 2
    resolver.purge(ALICE)
    resolver.document(ALICE)
    assert len(net.asked) == before * 2 + 1
    resolver.document(ALICE, refresh=True)
    assert len(net.asked) == before * 2 + 2


def test_a_stale_answer_stands_in_while_the_network_fails_and_an_expired_one_does_not() -> None:
    net, now = alice(Net()), [0.0]
    resolver = Resolver(network=net, clock=lambda: now[0], limits=CacheLimits(10, 100, 5, 10))
    resolver.document(ALICE)
    net.pages[f"https://plc.directory/{ALICE}"] = NetworkFailed("plc", "gone")
    now[0] = 50
    assert resolver.document(ALICE).did == ALICE
    now[0] = 101
    with pytest.raises(NetworkFailed):
        resolver.document(ALICE)


def test_final_failures_are_believed_for_a_while() -> None:
    net, now = Net(), [0.0]
    resolver = Resolver(network=net, clock=lambda: now[0], limits=CacheLimits(10, 100, 5, 10))
    for at_s, asked in ((0, 1), (4, 1), (6, 2)):
        now[0] = at_s
        with pytest.raises(IdentityNotFound):
            resolver.document(ALICE)
        assert len(net.asked) == asked


def test_the_cache_is_bounded() -> None:
    resolver = Resolver(network=Net(), limits=CacheLimits(entries=10))
    for number in range(50):
        with pytest.raises(ATProtoError):
            resolver.document(f"did:web:host{number}.example.com")
    assert len(resolver._known.documents) == 10
    assert not resolver._asking


async def test_many_who_wait_cause_one_request() -> None:
    net = alice(Net())
    resolver = AsyncResolver(network=AsyncNet(net))
    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(resolver.document, ALICE)
    assert len(net.asked) == 1
    assert not resolver._asking


def test_many_threads_who_wait_cause_one_request() -> None:
    gate = threading.Event()

    class Slow(Net):
        def fetch(self, wanted: Fetch) -> Fetched:
            gate.wait(10)
            return super().fetch(wanted)

    net = alice(Slow())
    resolver = Resolver(network=net)
    threads = [threading.Thread(target=resolver.document, args=(ALICE,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(10)
    assert len(net.asked) == 1
