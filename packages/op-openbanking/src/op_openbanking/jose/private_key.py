"""Private keys read from PEM, PKCS#12 and JWK.

What the underlying library says about a broken input may quote it, so its errors are not carried
on: a refusal says what kind of input was expected, and no more.

Source: RFC 7468, RFC 7292, RFC 7517, RFC 7518 section 6; key sizes from FAPI1-BASE 5.2.2.
"""

from __future__ import annotations

from collections.abc import Mapping

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key, pkcs12

from op_openbanking.errors import ProtocolViolation, UnusableKey

from .algorithms import PrivateKey, check_key
from .jwk import decode_member, public_key_from_members
from .strict_json import parse_object

_MAX_JWK_BYTES = 64 * 1024
_RSA_MEMBERS = ("d", "p", "q", "dp", "dq", "qi")


def as_private_key(key: object) -> PrivateKey:
    """Narrow a key of the `cryptography` library to a usable private key.

    Raises:
        UnusableKey: Public, neither RSA of 2048 to 8192 bits nor EC on P-256.
    """
    check_key(key)
    if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        raise UnusableKey("a public key where a private one belongs")
    return key


def private_key_from_pem(pem: bytes, *, password: bytes | None = None) -> PrivateKey:
    """Read PKCS#8, or the older RSA and EC forms.

    Raises:
        UnusableKey: Not PEM, wrong password, or a key that `as_private_key` refuses.
    """
    try:
        key = load_pem_private_key(pem, password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UnusableKey("not a readable PEM private key, or the password is wrong") from None
    return as_private_key(key)


def private_key_from_pkcs12(octets: bytes, *, password: bytes | None) -> PrivateKey:
    """Read the private key of a PKCS#12 file (`.p12`, `.pfx`).

    Raises:
        UnusableKey: Not PKCS#12, wrong password, no key inside, or `as_private_key` refuses it.
    """
    try:
        key, _, _ = pkcs12.load_key_and_certificates(octets, password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UnusableKey("not a readable PKCS#12 file, or the password is wrong") from None
    if key is None:
        raise UnusableKey("the PKCS#12 file holds no private key")
    return as_private_key(key)


def private_key_from_jwk(members: Mapping[str, object]) -> PrivateKey:
    """Read a private JWK: RSA with its five CRT members, or EC on P-256.

    Raises:
        UnusableKey: A member is missing or wrong, or the parts do not belong together.
    """
    public = public_key_from_members(members)
    try:
        if isinstance(public, rsa.RSAPublicKey):
            d, p, q, dp, dq, qi = (
                int.from_bytes(decode_member(members, name), "big") for name in _RSA_MEMBERS
            )
            numbers = rsa.RSAPrivateNumbers(p, q, d, dp, dq, qi, public.public_numbers())
            return as_private_key(numbers.private_key())
        secret = int.from_bytes(decode_member(members, "d"), "big")
        pair = ec.EllipticCurvePrivateNumbers(secret, public.public_numbers())
        return as_private_key(pair.private_key())
    except ValueError:
        raise UnusableKey("the private members of the JWK do not belong to its key") from None


def jwk_members(octets: bytes) -> dict[str, object]:
    """Members of a JWK in JSON, at most 64 KiB.

    Raises:
        UnusableKey: Not one strict JSON object.
    """
    try:
        return parse_object(octets, what="the JWK", limit_bytes=_MAX_JWK_BYTES)
    except ProtocolViolation as error:
        raise UnusableKey(str(error)) from None
