"""Half hashes of OpenID Connect, certificate thumbprints and key thumbprints.

Source: OpenID Connect Core 3.3.2.11 (c_hash, at_hash); FAPI 1.0 Advanced 5.1.1 (s_hash);
RFC 7515 section 4.1.8 and RFC 8705 section 3.1 (x5t#S256); RFC 7638 (JWK thumbprint).
"""

from __future__ import annotations

import hashlib
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from op_openbanking.errors import ConfigError, UnusableKey

from . import base64url
from .strict_json import encode_object

X5T_S256_CHARS: Final = 43
"""Letters of base64url of 32 octets."""

_HALF = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}


def half_hash(value: str, *, alg: str = "PS256") -> str:
    """Base64url of the left half of the hash of ASCII text.

    Args:
        value: A state, code or access token: ASCII.
        alg: The `alg` of the id_token; its last three digits name the hash. For PS256 and ES256
            the result has 22 letters (16 octets).

    Raises:
        ConfigError: The value is not ASCII, or `alg` names no hash.
    """
    make = _HALF.get(alg[-3:])
    if make is None or not value.isascii():
        raise ConfigError("a half hash needs ASCII text and an alg that ends in 256, 384 or 512")
    digest = make(value.encode("ascii")).digest()
    return base64url.encode(digest[: len(digest) // 2]).decode("ascii")


def s_hash(state: str, *, alg: str = "PS256") -> str:
    """Hash of the state, as the id_token of a hybrid answer carries it."""
    return half_hash(state, alg=alg)


def c_hash(code: str, *, alg: str = "PS256") -> str:
    """Hash of the authorization code, as the id_token of a hybrid answer carries it."""
    return half_hash(code, alg=alg)


def at_hash(access_token: str, *, alg: str = "PS256") -> str:
    """Hash of the access token, as the id_token of a token answer may carry it."""
    return half_hash(access_token, alg=alg)


def x5t_s256(certificate: bytes | x509.Certificate) -> str:
    """SHA-256 thumbprint of a certificate: 43 letters of base64url.

    Args:
        certificate: DER octets or a parsed certificate. PEM text is refused: its hash is a
            well-known wrong answer.

    Raises:
        UnusableKey: The octets are no DER certificate.
    """
    der = certificate if isinstance(certificate, bytes) else certificate.public_bytes(Encoding.DER)
    if not der.startswith(b"\x30"):
        raise UnusableKey("x5t#S256 is computed over DER; these octets are not DER")
    return sha256_base64url(der)


def sha256_base64url(octets: bytes) -> str:
    """SHA-256 in base64url: 43 letters. PKCE's S256 and RFC 7638 use it too."""
    return base64url.encode(hashlib.sha256(octets).digest()).decode("ascii")


def jwk_thumbprint(required: dict[str, str]) -> str:
    """RFC 7638 thumbprint from the required members of a public key, for example e, kty, n."""
    return sha256_base64url(encode_object(dict(sorted(required.items()))))
