"""Keys in the transit engine of HashiCorp Vault (extra `vault`).

The digest is sent, never the message. The key version is pinned at `open`, since the engine else
signs with the newest. ECDSA is asked for as r and s (`marshaling_algorithm=jws`), PSS with a salt
as long as the hash; each answer is verified with the public key of that version.

Source: Vault HTTP API, transit secrets engine, read key and sign data.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any, Final, Self

from op_openbanking.errors import ConfigError, SignerMisbehaved, SignerUnavailable, UnusableKey
from op_openbanking.jose.algorithms import Algorithm, PublicKey
from op_openbanking.jose.jwk import JWK

from .checks import checked, choose_algorithm, public_key_from_pem
from .extras import load

_FEATURE = "signing with HashiCorp Vault"
_SIGNATURE: Final = re.compile(r"vault:v([0-9]{1,9}):([A-Za-z0-9+/_-]{1,4096}={0,2})")
_URL_TO_STANDARD = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class VaultTransitSigner:
    """Signs with one version of a transit key.

    Attributes:
        client: An `hvac.Client` with a token that may use `sign/NAME`.
        name: Name of the key.
        version: Its version.
        alg: Algorithm.
        kid: Name of the key, as published.
        public_key: Every signature is verified under it.
        mount_point: Path of the engine.
    """

    client: Any = field(repr=False)
    name: str
    version: int
    alg: Algorithm
    kid: str
    public_key: PublicKey = field(repr=False)
    mount_point: str = "transit"

    @classmethod
    def open(
        cls,
        name: str,
        *,
        version: int | None = None,
        alg: str | None = None,
        kid: str | None = None,
        client: Any = None,  # noqa: ANN401 (hvac has no types)
        url: str | None = None,
        token: str | None = None,
        mount_point: str = "transit",
        timeout_s: float = 10.0,
    ) -> Self:
        """Read the public key of a version.

        Args:
            name: Name of the key.
            version: The newest unless chosen, and that one from then on.
            alg: PS256 for RSA and ES256 for P-256 unless chosen.
            kid: RFC 7638 thumbprint unless chosen.
            client: An `hvac.Client` of your own making; else `url` and `token` make one.
            url: Address of Vault.
            token: Token; never shown.
            mount_point: Path of the engine.
            timeout_s: Of each call of a client made here.

        Raises:
            ExtraMissing: hvac is not installed.
            ConfigError: Neither a client nor a url, or there is no such version.
            UnusableKey: Symmetric, too short, wrong curve, or not for `alg`.
            SignerUnavailable: Vault did not answer, or refused.
        """
        hvac = load("hvac", extra="vault", feature=_FEATURE)
        if client is None:
            if url is None:
                raise ConfigError("hand in an hvac client, or the url of Vault")
            client = hvac.Client(url=url, token=token, timeout=timeout_s)
        answer = _call(client.secrets.transit.read_key, name=name, mount_point=mount_point)
        public_key, chosen_version = _read_key(answer, version)
        return cls(
            client,
            name,
            chosen_version,
            choose_algorithm(public_key, alg),
            kid or JWK(public_key).thumbprint(),
            public_key,
            mount_point,
        )

    @property
    def jwk(self) -> JWK:
        """The public key, as it is published."""
        return JWK(self.public_key, kid=self.kid, use="sig", alg=self.alg)

    def sign(self, data: bytes) -> bytes:
        long = self.alg is Algorithm.RS512
        digest = (hashlib.sha512 if long else hashlib.sha256)(data).digest()
        form: dict[str, str] = {"marshaling_algorithm": "jws"}
        if self.alg is Algorithm.PS256:
            form = {"signature_algorithm": "pss", "salt_length": "hash"}
        elif self.alg is not Algorithm.ES256:
            form = {"signature_algorithm": "pkcs1v15"}
        answer = _call(
            self.client.secrets.transit.sign_data,
            name=self.name,
            hash_input=b64encode(digest).decode("ascii"),
            key_version=self.version,
            hash_algorithm="sha2-512" if long else "sha2-256",
            prehashed=True,
            mount_point=self.mount_point,
            **form,
        )
        signature = _parse_signature(answer, self.version)
        return checked(signature, alg=self.alg, octets=data, public_key=self.public_key)


def _read_key(answer: object, version: int | None) -> tuple[PublicKey, int]:
    data = answer.get("data") if isinstance(answer, dict) else None
    versions = data.get("keys") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(versions, dict):
        raise SignerUnavailable("Vault answered no key", retryable=False)
    chosen = version if version is not None else data.get("latest_version")
    found = versions.get(str(chosen))
    if not isinstance(chosen, int) or found is None:
        raise ConfigError(f"the transit key has no version {chosen}")
    pem = found.get("public_key") if isinstance(found, dict) else None
    if not isinstance(pem, str):
        raise UnusableKey("the transit key is not an asymmetric one")
    return public_key_from_pem(pem.encode("utf-8")), chosen


def _parse_signature(answer: object, version: int) -> bytes:
    data = answer.get("data") if isinstance(answer, dict) else None
    text = data.get("signature") if isinstance(data, dict) else None
    found = _SIGNATURE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise _misbehaved("Vault returned no signature of the form vault:vN:base64")
    if int(found[1]) != version:
        raise _misbehaved(f"Vault signed with version {found[1]}, not {version}")
    standard = found[2].rstrip("=").translate(_URL_TO_STANDARD)
    try:
        return binascii.a2b_base64(standard + "=" * (-len(standard) % 4), strict_mode=True)
    except binascii.Error as error:
        raise _misbehaved("Vault returned a signature that is not base64") from error


def _misbehaved(problem: str) -> SignerMisbehaved:
    return SignerMisbehaved(problem, check="signer-form", section="RFC 7518 3.3 to 3.5")


def _call(operation: Any, **arguments: object) -> object:  # noqa: ANN401 (untyped library)
    errors = load("hvac.exceptions", extra="vault", feature=_FEATURE)
    requests = load("requests.exceptions", extra="vault", feature=_FEATURE)
    retryable = (
        errors.RateLimitExceeded,
        errors.InternalServerError,
        errors.BadGateway,
        errors.VaultDown,
        errors.VaultNotInitialized,
    )
    try:
        answer: object = operation(**arguments)
    except errors.VaultError as error:
        # hvac's own text may quote the request: only its kind is carried on.
        raise SignerUnavailable(
            f"Vault refused: {type(error).__name__}", retryable=isinstance(error, retryable)
        ) from error
    except (requests.RequestException, ValueError) as error:
        raise SignerUnavailable(f"Vault did not answer: {type(error).__name__}") from error
    return answer
