"""Operations of did:plc made and signed: a new identity, a change, an end, a recovery.

Nothing is sent here: an operation is the JSON map to POST to the directory at `/DID`.

Source: did:plc v0.3.0, "Operation Serialization, Signing, and Validation"; limits of the reference
server, reference section 11.2.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Final

from smart_byte_atproto.crypto import PrivateKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import NotEncodable
from smart_byte_atproto.syntax import DID

from .plc_operation import PLCOperation, Service

MAX_BYTES: Final = 4000
"""Longest signed operation that the server takes, DAG-CBOR."""
_MOST: Final = 10
"""Names, services and keys that the server takes."""
_MOST_ROTATION_KEYS: Final = 5


def sign(fields: Mapping[str, Value], key: PrivateKey) -> dict[str, Value]:
    """Return an operation with its signature; one that it has is replaced.

    Args:
        fields: The operation as JSON.
        key: One of the rotation keys that may sign it.

    Raises:
        NotEncodable: A key of another curve than K-256 and P-256, or an operation too long.
    """
    if not key.public_key.is_network_valid:
        raise NotEncodable("rotation keys are of K-256 or P-256")
    unsigned: dict[str, Value] = {name: value for name, value in fields.items() if name != "sig"}
    signature = key.sign(dag_cbor.encode(unsigned))
    signed = {**unsigned, "sig": urlsafe_b64encode(signature).decode().rstrip("=")}
    size = len(dag_cbor.encode(signed))
    if size > MAX_BYTES:
        raise NotEncodable(f"an operation of {size} bytes, {MAX_BYTES} are taken")
    return signed


def genesis(
    *,
    rotation_keys: Sequence[str],
    signing_key: str,
    handle: str,
    pds: str,
    key: PrivateKey,
) -> tuple[DID, dict[str, Value]]:
    """Return a new identity and the operation that makes it.

    Args:
        rotation_keys: did:keys that may change it, strongest first, 1 to 5.
        signing_key: did:key that signs the repository.
        handle: Its name.
        pds: Origin of its server.
        key: One of the rotation keys.

    Raises:
        NotEncodable: The lists break a limit, or `key` is none of them.
    """
    fields = _fields(
        rotation_keys,
        {"atproto": signing_key},
        [f"at://{handle}"],
        {"atproto_pds": Service("AtprotoPersonalDataServer", pds)},
        None,
    )
    signed = _signed_by_one_of(fields, key, rotation_keys)
    return DID(PLCOperation.parse(signed).did()), signed


def change(
    previous: PLCOperation,
    key: PrivateKey,
    *,
    rotation_keys: Sequence[str] | None = None,
    verification_methods: Mapping[str, str] | None = None,
    also_known_as: Sequence[str] | None = None,
    services: Mapping[str, Service] | None = None,
) -> dict[str, Value]:
    """Return the operation that follows another; what is not named stays as it is.

    To recover, `previous` is the operation before the one that is undone, and `key` is stronger
    than the key that signed that.

    Raises:
        NotEncodable: The lists break a limit, `key` may not sign, or `previous` ended the DID.
    """
    if previous.is_tombstone:
        raise NotEncodable("nothing follows the end of a DID; recover from before it")
    fields = _fields(
        previous.rotation_keys if rotation_keys is None else rotation_keys,
        previous.verification_methods if verification_methods is None else verification_methods,
        previous.also_known_as if also_known_as is None else also_known_as,
        previous.services if services is None else services,
        str(previous.cid),
    )
    return _signed_by_one_of(fields, key, previous.rotation_keys)


def tombstone(previous: PLCOperation, key: PrivateKey) -> dict[str, Value]:
    """Return the operation that ends a DID.

    Raises:
        NotEncodable: `key` may not sign, or it has ended already.
    """
    if previous.is_tombstone:
        raise NotEncodable("the DID has ended already")
    fields: dict[str, Value] = {"type": "plc_tombstone", "prev": str(previous.cid)}
    return _signed_by_one_of(fields, key, previous.rotation_keys)


def _fields(
    rotation_keys: Sequence[str],
    verification_methods: Mapping[str, str],
    also_known_as: Sequence[str],
    services: Mapping[str, Service],
    prev: str | None,
) -> dict[str, Value]:
    if not 1 <= len(rotation_keys) <= _MOST_ROTATION_KEYS:
        raise NotEncodable(f"{len(rotation_keys)} rotation keys; 1 to 5 are taken")
    for what, several in (
        ("rotation keys", rotation_keys),
        ("names", also_known_as),
        ("services", list(services)),
        ("keys", list(verification_methods)),
    ):
        if len(several) > _MOST or len(set(several)) != len(several):
            raise NotEncodable(f"{what}: more than {_MOST}, or one twice")
    return {
        "type": "plc_operation",
        "rotationKeys": list(rotation_keys),
        "verificationMethods": dict(verification_methods),
        "alsoKnownAs": list(also_known_as),
        "services": {
            name: {"type": service.type, "endpoint": service.endpoint}
            for name, service in services.items()
        },
        "prev": prev,
    }


def _signed_by_one_of(
    fields: Mapping[str, Value], key: PrivateKey, allowed: Sequence[str]
) -> dict[str, Value]:
    if key.public_key.did_key not in allowed:
        raise NotEncodable("the key is none of the rotation keys that may sign this")
    return sign(fields, key)
