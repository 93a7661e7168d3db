"""TLS contexts with client certificates, from files or memory.

TLS 1.2 at least; under TLS 1.2 only the four cipher suites of FAPI 1.0 Advanced section 8.5. The
server's name and chain are always checked; there is no switch to turn that off.

Python's `ssl` reads a client key from files alone. A key in memory is therefore written to a
private file (mode 0600, in a private folder) and deleted before the context is used; while it is
there it is encrypted under a random password. A key inside an HSM or a key service cannot be used
by this module: terminate TLS in a process that can, or bring another `flow.Transport`.

Source: FAPI 1.0 Advanced section 8.5; RFC 8705; RFC 9325.
"""

from __future__ import annotations

import secrets
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_der_private_key,
    load_pem_private_key,
    pkcs12,
)

from op_openbanking.errors import ConfigError, UnusableKey
from op_openbanking.jose.algorithms import check_key
from op_openbanking.jose.hashes import x5t_s256
from op_openbanking.jose.jwk import CERTIFICATE_ERRORS

FAPI_CIPHERS: Final = (
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "DHE-RSA-AES128-GCM-SHA256",
    "DHE-RSA-AES256-GCM-SHA384",
)
"""FAPI1-ADV 8.5, in OpenSSL's names. They rule TLS 1.2; every suite of TLS 1.3 is fit."""
ECDSA_CIPHERS: Final = ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384")
"""RFC 9325 4.2: the same for servers whose certificate has an EC key; FAPI 2.0 allows them."""


@dataclass(frozen=True, slots=True)
class TrustAnchors:
    """Which servers are believed.

    Attributes:
        ca_pem: PEM certificates that are trusted, and no others; or None for the system's.
        ciphers: Cipher suites of TLS 1.2 in OpenSSL's names. `FAPI_CIPHERS + ECDSA_CIPHERS` reaches
            servers of other profiles whose certificate has an EC key.
    """

    ca_pem: bytes | None = field(default=None, repr=False)
    ciphers: tuple[str, ...] = FAPI_CIPHERS

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read PEM certificates.

        Raises:
            ConfigError: Unreadable.
        """
        return cls(ca_pem=_read(path))


@dataclass(frozen=True, slots=True, repr=False)
class ClientCertificate:
    """A TLS client certificate with its private key, checked to belong together.

    Attributes:
        chain_pem: The certificate and its intermediates, leaf first.
        thumbprint: x5t#S256 of the leaf, 43 letters: what tokens are bound to.
    """

    chain_pem: bytes
    thumbprint: str
    _key_pem: bytes
    _password: bytes

    @classmethod
    def from_pem(cls, chain: bytes, key: bytes, *, password: bytes | None = None) -> Self:
        """Read a PEM chain, leaf first, and the leaf's PEM private key.

        Raises:
            UnusableKey: Unreadable, wrong password, they do not belong together, or the key is
                neither RSA of 2048 bits or more nor EC on P-256.
        """
        try:
            certificates = x509.load_pem_x509_certificates(chain)
            private = load_pem_private_key(key, password)
        except CERTIFICATE_ERRORS:
            raise UnusableKey(
                "the TLS client certificate or its key is not readable PEM, "
                "or the password is wrong"
            ) from None
        return cls._of(certificates, private)

    @classmethod
    def from_der(cls, certificate: bytes, key: bytes) -> Self:
        """Read a DER certificate and its unencrypted DER key (PKCS#8).

        Raises:
            UnusableKey: See `from_pem`.
        """
        try:
            return cls._of(
                [x509.load_der_x509_certificate(certificate)], load_der_private_key(key, None)
            )
        except CERTIFICATE_ERRORS:
            raise UnusableKey("the TLS client certificate or its key is not readable DER") from None

    @classmethod
    def from_files(cls, chain: Path, key: Path, *, password: bytes | None = None) -> Self:
        """Read the two PEM files; see `from_pem`.

        Raises:
            ConfigError: A file cannot be read.
            UnusableKey: See `from_pem`.
        """
        return cls.from_pem(_read(chain), _read(key), password=password)

    @classmethod
    def from_pkcs12(cls, octets: bytes, *, password: bytes | None) -> Self:
        """Read a PKCS#12 file with certificate, key and intermediates.

        Raises:
            UnusableKey: Unreadable, wrong password, or the certificate or the key is missing.
        """
        try:
            key, leaf, others = pkcs12.load_key_and_certificates(octets, password)
        except CERTIFICATE_ERRORS:
            raise UnusableKey("not a readable PKCS#12 file, or the password is wrong") from None
        if leaf is None or key is None:
            raise UnusableKey("the PKCS#12 file lacks the certificate or the key")
        return cls._of([leaf, *others], key)

    @classmethod
    def _of(cls, certificates: list[x509.Certificate], key: object) -> Self:
        leaf = certificates[0]
        check_key(key)
        if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
            raise UnusableKey("a public key cannot prove a TLS client certificate")
        try:
            certified = leaf.public_key()
        except CERTIFICATE_ERRORS:
            raise UnusableKey(
                "the key in the TLS client certificate is of an unknown kind"
            ) from None
        if key.public_key() != certified:
            raise UnusableKey("the TLS client key does not belong to the first certificate")
        password = secrets.token_urlsafe(32).encode("ascii")
        return cls(
            chain_pem=b"".join(each.public_bytes(Encoding.PEM) for each in certificates),
            thumbprint=x5t_s256(leaf),
            _key_pem=key.private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password)
            ),
            _password=password,
        )

    @property
    def certificate(self) -> x509.Certificate:
        """The leaf."""
        return x509.load_pem_x509_certificates(self.chain_pem)[0]

    def load_into(self, context: ssl.SSLContext) -> None:
        """Present this certificate in handshakes of `context`.

        Raises:
            UnusableKey: OpenSSL refuses the pair.
        """
        # mkdtemp makes the folder 0700 and the file is opened 0600; both go away on leaving.
        with tempfile.TemporaryDirectory(prefix="openpay-") as folder:
            path = Path(folder) / "client.pem"
            path.touch(mode=0o600)
            path.write_bytes(self._key_pem + self.chain_pem)
            try:
                context.load_cert_chain(path, password=self._password)
            except ssl.SSLError:
                raise UnusableKey("OpenSSL refuses the TLS client certificate") from None

    def __repr__(self) -> str:
        return f"ClientCertificate(thumbprint={self.thumbprint!r})"


def client_context(
    trust: TrustAnchors, *, certificate: ClientCertificate | None = None
) -> ssl.SSLContext:
    """Make a context for connections to servers.

    Args:
        trust: Whom to believe.
        certificate: Presented where the server asks for one.

    Raises:
        ConfigError: `ca_pem` holds no certificate, or no cipher suite is known.
        UnusableKey: OpenSSL refuses the client certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.set_ciphers(":".join(trust.ciphers))
        if trust.ca_pem is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cadata=trust.ca_pem.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError("no usable cipher suite or no readable trust anchor") from error
    if certificate is not None:
        certificate.load_into(context)
    return context


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
