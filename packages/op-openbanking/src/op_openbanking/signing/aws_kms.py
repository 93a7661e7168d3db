"""Keys in AWS KMS (extra `aws`).

The digest is sent, not the message, unless `sends_message` asks for it. KMS answers ECDSA in DER,
which becomes r and s; each answer is verified with the public key that was read once at `open`.

Source: AWS KMS API, actions GetPublicKey and Sign; `RSASSA_PSS_SHA_256` has a salt of 32 octets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from op_openbanking.errors import ConfigError, SignerUnavailable, UnusableKey
from op_openbanking.jose.algorithms import Algorithm, PublicKey
from op_openbanking.jose.jwk import JWK

from .checks import checked, choose_algorithm, public_key_from_der
from .extras import load

_FEATURE = "signing with AWS KMS"
_NAMES = {
    Algorithm.PS256: "RSASSA_PSS_SHA_256",
    Algorithm.ES256: "ECDSA_SHA_256",
    Algorithm.RS256: "RSASSA_PKCS1_V1_5_SHA_256",
    Algorithm.RS512: "RSASSA_PKCS1_V1_5_SHA_512",
}
_MAX_MESSAGE_BYTES = 4096
_RETRYABLE = frozenset(
    {
        "DependencyTimeoutException",
        "KMSInternalException",
        "KeyUnavailableException",
        "LimitExceededException",
        "ThrottlingException",
    }
)


class KMSClient(Protocol):
    """The two calls of a boto3 KMS client that are used."""

    def get_public_key(self, *, KeyId: str) -> Mapping[str, Any]:  # noqa: N803 (AWS's name)
        """Action GetPublicKey."""
        ...

    def sign(
        self,
        *,
        KeyId: str,  # noqa: N803
        Message: bytes,  # noqa: N803
        MessageType: str,  # noqa: N803
        SigningAlgorithm: str,  # noqa: N803
    ) -> Mapping[str, Any]:
        """Action Sign."""
        ...


@dataclass(frozen=True, slots=True)
class AWSKMSSigner:
    """Signs with an asymmetric KMS key.

    Attributes:
        client: A boto3 KMS client; it may be called from several threads.
        key_id: Key id, ARN or alias.
        alg: Algorithm.
        kid: Name of the key, as published.
        public_key: Every signature is verified under it.
        sends_message: Send the message itself (MessageType RAW), at most 4096 octets.
    """

    client: KMSClient = field(repr=False)
    key_id: str
    alg: Algorithm
    kid: str
    public_key: PublicKey = field(repr=False)
    sends_message: bool = False

    @classmethod
    def open(
        cls,
        key_id: str,
        *,
        alg: str | None = None,
        kid: str | None = None,
        client: KMSClient | None = None,
        region: str | None = None,
        timeout_s: float = 10.0,
        sends_message: bool = False,
    ) -> Self:
        """Read the public key and check that it can sign with `alg`.

        Args:
            key_id: Key id, ARN or alias. An alias may come to mean another key; then signatures
                are refused until the signer is opened again.
            alg: PS256 for RSA and ES256 for P-256 unless chosen.
            kid: RFC 7638 thumbprint unless chosen.
            client: A boto3 client of your own making; else one is made with the usual credentials.
            region: AWS region of a client made here.
            timeout_s: Connect and read time-out of a client made here.
            sends_message: Send messages instead of digests, for key policies that demand
                MessageType RAW; then messages above 4096 octets cannot be signed.

        Raises:
            ExtraMissing: boto3 is not installed.
            UnusableKey: Not for signing, too short, or not for `alg`.
            SignerUnavailable: KMS did not answer, or refused.
        """
        made = client or _make_client(region=region, timeout_s=timeout_s)
        answer = _call(made.get_public_key, KeyId=key_id)
        if answer.get("KeyUsage") != "SIGN_VERIFY":
            raise UnusableKey(f"KMS key usage is {answer.get('KeyUsage')}, not SIGN_VERIFY")
        public_key = public_key_from_der(answer["PublicKey"])
        chosen = choose_algorithm(public_key, alg)
        if _NAMES[chosen] not in answer.get("SigningAlgorithms", ()):
            raise UnusableKey(f"the KMS key does not sign with {_NAMES[chosen]}")
        named = kid or JWK(public_key).thumbprint()
        return cls(made, key_id, chosen, named, public_key, sends_message)

    @property
    def jwk(self) -> JWK:
        """The public key, as it is published."""
        return JWK(self.public_key, kid=self.kid, use="sig", alg=self.alg)

    def sign(self, data: bytes) -> bytes:
        make = hashlib.sha512 if self.alg is Algorithm.RS512 else hashlib.sha256
        if self.sends_message and len(data) > _MAX_MESSAGE_BYTES:
            raise ConfigError(
                f"KMS signs messages of {_MAX_MESSAGE_BYTES} octets at most, this one has "
                f"{len(data)}: let the signer send digests"
            )
        answer = _call(
            self.client.sign,
            KeyId=self.key_id,
            Message=data if self.sends_message else make(data).digest(),
            MessageType="RAW" if self.sends_message else "DIGEST",
            SigningAlgorithm=_NAMES[self.alg],
        )
        return checked(
            answer.get("Signature"), alg=self.alg, octets=data, public_key=self.public_key
        )


def _make_client(*, region: str | None, timeout_s: float) -> KMSClient:
    boto3 = load("boto3", extra="aws", feature=_FEATURE)
    config = load("botocore.config", extra="aws", feature=_FEATURE)
    errors = load("botocore.exceptions", extra="aws", feature=_FEATURE)
    try:
        client: KMSClient = boto3.client(
            "kms",
            region_name=region,
            config=config.Config(connect_timeout=timeout_s, read_timeout=timeout_s),
        )
    except errors.BotoCoreError as error:
        raise ConfigError(f"no KMS client: {error}") from error
    return client


def _call(action: Any, **arguments: object) -> Mapping[str, Any]:  # noqa: ANN401 (boto3 has no types)
    errors = load("botocore.exceptions", extra="aws", feature=_FEATURE)
    try:
        answer: Mapping[str, Any] = action(**arguments)
    except errors.ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        raise SignerUnavailable(f"AWS KMS refused: {code}", retryable=code in _RETRYABLE) from error
    except errors.BotoCoreError as error:
        raise SignerUnavailable(f"AWS KMS did not answer: {type(error).__name__}") from error
    return answer
