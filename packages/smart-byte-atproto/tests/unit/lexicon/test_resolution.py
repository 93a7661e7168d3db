"""Schemas found by name, over a network in memory that serves real proofs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest

from smart_byte_atproto import car
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import (
    ATProtoError,
    BadSignature,
    IdentityNotFound,
    InvalidLexicon,
    InvalidRepo,
    InvalidSyntax,
    NetworkFailed,
    ResolutionFailed,
    ResponseInvalid,
    Truncated,
    UnknownSchema,
)
from smart_byte_atproto.lexicon.resolution import aresolve, resolve
from smart_byte_atproto.net.fetch import Fetch, Fetched, TextRecords
from smart_byte_atproto.repo import Repo
from smart_byte_atproto.repo.export import export_blocks
from smart_byte_atproto.stores.memory import MemoryStore

NAME = "com.example.feed.post"
OWNER = "did:plc:gito43bv6lbityhgk36c23h2"
KEY = PrivateKey(KeyType.K256, bytes(range(1, 33)))
SCHEMA: dict[str, Value] = {
    "$type": "com.atproto.lexicon.schema",
    "lexicon": 1,
    "id": NAME,
    "defs": {"main": {"type": "token"}},
}
PAGE = (
    "https://pds.example.test/xrpc/com.atproto.sync.getRecord"
    f"?did={OWNER.replace(':', '%3A')}&collection=com.atproto.lexicon.schema&rkey={NAME}"
)


def exported(record: dict[str, Value], *, name: str = NAME, did: str = OWNER) -> bytes:
    repo = Repo.create(did, MemoryStore())
    repo = repo.create_record(f"com.atproto.lexicon.schema/{name}", record)
    made = repo.commit(KEY, rev="3jzfcijpj2z2a")
    return car.dump([made.commit.cid], export_blocks(made.repo))


def document(**changes: object) -> bytes:
    fields = {
        "id": OWNER,
        "verificationMethod": [
            {
                "id": f"{OWNER}#atproto",
                "type": "Multikey",
                "controller": OWNER,
                "publicKeyMultibase": KEY.public_key.multikey,
            }
        ],
        "service": [
            {
                "id": "#atproto_pds",
                "type": "AtprotoPersonalDataServer",
                "serviceEndpoint": "https://pds.example.test",
            }
        ],
    }
    return json.dumps(fields | changes).encode()


@dataclass
class Net:
    """A network in memory: one name, one account, one server."""

    texts: list[str] | ATProtoError = field(default_factory=lambda: [f"did={OWNER}"])
    did_document: bytes = field(default_factory=document)
    proof: bytes = field(default_factory=lambda: exported(SCHEMA))
    status: int = 200
    asked: list[str] = field(default_factory=list)

    def fetch(self, wanted: Fetch) -> Fetched:
        self.asked.append(wanted.url)
        if wanted.url == PAGE:
            return Fetched(self.status, {}, self.proof, "pds.example.test")
        assert wanted.url.endswith(OWNER)
        return Fetched(200, {}, self.did_document, "plc.directory")

    def text_records(self, wanted: TextRecords) -> list[str]:
        self.asked.append(wanted.name)
        if isinstance(self.texts, ATProtoError):
            raise self.texts
        return self.texts


@dataclass
class AsyncNet:
    inner: Net

    async def fetch(self, wanted: Fetch) -> Fetched:
        await anyio.lowlevel.checkpoint()
        return self.inner.fetch(wanted)

    async def text_records(self, wanted: TextRecords) -> list[str]:
        await anyio.lowlevel.checkpoint()
        return self.inner.text_records(wanted)


def test_a_schema_is_found_with_its_proof() -> None:
    net = Net()
    found = resolve(NAME, network=net)
    assert (found.lexicon.id, found.did, found.record) == (NAME, OWNER, SCHEMA)
    assert net.asked == ["_lexicon.feed.example.com", f"https://plc.directory/{OWNER}", PAGE]


async def test_awaited_it_is_the_same() -> None:
    assert await aresolve(NAME, network=AsyncNet(Net())) == resolve(NAME, network=Net())


WRONG: dict[str, tuple[type[ATProtoError], Net]] = {
    "no TXT record": (IdentityNotFound, Net(texts=["v=spf1"])),
    "two repositories": (InvalidLexicon, Net(texts=[f"did={OWNER}", "did=did:web:example.com"])),
    "no DID": (InvalidLexicon, Net(texts=["did=example.com"])),
    "no DNS": (NetworkFailed, Net(texts=NetworkFailed("DNS", "no answer"))),
    "no server": (ResolutionFailed, Net(did_document=document(service=[]))),
    "refused": (ResponseInvalid, Net(status=400)),
    "cut off": (Truncated, Net(proof=exported(SCHEMA)[:-1])),
    "another account": (InvalidRepo, Net(proof=exported(SCHEMA, did="did:plc:" + "a" * 24))),
    "another schema": (InvalidLexicon, Net(proof=exported({**SCHEMA, "id": "com.example.b"}))),
    "no schema": (InvalidLexicon, Net(proof=exported({**SCHEMA, "defs": {}, "lexicon": 2}))),
    "not there": (UnknownSchema, Net(proof=exported(SCHEMA, name="com.example.feed.like"))),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_has_its_error(name: str) -> None:
    error, net = WRONG[name]
    with pytest.raises(error):
        resolve(NAME, network=net)


def test_a_commit_that_another_key_signed_is_refused() -> None:
    other = PrivateKey(KeyType.P256, bytes(range(1, 33))).public_key
    method = {"id": f"{OWNER}#atproto", "type": "Multikey", "publicKeyMultibase": other.multikey}
    with pytest.raises(BadSignature):
        resolve(NAME, network=Net(did_document=document(verificationMethod=[method])))


def test_what_is_no_name_is_not_asked_for() -> None:
    net = Net()
    with pytest.raises(InvalidSyntax):
        resolve("feed", network=net)
    assert net.asked == []
