"""Azure Key Vault, as far as signing needs it, for tests.

It speaks TLS with a certificate of a throw-away authority, since Azure's client sends its token
over nothing else, and begins with the challenge that the real service begins with.

Source: Azure Key Vault REST API 7.x: Get Key and Sign.
"""

from __future__ import annotations

import base64
import ssl
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from op_openbanking.jose.algorithms import Algorithm, PrivateKey
from op_openbanking.jose.jwk import JWK
from op_openbanking.signing.checks import raw_from_der

from .key_service import Answer, JSONServer, SignDigest, is_rsa, sign_digest
from .pki import ThrowAwayCA

VERSION = "0123456789abcdef0123456789abcdef"
_OK, _UNAUTHORIZED, _NOT_FOUND, _TOO_MANY = 200, 401, 404, 429


class KeyVault:
    """A Key Vault on loopback that holds one version of these keys.

    Args:
        keys: Private keys by name.
        sign: How a digest is signed; ECDSA in DER is turned into r and s, as the service does.
        token: The bearer token it expects.
        operations: What the keys may do.
    """

    def __init__(
        self,
        keys: Mapping[str, PrivateKey],
        *,
        sign: SignDigest = sign_digest,
        token: str = "azure-token",  # noqa: S107 (a service for tests)
        operations: tuple[str, ...] = ("sign", "verify"),
    ) -> None:
        self.keys = dict(keys)
        self.sign = sign
        self.token = token
        self.operations = operations
        self.throttled = False
        self._server = JSONServer(self._handle)
        self._folder = tempfile.TemporaryDirectory()
        now = datetime.now(UTC)
        authority = ThrowAwayCA.create(now=now)
        issued = authority.issue("key vault", now=now, hosts=("127.0.0.1",))
        self.ca_file = self._write("ca.pem", authority.pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(
            self._write("cert.pem", issued.pem), self._write("key.pem", issued.key_pem)
        )
        http = self._server.http
        http.socket = context.wrap_socket(http.socket, server_side=True)

    @property
    def url(self) -> str:
        """Address of the vault."""
        return f"https://127.0.0.1:{self._server.port}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def stop(self) -> None:
        """Stop serving; the files stay."""
        self._server.close()

    def __exit__(self, *exc: object) -> None:
        self._server.close()
        self._folder.cleanup()

    def _write(self, name: str, octets: bytes) -> str:
        path = Path(self._folder.name) / name
        path.write_bytes(octets)
        return str(path)

    def _handle(
        self, method: str, path: str, headers: dict[str, str], body: dict[str, Any]
    ) -> Answer:
        if headers.get("authorization") != f"Bearer {self.token}":
            challenge = (
                'Bearer authorization="https://login.example/tenant", '
                'resource="https://vault.azure.net"'
            )
            return _UNAUTHORIZED, {"WWW-Authenticate": challenge}, {}
        if self.throttled:
            return _TOO_MANY, {"Retry-After": "0"}, {"error": {"code": "Throttled"}}
        parts = urlsplit(path).path.strip("/").split("/")
        key = self.keys.get(parts[1]) if len(parts) > 1 else None
        if key is None:
            return _NOT_FOUND, {}, {"error": {"code": "KeyNotFound", "message": "absent"}}
        kid = f"{self.url}/keys/{parts[1]}/{VERSION}"
        if method == "GET":
            members = JWK.from_private_key(key).required_members()
            found = {**members, "kid": kid, "key_ops": list(self.operations)}
            return _OK, {}, {"key": found, "attributes": {"enabled": True}}
        alg = Algorithm(body["alg"])
        digest = base64.urlsafe_b64decode(body["value"] + "==")
        signature = self.sign(key, alg, digest)
        form = signature if is_rsa(key) else raw_from_der(signature)
        value = base64.urlsafe_b64encode(form).rstrip(b"=").decode()
        return _OK, {}, {"kid": kid, "value": value}
