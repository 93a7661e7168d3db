"""Keys in this process: PEM, PKCS#12 and JWK.

Good for tests, sandboxes and small set-ups; where the key must not be readable by the process, use
one of the other signers. The key is never shown: not in the repr, not in an error.

Source: RFC 7468, RFC 7292, RFC 7517; key sizes from FAPI 1.0 Baseline section 5.2.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from op_openbanking.jose.algorithms import (
    Algorithm,
    PrivateKey,
    sign_with,
)
from op_openbanking.jose.jwk import JWK
from op_openbanking.jose.private_key import (
    as_private_key,
    jwk_members,
    private_key_from_jwk,
    private_key_from_pem,
    private_key_from_pkcs12,
)

from .checks import choose_algorithm, raw_from_der


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
    public_key: ClassVar[None] = None  # what this process signed is not verified once more

    def __post_init__(self) -> None:
        choose_algorithm(as_private_key(self.key).public_key(), self.alg)

    @classmethod
    def from_key(cls, key: object, *, alg: str | None = None, kid: str | None = None) -> Self:
        """Wrap a private key of the `cryptography` library.

        Raises:
            UnusableKey: Another kind of key, too short, or `alg` does not fit it.
        """
        private = as_private_key(key)
        jwk = JWK.from_private_key(private)
        chosen = choose_algorithm(jwk.public_key, alg)
        return cls(private, chosen, kid or jwk.thumbprint())

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
        return cls.from_key(private_key_from_pem(pem, password=password), alg=alg, kid=kid)

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
        key = private_key_from_pkcs12(octets, password=password)
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
        members = jwk_members(jwk) if isinstance(jwk, bytes) else jwk
        own_alg, own_kid = members.get("alg"), members.get("kid")
        return cls.from_key(
            private_key_from_jwk(members),
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
            return raw_from_der(signature)
        return signature

    def __repr__(self) -> str:
        return f"LocalSigner(alg={self.alg.value!r}, kid={self.kid!r})"
