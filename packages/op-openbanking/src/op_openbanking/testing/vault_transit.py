"""The transit engine of HashiCorp Vault, as far as signing needs it, for tests.

Source: Vault HTTP API, transit secrets engine: `GET /transit/keys/NAME` and
`POST /transit/sign/NAME/HASH` with prehashed input.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Self

from op_openbanking.jose.algorithms import Algorithm, PrivateKey
from op_openbanking.signing.checks import raw_from_der

from .key_service import Answer, JSONServer, SignDigest, is_rsa, public_pem, sign_digest

_OK, _FORBIDDEN, _NOT_FOUND, _BAD = 200, 403, 404, 400


class VaultTransit:
    """A Vault on loopback that holds these keys at version 1.

    Args:
        keys: Private keys by name.
        token: The token it expects.
        sign: How a digest is signed.
        version: Version that signatures carry.
    """

    def __init__(
        self,
        keys: Mapping[str, PrivateKey],
        *,
        token: str = "root",  # noqa: S107 (a service for tests)
        sign: SignDigest = sign_digest,
        version: int = 1,
    ) -> None:
        self.keys = dict(keys)
        self.token = token
        self.sign = sign
        self.version = version
        self._server = JSONServer(self._handle)

    @property
    def url(self) -> str:
        """Address to hand to hvac."""
        return f"http://127.0.0.1:{self._server.port}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.close()

    def _handle(
        self, method: str, path: str, headers: dict[str, str], body: dict[str, Any]
    ) -> Answer:
        if headers.get("x-vault-token") != self.token:
            return _FORBIDDEN, {}, {"errors": ["permission denied"]}
        parts = path.strip("/").split("/")
        key = self.keys.get(parts[3]) if len(parts) > 3 else None  # noqa: PLR2004 (v1/transit/x/NAME)
        if key is None:
            return _NOT_FOUND, {}, {"errors": []}
        if method == "GET" and parts[2] == "keys":
            kind = "rsa-2048" if is_rsa(key) else "ecdsa-p256"
            versions = {"1": {"public_key": public_pem(key)}}
            return _OK, {}, {"data": {"type": kind, "latest_version": 1, "keys": versions}}
        if parts[2] != "sign" or body.get("prehashed") is not True or body.get("key_version") != 1:
            return _BAD, {}, {"errors": ["not a prehashed signature of version 1"]}
        return _OK, {}, {"data": {"signature": self._signature(key, body)}}

    def _signature(self, key: PrivateKey, body: dict[str, Any]) -> str:
        digest = base64.b64decode(body["input"], validate=True)
        if not is_rsa(key):
            octets = self.sign(key, Algorithm.ES256, digest)
            if body.get("marshaling_algorithm") == "jws":
                raw = raw_from_der(octets)
                text = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
                return f"vault:v{self.version}:{text}"
        elif body.get("signature_algorithm") == "pss":
            octets = self.sign(key, Algorithm.PS256, digest)
        else:
            long = body.get("hash_algorithm") == "sha2-512"
            octets = self.sign(key, Algorithm.RS512 if long else Algorithm.RS256, digest)
        return f"vault:v{self.version}:{base64.b64encode(octets).decode()}"
