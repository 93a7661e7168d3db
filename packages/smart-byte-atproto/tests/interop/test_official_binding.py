"""A record of the official server bound to an AID, and the binding proven from its export alone."""

from __future__ import annotations

import pytest

from smart_byte_atproto import car
from smart_byte_atproto.bridge import (
    bind,
    incept,
    naming_record,
    replay,
    verify_binding,
    verify_in_repository,
)
from smart_byte_atproto.bridge.binding import COLLECTION
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.errors import BindingRefused

from .conftest import Official
from .test_official_server import Account, account, identity, post

__all__ = ["account"]

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]


def exported(account: Account) -> car.CAR:
    whole = b"".join(account.client.download("com.atproto.sync.getRepo", {"did": account.did}))
    return car.load(whole)


def test_a_binding_is_proven_offline_from_the_export(official: Official, account: Account) -> None:
    keys = [PrivateKey.generate(KeyType.ED25519), PrivateKey.generate(KeyType.P256)]
    log = [incept(keys, next_keys=[PrivateKey.generate(KeyType.K256).public_key])]
    made = post(account.client, "bound")
    uri, cid = str(made["uri"]), str(made["cid"])
    binding = bind(uri, replay(log), keys, date="2026-01-01T00:00:00.000Z", cid=cid)
    said = verify_binding(binding, log).said
    account.client.procedure(
        "com.atproto.repo.putRecord",
        {
            "repo": account.did,
            "collection": str(COLLECTION),
            "rkey": said,
            "validate": False,
            "record": naming_record(binding, log),
        },
    )
    key = identity(official, account.did).document.signing_key()

    bound = verify_in_repository(exported(account), key=key, did=account.did, said=said)
    assert (bound.uri, bound.cid, bound.aid) == (uri, cid, replay(log).aid)

    collection, rkey = uri.split("/")[-2:]
    account.client.procedure(
        "com.atproto.repo.putRecord",
        {
            "repo": account.did,
            "collection": collection,
            "rkey": rkey,
            "record": {
                "$type": collection,
                "text": "edited",
                "createdAt": "2026-01-01T00:00:00.000Z",
            },
        },
    )
    with pytest.raises(BindingRefused) as caught:
        verify_in_repository(exported(account), key=key, did=account.did, said=said)
    assert caught.value.code == "cid"
