from __future__ import annotations

import pytest

from smart_byte_atproto.errors import InvalidLexicon
from smart_byte_atproto.lexicon.publication import did_of, from_record, record_uri, txt_name
from smart_byte_atproto.syntax import DID, NSID

NAME = NSID("app.bsky.feed.post")
DID_OF = DID("did:plc:ewvi7nxzyoun6zhxrhs64oiz")


def test_the_domain_is_the_authority_of_the_name() -> None:
    assert txt_name(NAME) == "_lexicon.feed.bsky.app"
    assert record_uri(DID_OF, NAME) == f"at://{DID_OF}/com.atproto.lexicon.schema/{NAME}"


def test_one_repository_is_named() -> None:
    assert did_of(["v=spf1", f"did={DID_OF}", f"did={DID_OF}"]) == DID_OF
    assert did_of(["v=spf1"]) is None
    for texts in (["did=x"], [f"did={DID_OF}", "did=did:web:example.com"]):
        with pytest.raises(InvalidLexicon):
            did_of(texts)


def test_a_record_holds_the_schema_of_its_key() -> None:
    record = {
        "$type": "com.atproto.lexicon.schema",
        "lexicon": 1,
        "id": "app.bsky.feed.post",
        "defs": {"main": {"type": "token"}},
    }
    assert from_record(record, NAME).id == NAME
    with pytest.raises(InvalidLexicon):
        from_record(record, NSID("app.bsky.feed.like"))
    with pytest.raises(InvalidLexicon):
        from_record(record | {"$type": "app.bsky.feed.post"}, NAME)
