"""What a signer returned, checked before anybody uses it.

A key service may hand back ECDSA as DER, PSS with the longest salt, or a signature of another
algorithm than configured. Without this check the mistake shows at the bank, as a refusal without a
reason. With the public key the signature is verified; without it its form is.

Source: RFC 7518 sections 3.3 to 3.5; FAPI 1.0 Advanced section 8.6.
"""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key

from op_openbanking.errors import SignerMisbehaved, UnusableKey, quoted
from op_openbanking.jose.algorithms import (
    MAX_RSA_BITS,
    MIN_RSA_BITS,
    Algorithm,
    PublicKey,
    as_public_key,
    default_algorithm,
    is_signature,
    key_type,
)

_ES256_BYTES: Final = 64
_HALF: Final = 32
_SEQUENCE, _INTEGER, _SIGN_BIT = 0x30, 0x02, 0x80
_SHORTEST_DER, _LONGEST_DER = 70, 72


def checked(
    signature: object,
    alg: Algorithm,
    octets: bytes,
    public_key: PublicKey | None = None,
) -> bytes:
    """The signature in JOSE form.

    Args:
        signature: What the signer returned.
        alg: The algorithm asked for.
        octets: What was to be signed.
        public_key: Where known, the signature is verified under it.

    Raises:
        SignerMisbehaved: `check` is `signer-form` (not octets of the right length, or not DER
            where DER was meant) or `signer-signature` (it does not verify: another key, another
            algorithm or another salt length).
    """
    if not isinstance(signature, bytes):
        raise _misbehaved(f"{type(signature).__name__} instead of bytes")
    if alg is Algorithm.ES256:
        form = signature if len(signature) == _ES256_BYTES else raw_from_der(signature)
    else:
        form = signature
        bits = len(signature) * 8
        if not MIN_RSA_BITS <= bits <= MAX_RSA_BITS:
            raise _misbehaved(f"an RSA signature of {bits} bits")
    if public_key is not None and not is_signature(public_key, alg, form, octets):
        raise SignerMisbehaved(
            f"the signature does not verify as {alg}{_diagnosis(form, alg, octets, public_key)}",
            check="signer-signature",
            section="RFC 7518 3.3 to 3.5",
        )
    return form


def choose_algorithm(public_key: PublicKey, alg: str | None) -> Algorithm:
    """The algorithm of a key: the FAPI one of its type unless chosen.

    Raises:
        UnusableKey: `alg` is not known, or needs another type of key.
    """
    if alg is None:
        return default_algorithm(public_key)
    if alg not in frozenset(Algorithm):
        raise UnusableKey(f"alg {quoted(alg)}; signers know {', '.join(sorted(Algorithm))}")
    chosen = Algorithm(alg)
    if (key_type(chosen) == "RSA") != isinstance(public_key, rsa.RSAPublicKey):
        raise UnusableKey(f"{chosen} needs an {key_type(chosen)} key")
    return chosen


def public_key_from_der(der: bytes) -> PublicKey:
    """Read a SubjectPublicKeyInfo in DER, as key services return it.

    Raises:
        UnusableKey: Not one, or a key that `check_key` refuses.
    """
    try:
        key = load_der_public_key(der)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UnusableKey("the key service returned no readable public key") from error
    return as_public_key(key)


def public_key_from_pem(pem: bytes) -> PublicKey:
    """Read a SubjectPublicKeyInfo in PEM, as key services return it.

    Raises:
        UnusableKey: Not one, or a key that `check_key` refuses.
    """
    try:
        key = load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UnusableKey("the key service returned no readable public key") from error
    return as_public_key(key)


def raw_from_der(der: bytes) -> bytes:
    """The r and s, 32 octets each, from an ECDSA signature in DER.

    Raises:
        SignerMisbehaved: Not DER, or numbers beyond P-256.
    """
    usual = _usual_form(der)
    if usual is not None:
        return usual
    try:
        r, s = decode_dss_signature(der)
        return r.to_bytes(_HALF, "big") + s.to_bytes(_HALF, "big")
    except (ValueError, OverflowError) as error:
        raise _misbehaved(
            f"{len(der)} octets that are neither r and s of P-256 nor their DER form"
        ) from error


def _usual_form(der: bytes) -> bytes | None:
    """R and s by their places, without making numbers of them: half the time, measured.

    Serves two numbers of full length, each with or without an octet for the sign; that is 98 of 100
    signatures. None for all others, right or wrong: the library decides there.
    """
    size = len(der)
    if not _SHORTEST_DER <= size <= _LONGEST_DER or der[0] != _SEQUENCE or der[1] != size - 2:
        return None
    if der[3] == _HALF and der[4] < _SIGN_BIT:
        r, place = der[4:36], 36
    elif der[3] == _HALF + 1 and der[4] == 0 and der[5] >= _SIGN_BIT:
        r, place = der[5:37], 37
    else:
        return None
    length, first = der[place + 1], der[place + 2]
    if length != size - place - 2 or der[2] != _INTEGER or der[place] != _INTEGER:
        return None
    if length == _HALF and first < _SIGN_BIT:
        return r + der[place + 2 :]
    if length == _HALF + 1 and first == 0 and der[place + 3] >= _SIGN_BIT:
        return r + der[place + 3 :]
    return None


def _diagnosis(form: bytes, alg: Algorithm, octets: bytes, public_key: PublicKey) -> str:
    """A guess that helps whoever configures the key service."""
    if alg is Algorithm.ES256 or not isinstance(public_key, rsa.RSAPublicKey):
        return ""
    if len(form) * 8 != public_key.key_size:
        return f": {len(form) * 8} bits from a key of {public_key.key_size}"
    for other in (Algorithm.PS256, Algorithm.RS256, Algorithm.RS512):
        if other is not alg and is_signature(public_key, other, form, octets):
            return f": it is {other}"
    return (
        ": another key, or a PSS salt that is not 32 octets long" if alg is Algorithm.PS256 else ""
    )


def _misbehaved(what: str) -> SignerMisbehaved:
    return SignerMisbehaved(
        f"the signer returned {what}", check="signer-form", section="RFC 7518 3.3 to 3.5"
    )
