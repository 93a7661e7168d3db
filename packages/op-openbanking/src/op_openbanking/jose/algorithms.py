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
from typing import Final, TypeAlias, assert_never

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


FAPI_ALGORITHMS: Final = frozenset({Algorithm.PS256, Algorithm.ES256})
"""What FAPI 1.0 Advanced section 8.6 leaves."""
JWS_ALGORITHMS: Final = FAPI_ALGORITHMS | {Algorithm.RS256}
"""What a caller outside FAPI may ask of the JWS functions."""

_SHA256 = hashes.SHA256()
_PREHASHED_256 = Prehashed(_SHA256)
_PREHASHED_512 = Prehashed(hashes.SHA512())
_PSS = padding.PSS(mgf=padding.MGF1(_SHA256), salt_length=32)
_PKCS1 = padding.PKCS1v15()
_ECDSA = ec.ECDSA(_PREHASHED_256)


def permitted(algorithms: Collection[str]) -> frozenset[Algorithm]:
    """Check a caller's allow-list.

    Raises:
        ConfigError: Empty, or it names an algorithm that JWS functions here never accept.
    """
    if algorithms is FAPI_ALGORITHMS:
        return FAPI_ALGORITHMS
    try:
        chosen = frozenset(Algorithm(name) for name in algorithms)
    except ValueError:
        chosen = frozenset()
    if not chosen or isinstance(algorithms, str) or not chosen <= JWS_ALGORITHMS:
        raise ConfigError(f"algorithms must be chosen from {', '.join(sorted(JWS_ALGORITHMS))}")
    return chosen


def require(name: object, algorithms: frozenset[Algorithm]) -> Algorithm:
    """Match the `alg` of a message against what we chose.

    Raises:
        SignatureInvalid: The message names another algorithm, for example `none` or `HS256`.
    """
    if isinstance(name, str) and name in algorithms:
        return Algorithm(name)
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
    """Sign with a private key that fits `alg`; ES256 comes out as DER.

    Hashing apart from signing is measured: OpenSSL's own digest set-up costs microseconds more.
    """
    if isinstance(key, rsa.RSAPrivateKey):
        if alg is Algorithm.PS256:
            return key.sign(hashlib.sha256(octets).digest(), _PSS, _PREHASHED_256)
        if alg is Algorithm.RS256:
            return key.sign(hashlib.sha256(octets).digest(), _PKCS1, _PREHASHED_256)
        if alg is Algorithm.RS512:
            return key.sign(hashlib.sha512(octets).digest(), _PKCS1, _PREHASHED_512)
    elif alg is Algorithm.ES256:
        return key.sign(hashlib.sha256(octets).digest(), _ECDSA)
    raise UnusableKey(f"{alg} needs another kind of key")


def is_signature(key: PublicKey, alg: Algorithm, signature: bytes, octets: bytes) -> bool:
    """Whether `signature` in JOSE form is that of `octets` under `key`; never raises."""
    try:
        if isinstance(key, rsa.RSAPublicKey):
            match alg:
                case Algorithm.PS256:
                    digest = hashlib.sha256(octets).digest()
                    key.verify(signature, digest, _PSS, _PREHASHED_256)
                case Algorithm.RS256:
                    digest = hashlib.sha256(octets).digest()
                    key.verify(signature, digest, _PKCS1, _PREHASHED_256)
                case Algorithm.RS512:
                    digest = hashlib.sha512(octets).digest()
                    key.verify(signature, digest, _PKCS1, _PREHASHED_512)
                case Algorithm.ES256:
                    return False
                case _:
                    assert_never(alg)
        else:
            if alg is not Algorithm.ES256 or len(signature) != 64:  # noqa: PLR2004 (RFC 7518 3.4)
                return False
            der = encode_dss_signature(
                int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
            )
            key.verify(der, hashlib.sha256(octets).digest(), _ECDSA)
    except InvalidSignature:
        return False
    return True
