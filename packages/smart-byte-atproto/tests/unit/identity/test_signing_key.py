from __future__ import annotations

from typing import Any

import pytest

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.errors import InvalidDocument
from smart_byte_atproto.identity.signing_key import signing_key

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
KEY = "zQ3shWLyu8mc4GLnyzrxvWj9kJPijwGbjdrr3pZ8hacUYxawh"
METHOD: dict[str, Any] = {
    "id": f"{DID}#atproto",
    "type": "Multikey",
    "controller": DID,
    "publicKeyMultibase": KEY,
}


def document(*methods: Any, **changes: Any) -> dict[str, Any]:
    return {"id": DID, "verificationMethod": list(methods)} | changes


@pytest.mark.parametrize(
    "methods",
    [
        [METHOD],
        [METHOD | {"id": "#atproto"}],
        ["text", {"id": ["list"]}, METHOD | {"id": "#other", "type": "?"}, METHOD],
        [METHOD, METHOD | {"publicKeyMultibase": "later ones do not count"}],
        [{name: value for name, value in METHOD.items() if name != "controller"}],
    ],
)
def test_takes_the_first_key_named_atproto(methods: list[Any]) -> None:
    assert signing_key(document(*methods), did=DID) == PublicKey.from_multikey(KEY)


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("form", {}),
        ("form", document(METHOD, id=1)),
        ("form", document(verificationMethod={})),
        ("id", document(METHOD, id="did:web:example.com")),
        ("key-missing", {"id": DID}),
        ("key-missing", document()),
        ("key-missing", document(METHOD | {"id": "did:web:example.com#atproto"})),
        ("key", document(METHOD | {"controller": "did:web:example.com"})),
        ("key", document(METHOD | {"type": "JsonWebKey2020"})),
        ("key", document(METHOD | {"type": None})),
        ("key", document(METHOD | {"publicKeyMultibase": None})),
        ("key", document(METHOD | {"publicKeyMultibase": "z"})),
    ],
)
def test_refuses_documents_without_a_usable_key(code: str, value: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument) as caught:
        signing_key(value, did=DID)
    assert caught.value.code == code
