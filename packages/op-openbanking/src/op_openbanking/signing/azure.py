"""Keys in Azure Key Vault and Managed HSM (extra `azure`).

The digest is sent, never the message. Key Vault answers ECDSA as r and s. Each answer is verified
with the public key that was read once at `open`.

Source: Azure Key Vault REST API, operations Get Key and Sign.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from cryptography.hazmat.primitives.asymmetric import ec, rsa

from op_openbanking.errors import ConfigError, SignerUnavailable, UnusableKey
from op_openbanking.jose.algorithms import Algorithm, PublicKey, as_public_key
from op_openbanking.jose.jwk import JWK

from .checks import checked, choose_algorithm
from .extras import load

_FEATURE = "signing with Azure Key Vault"
_SERVER_ERROR, _TOO_MANY = 500, 429


class CryptographyClient(Protocol):
    """The call of Azure's client of that name that is used."""

    def sign(self, algorithm: Any, digest: bytes) -> Any:  # noqa: ANN401
        """Operation Sign."""
        ...


@dataclass(frozen=True, slots=True)
class AzureKeyVaultSigner:
    """Signs with one version of a Key Vault key.

    Attributes:
        client: Azure's cryptography client for the version.
        key_id: URL of the key version.
        alg: Algorithm.
        kid: Name of the key, as published.
        public_key: Every signature is verified under it.
    """

    client: CryptographyClient = field(repr=False)
    key_id: str
    alg: Algorithm
    kid: str
    public_key: PublicKey = field(repr=False)

    @classmethod
    def open(
        cls,
        vault_url: str,
        name: str,
        *,
        version: str | None = None,
        alg: str | None = None,
        kid: str | None = None,
        credential: object | None = None,
        timeout_s: float = 10.0,
        **options: Any,  # noqa: ANN401 (handed to the client as they are)
    ) -> Self:
        """Read the public key and pin its version.

        Args:
            vault_url: For example `https://NAME.vault.azure.net`.
            name: Name of the key.
            version: Version; the current one unless chosen, and that one from then on.
            alg: PS256 for RSA and ES256 for P-256 unless chosen.
            kid: RFC 7638 thumbprint unless chosen.
            credential: A TokenCredential; else azure-identity's default chain.
            timeout_s: Connect and read time-out of each call.
            **options: Further keyword arguments of Azure's clients, for example `transport`.

        Raises:
            ExtraMissing: azure-keyvault-keys is not installed.
            UnusableKey: Not for signing, too short, wrong curve, or not for `alg`.
            SignerUnavailable: Key Vault did not answer, or refused.
        """
        keys = load("azure.keyvault.keys", extra="azure", feature=_FEATURE)
        crypto = load("azure.keyvault.keys.crypto", extra="azure", feature=_FEATURE)
        if credential is None:
            identity = load("azure.identity", extra="azure", feature=_FEATURE)
            credential = identity.DefaultAzureCredential()
        options = {"connection_timeout": timeout_s, "read_timeout": timeout_s, **options}
        with keys.KeyClient(vault_url, credential, **options) as client:
            found = _call(client.get_key, name, version)
        if "sign" not in found.key_operations:
            raise UnusableKey("the Key Vault key is not for signing")
        public_key = _public_key(found.key)
        chosen = choose_algorithm(public_key, alg)
        return cls(
            crypto.CryptographyClient(found, credential, **options),
            found.id,
            chosen,
            kid or JWK(public_key).thumbprint(),
            public_key,
        )

    @property
    def jwk(self) -> JWK:
        """The public key, as it is published."""
        return JWK(self.public_key, kid=self.kid, use="sig", alg=self.alg)

    def sign(self, data: bytes) -> bytes:
        make = hashlib.sha512 if self.alg is Algorithm.RS512 else hashlib.sha256
        answer = _call(self.client.sign, self.alg.value, make(data).digest())
        return checked(answer.signature, alg=self.alg, octets=data, public_key=self.public_key)

    def close(self) -> None:
        """Close the connections of the client."""
        close = getattr(self.client, "close", None)
        if close is not None:
            close()


def _public_key(jwk: Any) -> PublicKey:  # noqa: ANN401 (untyped library)
    try:
        if jwk.n and jwk.e:
            numbers = rsa.RSAPublicNumbers(
                int.from_bytes(jwk.e, "big"), int.from_bytes(jwk.n, "big")
            )
            return as_public_key(numbers.public_key())
        if jwk.x and jwk.y and jwk.crv == "P-256":
            x, y = int.from_bytes(jwk.x, "big"), int.from_bytes(jwk.y, "big")
            return as_public_key(ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key())
    except ValueError as error:
        raise UnusableKey("the numbers of the Key Vault key are not a valid key") from error
    raise UnusableKey("the Key Vault key is neither RSA nor EC on P-256")


def _call(operation: Any, *arguments: object) -> Any:  # noqa: ANN401 (untyped library)
    errors = load("azure.core.exceptions", extra="azure", feature=_FEATURE)
    try:
        return operation(*arguments)
    except errors.HttpResponseError as error:
        status = error.status_code or 0
        raise SignerUnavailable(
            f"Azure Key Vault refused: HTTP {status}",
            retryable=status >= _SERVER_ERROR or status in (0, _TOO_MANY),
        ) from error
    except errors.AzureError as error:
        raise SignerUnavailable(
            f"Azure Key Vault did not answer: {type(error).__name__}"
        ) from error
    except (ValueError, OSError) as error:  # a vault URL or a CA file that cannot be read
        raise ConfigError(f"Azure Key Vault client: {type(error).__name__}") from error
