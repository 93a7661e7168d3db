"""Our client against the official server: accounts, records, blobs, repositories, identity."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import anyio
import httpx2
import pytest

from smart_byte_atproto import car
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import XRPCError
from smart_byte_atproto.identity.plc_log import audit
from smart_byte_atproto.identity.plc_operation import PLCOperation
from smart_byte_atproto.identity.plc_signing import change, genesis, tombstone
from smart_byte_atproto.identity.resolver import Identity, Resolver
from smart_byte_atproto.net.fetch import Fetch
from smart_byte_atproto.net.http import fetch
from smart_byte_atproto.repo.verify import verify_repo
from smart_byte_atproto.stores.memory import MemoryStore
from smart_byte_atproto.xrpc import AsyncClient, Client, Tokens
from smart_byte_atproto.xrpc.call import Call
from smart_byte_atproto.xrpc.service_auth import verify_service_token

from .conftest import Official

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]

POSTS = "app.bsky.feed.post"


@dataclass
class Account:
    client: Client
    handle: str
    password: str
    did: str


@pytest.fixture
def account(official: Official) -> Iterator[Account]:
    """A new account on the official server, and a client with its session."""
    name, password = f"u{secrets.token_hex(5)}", secrets.token_urlsafe(12)
    handle = f"{name}.test"
    with Client(official.pds, local=True) as client:
        made = client.procedure(
            "com.atproto.server.createAccount",
            {"handle": handle, "email": f"{name}@example.test", "password": password},
        )
        client.login(handle, password)
        yield Account(client, handle, password, str(made["did"]))


def identity(official: Official, did: str) -> Identity:
    return Resolver(directory=official.plc, local=True).identity(did)


def verified_records(official: Official, account: Account) -> int:
    """Export the account's repository, verify all of it, and count its records."""
    exported = b"".join(account.client.download("com.atproto.sync.getRepo", {"did": account.did}))
    whole = car.load(exported)
    key = identity(official, account.did).document.signing_key()
    return verify_repo(whole.roots[0], MemoryStore(whole.blocks), key=key, did=account.did).records


def post(client: Client, text: str) -> dict[str, Value]:
    record: dict[str, Value] = {
        "$type": POSTS,
        "text": text,
        "createdAt": "2026-01-01T00:00:00.000Z",
    }
    return client.procedure(
        "com.atproto.repo.createRecord",
        {"repo": client.did, "collection": POSTS, "record": record},
    )


def test_the_document_of_a_new_account_leads_to_its_server(
    official: Official, account: Account
) -> None:
    found = identity(official, account.did)
    assert found.did == account.did
    assert found.document.handle == account.handle
    assert found.document.pds == official.pds
    assert found.document.signing_key().is_network_valid


def test_records_are_written_read_paged_and_deleted(account: Account) -> None:
    client = account.client
    uris = [str(post(client, f"number {n}")["uri"]) for n in range(7)]
    params: dict[str, Value] = {"repo": account.did, "collection": POSTS, "limit": 3}
    seen = []
    for page in client.pages("com.atproto.repo.listRecords", params):
        seen += [
            cast("dict[str, Value]", one)["uri"] for one in cast("list[Value]", page["records"])
        ]
    assert sorted(map(str, seen)) == sorted(uris)
    key = uris[0].rpartition("/")[2]
    where: dict[str, Value] = {"repo": account.did, "collection": POSTS, "rkey": key}
    assert (
        cast("dict[str, Value]", client.query("com.atproto.repo.getRecord", where)["value"])["text"]
        == "number 0"
    )
    client.procedure("com.atproto.repo.deleteRecord", where)
    with pytest.raises(XRPCError) as caught:
        client.query("com.atproto.repo.getRecord", where)
    assert caught.value.name == "RecordNotFound"


def test_a_refusal_has_its_name(official: Official, account: Account) -> None:
    data: dict[str, Value] = {"repo": account.did, "collection": POSTS, "record": {"$type": POSTS}}
    with pytest.raises(XRPCError) as caught:
        account.client.procedure("com.atproto.repo.createRecord", data)
    assert (caught.value.status, caught.value.name) == (400, "InvalidRequest")
    assert "text" in caught.value.message
    with Client(official.pds, local=True) as stranger, pytest.raises(XRPCError) as caught:
        stranger.login(account.handle, "wrong")
    assert caught.value.status == 401


def test_a_blob_comes_back_as_it_went(account: Account) -> None:
    content = secrets.token_bytes(100_000)
    blob = account.client.upload_blob(content, mime_type="image/png")
    record: dict[str, Value] = {
        "$type": POSTS,
        "text": "with a picture",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "embed": {"$type": "app.bsky.embed.images", "images": [{"alt": "", "image": blob}]},
    }
    account.client.procedure(
        "com.atproto.repo.createRecord",
        {"repo": account.did, "collection": POSTS, "record": record},
    )
    assert account.client.blob(account.did, str(blob["ref"])) == content


