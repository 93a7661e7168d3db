"""Signature algorithms, and which key may use which.

| alg   | key              | signature                                             |
|-------|------------------|-------------------------------------------------------|
| PS256 | RSA, >= 2048 bit | RSASSA-PSS, SHA-256, MGF1-SHA-256, salt 32 octets      |
| ES256 | EC P-256         | ECDSA, SHA-256, r and s as 32 octets each             |
| RS256 | RSA, >= 2048 bit | RSASSA-PKCS1-v1_5, SHA-256; never in FAPI              |
| RS512 | RSA, >= 2048 bit | RSASSA-PKCS1-v1_5, SHA-512; HTTP signatures only       |

Source: RFC 7518 section 3; FAPI 1.0 Advanced section 8.6; FAPI 1.0 Baseline section 5.2.2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeAlias, cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature

from op_openbanking.errors import ConfigError, SignatureInvalid, UnusableKey, quoted

PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

MIN_RSA_BITS: Final = 2048
"""FAPI1-BASE 5.2.2."""
MAX_RSA_BITS: Final = 8192
"""Ours: a longer key of a peer costs more to verify than any bank needs."""
_MAX_EXPONENT = 1 << 33

FAPI_SECTION: Final = "FAPI1-ADV 8.6 (PS256 or ES256)"


class Algorithm(StrEnum):
    """A signature algorithm by its JOSE name."""

    PS256 = "PS256"
    ES256 = "ES256"
    RS256 = "RS256"
    RS512 = "RS512"

    # The enumeration's own hash is Python code, felt on the path of every signature.
    __hash__ = str.__hash__


FAPI_ALGORITHMS: Final = frozenset({Algorithm.PS256, Algorithm.ES256})
"""What FAPI 1.0 Advanced section 8.6 leaves."""
JWS_ALGORITHMS: Final = FAPI_ALGORITHMS | {Algorithm.RS256}
"""What a caller outside FAPI may ask of the JWS functions."""

_SHA256 = hashes.SHA256()
_PSS = padding.PSS(mgf=padding.MGF1(_SHA256), salt_length=32)
_PKCS1 = padding.PKCS1v15()
ECDSA_SHA256 = ec.ECDSA(_SHA256)
_ECDSA_PREHASHED = ec.ECDSA(Prehashed(_SHA256))
RSA_FORMS: dict[str, tuple[padding.PSS | padding.PKCS1v15, hashes.HashAlgorithm]] = {
    "PS256": (_PSS, _SHA256),
    "RS256": (_PKCS1, _SHA256),
    "RS512": (_PKCS1, hashes.SHA512()),
}
_ES256_BYTES = 64


def permitted(algorithms: Collection[str]) -> frozenset[Algorithm]:
    """Check a caller's allow-list.

    Raises:
        ConfigError: Empty, or it names an algorithm that JWS functions here never accept.
    """
    if algorithms is FAPI_ALGORITHMS:
        return FAPI_ALGORITHMS
    if isinstance(algorithms, str):
        raise ConfigError("algorithms are a collection of names, not one text")
    return _permitted(algorithms if isinstance(algorithms, tuple) else tuple(algorithms))


@lru_cache(maxsize=64)
def _permitted(algorithms: tuple[str, ...]) -> frozenset[Algorithm]:
    if not algorithms or not frozenset(algorithms) <= JWS_ALGORITHMS:
        raise ConfigError(f"algorithms must be chosen from {', '.join(sorted(JWS_ALGORITHMS))}")
    return frozenset(Algorithm(name) for name in algorithms)


def require(name: object, algorithms: frozenset[Algorithm]) -> str:
    """Match the `alg` of a message with what we chose, and give it back as text.

    Raises:
        SignatureInvalid: The message names another algorithm, for example `none` or `HS256`.
    """
    if isinstance(name, str) and name in algorithms:
        return name
    wanted = " or ".join(sorted(algorithms))
    section = FAPI_SECTION if algorithms <= FAPI_ALGORITHMS else "RFC 8725 3.1 (chosen algorithms)"
    raise SignatureInvalid(
        f"alg {quoted(name)} is not accepted, only {wanted}", check="jws-alg", section=section
    )


def key_type(alg: Algorithm) -> str:
    """The `kty` that an algorithm needs: `RSA` or `EC`."""
    return "EC" if alg is Algorithm.ES256 else "RSA"


def default_algorithm(key: PublicKey | PrivateKey) -> Algorithm:
    """The FAPI algorithm of a key: PS256 for RSA, ES256 for P-256.

    Raises:
        UnusableKey: See `check_key`.
    """
    check_key(key)
    if isinstance(key, rsa.RSAPublicKey | rsa.RSAPrivateKey):
        return Algorithm.PS256
    return Algorithm.ES256


def check_key(key: object) -> None:
    """Check type and size of a public or private key.

    Raises:
        UnusableKey: Neither RSA of 2048 to 8192 bits nor EC on P-256.
    """
    if isinstance(key, rsa.RSAPublicKey | rsa.RSAPrivateKey):
        if not MIN_RSA_BITS <= key.key_size <= MAX_RSA_BITS:
            raise UnusableKey(
                f"RSA key of {key.key_size} bits; {MIN_RSA_BITS} to {MAX_RSA_BITS} are accepted "
                "[FAPI1-BASE 5.2.2]"
            )
        public = key if isinstance(key, rsa.RSAPublicKey) else key.public_key()
        if public.public_numbers().e > _MAX_EXPONENT:
            raise UnusableKey("RSA key with a public exponent above 33 bits")
    elif isinstance(key, ec.EllipticCurvePublicKey | ec.EllipticCurvePrivateKey):
        if not isinstance(key.curve, ec.SECP256R1):
            raise UnusableKey(f"EC key on {key.curve.name}; only P-256 is accepted [RFC 7518 3.4]")
    else:
        raise UnusableKey(f"{type(key).__name__} is neither an RSA nor an EC key")


def as_public_key(key: object) -> PublicKey:
    """Narrow a key of the `cryptography` library to a public key that `check_key` accepts.

    Raises:
        UnusableKey: See `check_key`; or the key is private.
    """
    check_key(key)
    if not isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey):
        raise UnusableKey("a private key where a public one belongs")
    return key


def sign_with(key: PrivateKey, alg: Algorithm, octets: bytes) -> bytes:
    """Sign with a private key of the type that `alg` needs; ES256 comes out as DER.

    The caller has checked key and algorithm: the `isinstance` of an abstract class that a check
    here would cost is felt beside an ECDSA signature. Hashing apart from signing is measured too:
    the library's own digest set-up takes longer.
    """
    if alg is Algorithm.ES256:
        digest = hashlib.sha256(octets).digest()
        return cast("ec.EllipticCurvePrivateKey", key).sign(digest, _ECDSA_PREHASHED)
    form, hashing = RSA_FORMS[alg]
    return cast("rsa.RSAPrivateKey", key).sign(octets, form, hashing)


def is_signature(key: PublicKey, alg: str, signature: bytes, octets: bytes) -> bool:
    """Whether `signature` in JOSE form is that of `octets` under `key`; never raises."""
    try:
        if isinstance(key, rsa.RSAPublicKey):
            form = RSA_FORMS.get(alg)
            if form is None:
                return False
            key.verify(signature, octets, form[0], form[1])
        elif alg == "ES256" and len(signature) == _ES256_BYTES:
            key.verify(der_from_raw(signature), octets, ECDSA_SHA256)
        else:
            return False
    except InvalidSignature:
        return False
    return True


def der_from_raw(signature: bytes) -> bytes:
    """The DER form of r and s, 32 octets each."""
    half = _ES256_BYTES // 2
    return encode_dss_signature(
        int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
    )
