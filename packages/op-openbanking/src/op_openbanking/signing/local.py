"""Keys in this process: PEM, PKCS#12 and JWK.

Good for tests, sandboxes and small set-ups; where the key must not be readable by the process, use
one of the other signers. The key is never shown: not in the repr, not in an error.

Source: RFC 7468, RFC 7292, RFC 7517; key sizes from FAPI 1.0 Baseline section 5.2.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_private_key, pkcs12

from op_openbanking.errors import UnusableKey, quoted
from op_openbanking.jose.algorithms import (
    Algorithm,
    PrivateKey,
    check_key,
    default_algorithm,
    key_type,
    sign_with,
)
from op_openbanking.jose.jwk import JWK, decode_member, public_key_from_members
from op_openbanking.jose.strict_json import parse_object

_MAX_JWK_BYTES = 64 * 1024
_HALF = 32


@dataclass(frozen=True, slots=True, repr=False)
class LocalSigner:
    """Signs with a private key held in memory.

    Attributes:
        key: RSA of at least 2048 bits, or EC on P-256.
        alg: PS256 for RSA and ES256 for EC unless chosen; RS256 and RS512 serve HTTP signatures.
        kid: RFC 7638 thumbprint unless chosen.
    """

    key: PrivateKey = field(repr=False)
    alg: Algorithm
    kid: str

    @classmethod
    def from_key(cls, key: object, *, alg: str | None = None, kid: str | None = None) -> Self:
        """Wrap a private key of the `cryptography` library.

        Raises:
            UnusableKey: Another kind of key, too short, or `alg` does not fit it.
        """
        check_key(key)
        if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
            raise UnusableKey("a public key cannot sign")
        chosen = default_algorithm(key) if alg is None else _algorithm(alg)
        if (key_type(chosen) == "RSA") != isinstance(key, rsa.RSAPrivateKey):
            raise UnusableKey(f"{chosen} needs an {key_type(chosen)} key")
        return cls(key, chosen, kid or JWK.from_private_key(key).thumbprint())

    @classmethod
    def from_pem(
        cls,
        pem: bytes,
        *,
        password: bytes | None = None,
        alg: str | None = None,
        kid: str | None = None,
    ) -> Self:
        """Read a PEM private key (PKCS#8, or the older RSA and EC forms).

        Raises:
            UnusableKey: Not PEM, wrong password, or a key that `from_key` refuses.
        """
        try:
            key = load_pem_private_key(pem, password)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            # The library's message may quote the input: it is not carried on.
            raise UnusableKey("not a readable PEM private key, or the password is wrong") from None
        return cls.from_key(key, alg=alg, kid=kid)

    @classmethod
    def from_pkcs12(
        cls,
        octets: bytes,
        *,
        password: bytes | None,
        alg: str | None = None,
        kid: str | None = None,
    ) -> Self:
        """Read the private key of a PKCS#12 file (`.p12`, `.pfx`).

        Raises:
            UnusableKey: Not PKCS#12, wrong password, no key inside, or `from_key` refuses it.
        """
        try:
            key, _, _ = pkcs12.load_key_and_certificates(octets, password)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise UnusableKey("not a readable PKCS#12 file, or the password is wrong") from None
        if key is None:
            raise UnusableKey("the PKCS#12 file holds no private key")
        return cls.from_key(key, alg=alg, kid=kid)

    @classmethod
    def from_jwk(
        cls,
        jwk: bytes | Mapping[str, object],
        *,
        alg: str | None = None,
        kid: str | None = None,
    ) -> Self:
        """Read a private JWK; its own `alg` and `kid` hold unless chosen.

        Raises:
            UnusableKey: Not a private RSA or P-256 JWK, or its parts do not belong together.
        """
        members = (
            parse_object(jwk, what="the JWK", limit_bytes=_MAX_JWK_BYTES)
            if isinstance(jwk, bytes)
            else jwk
        )
        own_alg, own_kid = members.get("alg"), members.get("kid")
        return cls.from_key(
            _private_key(members),
            alg=alg or (own_alg if isinstance(own_alg, str) else None),
            kid=kid or (own_kid if isinstance(own_kid, str) else None),
        )

    @property
    def jwk(self) -> JWK:
        """The public key, as it is published."""
        return JWK.from_private_key(self.key, kid=self.kid, alg=self.alg)

    def sign(self, data: bytes) -> bytes:
        signature = sign_with(self.key, self.alg, data)
        if self.alg is Algorithm.ES256:
            r, s = decode_dss_signature(signature)
            return r.to_bytes(_HALF, "big") + s.to_bytes(_HALF, "big")
        return signature

    def __repr__(self) -> str:
        return f"LocalSigner(alg={self.alg.value!r}, kid={self.kid!r})"


def _algorithm(name: str) -> Algorithm:
    try:
        return Algorithm(name)
    except ValueError:
        raise UnusableKey(
            f"alg {quoted(name)}; signers know {', '.join(sorted(Algorithm))}"
        ) from None


def _private_key(members: Mapping[str, object]) -> PrivateKey:
    public = public_key_from_members(members)
    try:
        if isinstance(public, rsa.RSAPublicKey):
            d, p, q, dp, dq, qi = (
                int.from_bytes(decode_member(members, name), "big")
                for name in ("d", "p", "q", "dp", "dq", "qi")
            )
            return rsa.RSAPrivateNumbers(p, q, d, dp, dq, qi, public.public_numbers()).private_key()
        secret = int.from_bytes(decode_member(members, "d"), "big")
        return ec.EllipticCurvePrivateNumbers(secret, public.public_numbers()).private_key()
    except ValueError:
        raise UnusableKey("the private members of the JWK do not belong to its key") from None