def test_the_exported_repository_verifies(official: Official, account: Account) -> None:
    for number in range(5):
        post(account.client, f"number {number}")
    assert verified_records(official, account) == 5


def test_an_expired_session_is_refreshed_and_saved_before_use(
    official: Official, account: Account
) -> None:
    kept: list[Tokens | None] = []
    tokens = account.client.tokens
    assert tokens is not None
    with Client(official.pds, tokens=tokens, save=kept.append, local=True) as client:
        client._refresh(tokens)
        assert kept == [client.tokens]
        assert client.tokens is not None
        assert client.tokens.refresh != tokens.refresh
        assert client.query("com.atproto.server.getSession")["did"] == account.did
        client.logout()
        assert kept[-1] is None
        assert client.tokens is None


def test_service_tokens_of_the_official_server_hold(official: Official, account: Account) -> None:
    audience, method = "did:web:feed.example.com#bsky_fg", "app.bsky.feed.getFeedSkeleton"
    params: dict[str, Value] = {
        "aud": audience.partition("#")[0],
        "lxm": method,
        "exp": int(time.time()) + 60,
    }
    token = str(account.client.query("com.atproto.server.getServiceAuth", params)["token"])
    document = identity(official, account.did).document
    claims = verify_service_token(
        token,
        key_of=lambda _did, _fresh: document.signing_key(),
        audiences={audience.partition("#")[0]},
        lxm=method,
        now_s=time.time(),
    )
    assert (claims.account, claims.lxm) == (account.did, method)


def test_a_handle_is_changed_and_the_log_says_so(official: Official, account: Account) -> None:
    new = f"n{secrets.token_hex(5)}.test"
    account.client.procedure("com.atproto.identity.updateHandle", {"handle": new})
    assert identity(official, account.did).document.handle == new
    log = audit(fetch(Fetch(f"{official.plc}/{account.did}/log/audit"), local=True).body)
    assert log.did == account.did
    assert [names.also_known_as[0] for names in log.operations] == [
        f"at://{account.handle}",
        f"at://{new}",
    ]


def test_an_identity_of_our_own_is_made_changed_and_ended_at_the_official_directory(
    official: Official,
) -> None:
    key = PrivateKey.generate(KeyType.K256)
    did, operation = genesis(
        rotation_keys=[key.public_key.did_key],
        signing_key=key.public_key.did_key,
        handle="alice.test",
        pds="https://pds.example.com",
        key=key,
    )
    with Client(official.plc, local=True) as directory:
        _submit(directory, did, operation)
        first = PLCOperation.parse(operation)
        second = change(first, key, also_known_as=["at://bob.test"])
        _submit(directory, did, second)
        assert identity(official, did).document.handle == "bob.test"
        _submit(directory, did, tombstone(PLCOperation.parse(second), key))
    log = audit(fetch(Fetch(f"{official.plc}/{did}/log/audit"), local=True).body)
    assert log.is_tombstoned
    assert len(log.operations) == 3


def _submit(directory: Client, did: str, operation: dict[str, Value]) -> None:
    answer = httpx2.post(f"{directory.service}/{did}", json=operation)
    assert answer.status_code == 200, answer.text


async def test_the_same_is_done_awaited(official: Official, account: Account) -> None:
    async with AsyncClient(official.pds, tokens=account.client.tokens, local=True) as client:
        async with anyio.create_task_group() as group:
            for number in range(5):
                record: dict[str, Value] = {
                    "$type": POSTS,
                    "text": f"number {number}",
                    "createdAt": "2026-01-01T00:00:00.000Z",
                }
                data: dict[str, Value] = {
                    "repo": account.did,
                    "collection": POSTS,
                    "record": record,
                }
                group.start_soon(client.procedure, "com.atproto.repo.createRecord", data)
        seen = 0
        params: dict[str, Value] = {"repo": account.did, "collection": POSTS, "limit": 2}
        async for page in client.pages("com.atproto.repo.listRecords", params):
            seen += len(cast("list[Value]", page["records"]))
        assert seen == 5
        limits = (await client.call(Call("com.atproto.server.getSession"))).rate_limit
        assert limits.limit is None or limits.limit > 0


def test_a_session_survives_a_restart_of_the_server(official: Official, account: Account) -> None:
    post(account.client, "before")
    official.restart()
    post(account.client, "after")
    assert verified_records(official, account) == 2
