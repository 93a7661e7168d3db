"""Keys in Google Cloud KMS (extra `gcp`).

The digest is sent, never the message. A key version fixes the algorithm; it must be the one asked
for. Google answers ECDSA in DER, which becomes r and s; each answer is verified with the public key
that was read once at `open`.

Source: Cloud KMS API v1, GetPublicKey and AsymmetricSign; the PSS algorithms have a salt as long as
the hash.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from op_openbanking.errors import SignerUnavailable, UnusableKey
from op_openbanking.jose.algorithms import Algorithm, PublicKey
from op_openbanking.jose.jwk import JWK

from .checks import checked, choose_algorithm, public_key_from_pem
from .extras import load

_FEATURE = "signing with Google Cloud KMS"
_FAMILIES = {
    Algorithm.PS256: ("RSA_SIGN_PSS_", "_SHA256"),
    Algorithm.ES256: ("EC_SIGN_P256_", "SHA256"),
    Algorithm.RS256: ("RSA_SIGN_PKCS1_", "_SHA256"),
    Algorithm.RS512: ("RSA_SIGN_PKCS1_", "_SHA512"),
}


class KMSClient(Protocol):
    """The two calls of a `KeyManagementServiceClient` that are used."""

    def get_public_key(self, request: Any, *, retry: None, timeout: float) -> Any:  # noqa: ANN401
        """Method GetPublicKey."""
        ...

    def asymmetric_sign(self, request: Any, *, retry: None, timeout: float) -> Any:  # noqa: ANN401
        """Method AsymmetricSign."""
        ...


@dataclass(frozen=True, slots=True)
class GCPKMSSigner:
    """Signs with one version of an asymmetric key.

    Attributes:
        client: A `KeyManagementServiceClient`; it may be called from several threads.
        version: Resource name `projects/.../cryptoKeyVersions/N`.
        alg: Algorithm of the version.
        kid: Name of the key, as published.
        public_key: Every signature is verified under it.
        timeout_s: Of each call.
    """

    client: KMSClient = field(repr=False)
    version: str
    alg: Algorithm
    kid: str
    public_key: PublicKey = field(repr=False)
    timeout_s: float = 10.0

    @classmethod
    def open(
        cls,
        version: str,
        *,
        alg: str | None = None,
        kid: str | None = None,
        client: KMSClient | None = None,
        timeout_s: float = 10.0,
    ) -> Self:
        """Read the public key and check that the version signs with `alg`.

        Args:
            version: Resource name `projects/.../cryptoKeyVersions/N`.
            alg: PS256 for RSA and ES256 for P-256 unless chosen.
            kid: RFC 7638 thumbprint unless chosen.
            client: A client of your own making; else one is made with the usual credentials.
            timeout_s: Of each call.

        Raises:
            ExtraMissing: google-cloud-kms is not installed.
            UnusableKey: Too short, or the version is for another algorithm.
            SignerUnavailable: The service did not answer, or refused.
        """
        library = load("google.cloud.kms_v1", extra="gcp", feature=_FEATURE)
        made = client or library.KeyManagementServiceClient()
        answer = _call(made.get_public_key, {"name": version}, timeout_s)
        public_key = public_key_from_pem(answer.pem.encode("utf-8"))
        chosen = choose_algorithm(public_key, alg)
        start, end = _FAMILIES[chosen]
        name = answer.algorithm.name
        if not (name.startswith(start) and name.endswith(end)):
            raise UnusableKey(f"the key version is for {name}, not {chosen}")
        named = kid or JWK(public_key).thumbprint()
        return cls(made, version, chosen, named, public_key, timeout_s)

    @property
    def jwk(self) -> JWK:
        """The public key, as it is published."""
        return JWK(self.public_key, kid=self.kid, use="sig", alg=self.alg)

    def sign(self, data: bytes) -> bytes:
        digest = (
            {"sha512": hashlib.sha512(data).digest()}
            if self.alg is Algorithm.RS512
            else {"sha256": hashlib.sha256(data).digest()}
        )
        request = {"name": self.version, "digest": digest}
        answer = _call(self.client.asymmetric_sign, request, self.timeout_s)
        return checked(answer.signature, alg=self.alg, octets=data, public_key=self.public_key)


def _call(method: Any, request: object, timeout_s: float) -> Any:  # noqa: ANN401 (untyped library)
    errors = load("google.api_core.exceptions", extra="gcp", feature=_FEATURE)
    auth = load("google.auth.exceptions", extra="gcp", feature=_FEATURE)
    try:
        # No retries of the client's own: they would go on for a minute, whatever the time-out.
        return method(request, retry=None, timeout=timeout_s)
    except errors.GoogleAPICallError as error:
        retryable = isinstance(error, errors.ServerError | errors.TooManyRequests)
        raise SignerUnavailable(
            f"Google Cloud KMS refused: {type(error).__name__}", retryable=retryable
        ) from error
    except (errors.RetryError, auth.TransportError) as error:
        raise SignerUnavailable("Google Cloud KMS did not answer") from error
    except auth.GoogleAuthError as error:
        raise SignerUnavailable(
            f"no access to Google Cloud KMS: {type(error).__name__}", retryable=False
        ) from error
