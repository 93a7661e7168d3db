"""Compact JSON Web Encryption, where a standard asks for it (CDR id_tokens, Myinfo, requests).

The cryptography is joserfc's (extra `jwe`); the rules are ours: the caller chooses algorithms,
RSA1_5 and password-based forms are never among them, compression is refused, sizes are bounded, and
the header is read strictly. Nested tokens: decrypt here, then verify the signature inside.

Source: RFC 7516, RFC 7518 sections 4 and 5; FAPI 1.0 Advanced section 8.6.1.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any, Final

from op_openbanking.errors import (
    ConfigError,
    ExtraMissing,
    KeyNotFound,
    ProtocolViolation,
    TokenInvalid,
    quoted,
)

from . import base64url
from .algorithms import PrivateKey
from .jwk import JWK
from .private_key import private_key_from_jwk, private_key_from_pem
from .strict_json import parse_object

KEY_ALGORITHMS: Final = frozenset(
    {"RSA-OAEP", "RSA-OAEP-256", "ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A256KW"}
)
"""Key management that may be asked for; RSA1_5 is refused by FAPI1-ADV 8.6.1."""
ENCRYPTIONS: Final = frozenset({"A128GCM", "A256GCM", "A128CBC-HS256", "A256CBC-HS512"})
"""Content encryption that may be asked for."""
MAX_TOKEN_CHARS: Final = 64 * 1024
"""Ours: longest compact JWE read."""
_MAX_HEADER_BYTES = 1024
_PARTS = 5
_SECTION = "FAPI1-ADV 8.6.1 (no RSA1_5)"


@dataclass(frozen=True, slots=True, repr=False)
class DecryptionKey:
    """A private key that tokens are encrypted to.

    Attributes:
        key: RSA of at least 2048 bits, or EC on P-256.
        kid: Its name in our published JWKS; a token that names another kid is refused.
    """

    key: PrivateKey = field(repr=False)
    kid: str

    @classmethod
    def from_pem(
        cls, pem: bytes, *, password: bytes | None = None, kid: str | None = None
    ) -> DecryptionKey:
        """Read a PEM private key; kid defaults to the RFC 7638 thumbprint."""
        key = private_key_from_pem(pem, password=password)
        return cls(key, kid or JWK.from_private_key(key).thumbprint())

    @classmethod
    def from_jwk(cls, members: Mapping[str, object]) -> DecryptionKey:
        """Take a private JWK; its own kid holds, else the thumbprint."""
        key = private_key_from_jwk(members)
        kid = members.get("kid")
        named = kid if isinstance(kid, str) else JWK.from_private_key(key).thumbprint()
        return cls(key, named)

    def __repr__(self) -> str:
        return f"DecryptionKey(kid={self.kid!r})"


@dataclass(frozen=True, slots=True)
class DecryptedJWE:
    """What was inside.

    Attributes:
        header: The protected header; read-only.
        plaintext: The octets.
    """

    header: Mapping[str, object]
    plaintext: bytes = field(repr=False)


def is_encrypted(token: str) -> bool:
    """Whether a compact token has the five parts of a JWE."""
    return token.count(".") == _PARTS - 1


def encrypt_compact(
    plaintext: bytes, recipient: JWK, *, alg: str, enc: str, cty: str | None = None
) -> str:
    """Encrypt octets to a public key.

    Args:
        plaintext: The octets, for example a signed JWT.
        recipient: Key of the bank, for use `enc`.
        alg: One of `KEY_ALGORITHMS`.
        enc: One of `ENCRYPTIONS`.
        cty: `JWT` for a nested token.

    Raises:
        ConfigError: `alg` or `enc` is not allowed, or the key does not fit.
        ExtraMissing: The extra `jwe` is not installed.
    """
    _permitted((alg,), KEY_ALGORITHMS, "alg")
    _permitted((enc,), ENCRYPTIONS, "enc")
    if not recipient.fits(alg, use="enc"):
        raise ConfigError(f"the key of the recipient is not for {alg}")
    header = {"alg": alg, "enc": enc}
    header.update({name: v for name, v in (("kid", recipient.kid), ("cty", cty)) if v is not None})
    jwe, jwk, _ = _joserfc()
    key = _import_key(jwk, recipient.public_key, recipient.kty)
    token: str = jwe.encrypt_compact(header, plaintext, key, registry=_registry(jwe, {alg}, {enc}))
    return token


def decrypt_compact(
    token: str,
    keys: DecryptionKey | Collection[DecryptionKey],
    *,
    algorithms: Collection[str],
    encryptions: Collection[str],
) -> DecryptedJWE:
    """Decrypt a compact JWE.

    Args:
        token: Five parts of base64url; at most 64 Ki letters.
        keys: Our private keys. A kid in the header selects; without one, a single key is used.
        algorithms: Accepted `alg`, as registered with the bank.
        encryptions: Accepted `enc`.

    Raises:
        TokenInvalid: Form, algorithm, compression or authentication tag; `check` says which.
        KeyNotFound: The kid is not ours, or there is none and several keys.
        ConfigError: An algorithm asked for is not allowed.
        ExtraMissing: The extra `jwe` is not installed.
    """
    allowed = _permitted(algorithms, KEY_ALGORITHMS, "alg")
    contents = _permitted(encryptions, ENCRYPTIONS, "enc")
    header = _read_header(token)
    for name, accepted in (("alg", allowed), ("enc", contents)):
        value = header.get(name)
        if not isinstance(value, str) or value not in accepted:
            raise TokenInvalid(
                f"{name} {quoted(value)} is not accepted",
                check=f"jwe-{name}",
                section=_SECTION,
            )
    if "zip" in header or "crit" in header:
        raise TokenInvalid(
            "compression and critical extensions are not accepted",
            check="jwe-zip",
            section="RFC 8725 3.6",
        )
    own = _select(keys, header.get("kid"))
    jwe, jwk, errors = _joserfc()
    try:
        key = _import_key(jwk, own.key, _kty(own))
        done = jwe.decrypt_compact(token, key, registry=_registry(jwe, allowed, contents))
    except (errors.JoseError, ValueError, TypeError, KeyError) as error:
        # One message for every failure: a difference would serve as an oracle.
        raise TokenInvalid(
            "the token does not decrypt", check="jwe-decrypt", section="RFC 7516 5.2"
        ) from error
    return DecryptedJWE(MappingProxyType(header), bytes(done.plaintext))


def _read_header(token: str) -> dict[str, object]:
    if len(token) > MAX_TOKEN_CHARS or not token.isascii() or not is_encrypted(token):
        raise _malformed(f"not five parts of at most {MAX_TOKEN_CHARS} letters")
    try:
        parts = token.encode("ascii").split(b".")
        octets = [base64url.decode(part, "a part") for part in parts]
        return parse_object(octets[0], what="the header", limit_bytes=_MAX_HEADER_BYTES)
    except ProtocolViolation as error:
        raise _malformed(error) from error


def _malformed(problem: object) -> TokenInvalid:
    return TokenInvalid(f"not a compact JWE: {problem}", check="jwe-form", section="RFC 7516 7.1")


def _select(keys: DecryptionKey | Collection[DecryptionKey], kid: object) -> DecryptionKey:
    ours = [keys] if isinstance(keys, DecryptionKey) else list(keys)
    named = ours if kid is None else [key for key in ours if key.kid == kid]
    if len(named) != 1:
        problem = "no kid, and several keys of ours" if kid is None else f"kid {quoted(kid)}"
        raise KeyNotFound(
            f"{problem}: no key of ours to decrypt with", check="jwe-kid", section="RFC 7516 4.1.6"
        )
    return named[0]


def _permitted(names: Collection[str], known: frozenset[str], what: str) -> frozenset[str]:
    chosen = frozenset(names)
    if not chosen or isinstance(names, str) or not chosen <= known:
        raise ConfigError(f"{what} must be chosen from {', '.join(sorted(known))}")
    return chosen


def _joserfc() -> tuple[ModuleType, ModuleType, ModuleType]:
    try:
        return (
            importlib.import_module("joserfc.jwe"),
            importlib.import_module("joserfc.jwk"),
            importlib.import_module("joserfc.errors"),
        )
    except ImportError as error:
        raise ExtraMissing("JSON Web Encryption", extra="jwe") from error


def _kty(own: DecryptionKey) -> str:
    return JWK.from_private_key(own.key).kty


def _import_key(jwk: ModuleType, key: object, kty: str) -> Any:  # noqa: ANN401 (joserfc's types)
    return (jwk.RSAKey if kty == "RSA" else jwk.ECKey).import_key(key)


def _registry(jwe: ModuleType, algs: Collection[str], encs: Collection[str]) -> Any:  # noqa: ANN401
    return jwe.JWERegistry(algorithms=[*sorted(algs), *sorted(encs)])
