"""The client file of `openpay fapi`: who we are at one bank, in TOML.

    issuer = "https://auth.bank.example"
    client_id = "tpp-1"                       # absent before registration
    redirect_uri = "https://127.0.0.1:8443/callback"
    profile = "fapi1-advanced"                # or "fapi2-security"
    auth_method = "private_key_jwt"           # or tls_client_auth, self_signed_tls_client_auth
    binding = "mtls"                          # or "dpop", with fapi2-security
    audience = "issuer"                       # or token-endpoint, endpoint
    scope = "openid accounts"
    signing_key = "signing.pem"               # PEM, PKCS#12 or JWK
    signing_kid = "key-1"                     # default: RFC 7638 thumbprint
    tls_certificate = "tls.pem"               # chain, leaf first
    tls_key = "tls-key.pem"
    ca = "bank-ca.pem"                        # default: the system's authorities
    proxy = "http://proxy.example:3128"

Paths are relative to the file.
"""

from __future__ import annotations

import secrets
import time
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec

from op_openbanking.errors import ConfigError
from op_openbanking.fapi.client import Binding, CertificateBinding, Client
from op_openbanking.fapi.client_auth import (
    Audience,
    ClientAuthentication,
    PrivateKeyJWT,
    SelfSignedTLSClientAuth,
    TLSClientAuth,
)
from op_openbanking.fapi.dpop import DPoPKey
from op_openbanking.fapi.metadata import ServerMetadata
from op_openbanking.fapi.profile import AuthMethod, Profile, SenderConstraint
from op_openbanking.fapi.profiles import profile
from op_openbanking.http.settings import TransportSettings
from op_openbanking.http.tls import ClientCertificate, TrustAnchors
from op_openbanking.signing.local import LocalSigner

from .key_files import read_signer


class ClientFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the file says; see the module.

    Attributes:
        folder: Where the file lies; not a member of it.
    """

    issuer: str
    redirect_uri: str
    client_id: str = ""
    profile: str = "fapi1-advanced"
    auth_method: AuthMethod = AuthMethod.PRIVATE_KEY_JWT
    binding: SenderConstraint = SenderConstraint.MTLS
    audience: Audience = Audience.ISSUER
    scope: str = "openid accounts"
    signing_key: str | None = None
    signing_kid: str | None = None
    signing_alg: Literal["PS256", "ES256"] | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None
    ca: str | None = None
    proxy: str | None = None
    folder: str = "."

    @classmethod
    def read(cls, path: Path) -> ClientFile:
        """Read a client file.

        Raises:
            ConfigError: Unreadable, not TOML, or a member is unknown or of another type.
        """
        try:
            members: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
            return msgspec.convert({**members, "folder": str(path.parent)}, cls)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"{path} is not readable TOML: {error}") from error
        except msgspec.ValidationError as error:
            raise ConfigError(f"{path}: {error}") from error

    @property
    def rules(self) -> Profile:
        """The security profile."""
        return profile(self.profile)

    def transport_settings(self) -> TransportSettings:
        """Certificate, trust and proxy."""
        trust = TrustAnchors.from_file(Path(self.folder) / self.ca) if self.ca else TrustAnchors()
        return TransportSettings(certificate=self.certificate(), trust=trust, proxy=self.proxy)

    def certificate(self) -> ClientCertificate | None:
        """The TLS client certificate, if the file names one."""
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ConfigError("tls_certificate and tls_key belong together")
        if self.tls_certificate is None or self.tls_key is None:
            return None
        return ClientCertificate.from_files(
            Path(self.folder) / self.tls_certificate, Path(self.folder) / self.tls_key
        )

    def signer(self) -> LocalSigner:
        """The signing key.

        Raises:
            ConfigError: The file names none.
        """
        if self.signing_key is None:
            raise ConfigError("the client file names no signing_key")
        path = Path(self.folder) / self.signing_key
        try:
            return read_signer(path, password_file=None, alg=self.signing_alg, kid=self.signing_kid)
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror}") from error

    def client(self, server: ServerMetadata) -> Client:
        """The client at a discovered server.

        Raises:
            ConfigError: It is not registered, or profile, server and file do not go together.
        """
        if not self.client_id:
            raise ConfigError("the client file has no client_id: register first")
        certificate = self.certificate()
        signs = self.rules.requires_request_object
        return Client(
            profile=self.rules,
            server=server,
            client_id=self.client_id,
            redirect_uri=self.redirect_uri,
            authentication=self._authentication(),
            binding=self._binding(certificate),
            clock=time.time,
            entropy=secrets.token_bytes,
            request_signer=self.signer() if signs else None,
            client_certificate=certificate.thumbprint if certificate else None,
        )

    def _authentication(self) -> ClientAuthentication:
        match self.auth_method:
            case AuthMethod.PRIVATE_KEY_JWT:
                return PrivateKeyJWT(self.signer(), audience=self.audience)
            case AuthMethod.TLS_CLIENT_AUTH:
                return TLSClientAuth()
            case AuthMethod.SELF_SIGNED_TLS_CLIENT_AUTH:
                return SelfSignedTLSClientAuth()

    def _binding(self, certificate: ClientCertificate | None) -> Binding:
        if self.binding is SenderConstraint.DPOP:
            signer = self.signer()
            return DPoPKey(signer, signer.jwk)
        if certificate is None:
            raise ConfigError("tokens bound by mtls need tls_certificate and tls_key")
        return CertificateBinding(certificate.thumbprint)
