"""One operation of did:plc: its form, its hash, and who signed it.

Operations are hashed and signed as DAG-CBOR of exactly the fields they came with; a legacy
`create` is read as an operation but hashed and verified as it stands.

The number of rotation keys, names and services is not limited here: the text of the method and the
server disagree, and logs of the wild hold duplicate and empty lists.

Source: did:plc v0.3.0, sections "Operation Serialization, Signing, and Validation" and "Legacy
Operations".
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.data import base32, dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import BadSignature, InvalidData, InvalidKey

DID_CHARACTERS = 24
_PDS = "AtprotoPersonalDataServer"


@dataclass(frozen=True, slots=True)
class Service:
    """Where an account can be reached: `type` and `endpoint` of an entry in `services`."""

    type: str
    endpoint: str


@dataclass(frozen=True, slots=True)
class PLCOperation:
    """An operation, parsed.

    Attributes:
        kind: `plc_operation`, `plc_tombstone` or `create`.
        prev: CID of the operation before as text, or None for the first.
        rotation_keys: did:keys that may sign what follows, strongest first; empty in a tombstone.
        verification_methods: Name (such as `atproto`) to did:key.
        also_known_as: Names, as URIs, the first one first.
        services: Name (such as `atproto_pds`) to service.
        cid: CID of the signed operation.
    """

    kind: str
    prev: str | None
    rotation_keys: tuple[str, ...]
    verification_methods: Mapping[str, str]
    also_known_as: tuple[str, ...]
    services: Mapping[str, Service]
    cid: CID
    _unsigned: bytes = field(repr=False)
    _signature: str = field(repr=False)

    @classmethod
    def parse(cls, value: dag_cbor.Value) -> Self:
        """Read an operation from its JSON form.

        Raises:
            InvalidData: A field is missing or of the wrong type.
        """
        if not isinstance(value, dict):
            raise InvalidData("operation is not a map")
        kind = _text(value, "type")
        if kind == "create":
            value_now = _modernize(value)
        elif kind == "plc_operation":
            value_now = value
        elif kind == "plc_tombstone":
            empty: dict[str, dag_cbor.Value] = {"rotationKeys": [], "alsoKnownAs": []}
            value_now = value | empty | {"verificationMethods": {}, "services": {}}
        else:
            raise InvalidData(f"operation of type {kind[:40]!r}")
        if "prev" not in value:
            raise InvalidData("operation has no prev")
        unsigned = {name: item for name, item in value.items() if name != "sig"}
        return cls(
            kind=kind,
            prev=None if value["prev"] is None else _text(value, "prev"),
            rotation_keys=_texts(value_now, "rotationKeys"),
            verification_methods=_text_map(value_now, "verificationMethods"),
            also_known_as=_texts(value_now, "alsoKnownAs"),
            services=_services(value_now),
            cid=CID.of(dag_cbor.encode(value)),
            _unsigned=dag_cbor.encode(unsigned),
            _signature=_text(value, "sig"),
        )

    @property
    def is_tombstone(self) -> bool:
        """True if this ends the DID."""
        return self.kind == "plc_tombstone"

    def did(self) -> str:
        """DID that this operation makes if it is the first."""
        return f"did:plc:{base32.encode(self.cid.digest)[:DID_CHARACTERS]}"

    def signer(self, keys: Iterable[str]) -> str:
        """Return the first of the did:keys that made the signature.

        Raises:
            BadSignature: None of them did, or the signature is not in its one form.
            InvalidKey: A key that had to be tried is malformed or of a curve not allowed here.
        """
        signature = _decode_signature(self._signature)
        reason = BadSignature("there is no key that may sign")
        for text in keys:
            key = PublicKey.from_did_key(text)
            if not key.is_network_valid:
                raise InvalidKey("rotation keys are of K-256 or P-256")
            try:
                key.verify(self._unsigned, signature)
            except BadSignature as bad:
                reason = bad
            else:
                return text
        raise reason


def _decode_signature(text: str) -> bytes:
    """Read 64 bytes of base64url without padding, spare bits zero."""
    try:
        signature = urlsafe_b64decode(text + "==")
    except (Base64Error, ValueError) as bad:
        raise BadSignature("not base64url", code="encoding") from bad
    written = b64encode(signature, altchars=b"-_").decode().rstrip("=")
    if written != text:  # blanks, padding, the other alphabet, spare bits
        raise BadSignature("not base64url in its one form", code="encoding")
    return signature


def _modernize(value: dict[str, dag_cbor.Value]) -> dict[str, dag_cbor.Value]:
    """Say what a legacy `create` means in fields of today."""
    handle, service = _text(value, "handle"), _text(value, "service")
    signing_key = _text(value, "signingKey")
    for prefix in ("http://", "https://", "at://"):
        handle = handle.removeprefix(prefix)
    if not service.startswith(("http://", "https://")):
        service = f"https://{service}"
    return {
        "rotationKeys": [_text(value, "recoveryKey"), signing_key],
        "verificationMethods": {"atproto": signing_key},
        "alsoKnownAs": [f"at://{handle}"],
        "services": {"atproto_pds": {"type": _PDS, "endpoint": service}},
    }


def _text(value: dict[str, dag_cbor.Value], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        raise InvalidData(f"{name} is not a text")
    return text


def _texts(value: dict[str, dag_cbor.Value], name: str) -> tuple[str, ...]:
    items = value.get(name)
    if not isinstance(items, list):
        raise InvalidData(f"{name} is not a list")
    texts = tuple(item for item in items if isinstance(item, str))
    if len(texts) != len(items):
        raise InvalidData(f"{name} holds something else than texts")
    return texts


def _text_map(value: dict[str, dag_cbor.Value], name: str) -> Mapping[str, str]:
    items = value.get(name)
    if not isinstance(items, dict):
        raise InvalidData(f"{name} is not a map")
    return {key: _text(items, key) for key in items}


def _services(value: dict[str, dag_cbor.Value]) -> Mapping[str, Service]:
    items = value.get("services")
    if not isinstance(items, dict):
        raise InvalidData("services is not a map")
    services = {}
    for name, item in items.items():
        if not isinstance(item, dict):
            raise InvalidData("service is not a map")
        services[name] = Service(_text(item, "type"), _text(item, "endpoint"))
    return services
