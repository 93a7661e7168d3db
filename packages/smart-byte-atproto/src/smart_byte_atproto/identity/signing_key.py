"""The signing key of an account, from its DID document.

Documents from the wild may lack lists and hold extra fields: only what is needed is looked at.

Source: AT Protocol, DID; reference section 10.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.errors import InvalidDocument, InvalidKey

FRAGMENT = "#atproto"


def signing_key(
    document: Mapping[str, object], *, did: str | None = None, fragment: str = FRAGMENT
) -> PublicKey:
    """Return the key of the first verificationMethod whose id ends in `#atproto`, or another.

    Args:
        document: The DID document as parsed JSON.
        did: DID that the document has to be of, where known.
        fragment: End of the key's id.

    Raises:
        InvalidDocument: `form`, `id` (another DID), `key-missing`, or `key` (malformed key).
    """
    subject = document.get("id")
    if not isinstance(subject, str):
        raise InvalidDocument("form", "id is not a string")
    if did is not None and subject != did:
        raise InvalidDocument("id", f"document is of {subject[:100]}, not of {did[:100]}")
    methods = document.get("verificationMethod", [])
    if not isinstance(methods, list):
        raise InvalidDocument("form", "verificationMethod is not a list")
    names = (fragment, subject + fragment)  # ids may be of any type: no hashing
    for method in methods:
        if not isinstance(method, Mapping) or method.get("id") not in names:
            continue
        suite, text = method.get("type"), method.get("publicKeyMultibase")
        if method.get("controller", subject) != subject:
            raise InvalidDocument("key", "the signing key has another controller")
        if not isinstance(suite, str) or not isinstance(text, str):
            raise InvalidDocument("key", "the signing key has no type or no publicKeyMultibase")
        try:
            return PublicKey.from_verification_method(suite, text)
        except InvalidKey as error:
            raise InvalidDocument("key", error.reason) from error
    raise InvalidDocument(
        "key-missing", f"no verificationMethod with an id that ends in {fragment}"
    )
