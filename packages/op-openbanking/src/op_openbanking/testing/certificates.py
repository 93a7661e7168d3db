"""A throw-away certificate authority for tests on loopback.

Keys are EC on P-256, or RSA of 2048 bits where asked; everything expires within a day.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from op_openbanking.http.tls import ClientCertificate
from op_openbanking.jose.algorithms import PrivateKey

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A certificate and its key.

    Attributes:
        certificate: The certificate.
        key: Its private key.
    """

    certificate: x509.Certificate
    key: PrivateKey = field(repr=False)

    @property
    def certificate_pem(self) -> bytes:
        """The certificate as PEM."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The private key as unencrypted PEM (PKCS#8)."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def client_certificate(self) -> ClientCertificate:
        """The same, ready for a transport."""
        return ClientCertificate.from_pem(self.certificate_pem, self.key_pem)


class Authority:
    """A certificate authority with a fresh key.

    Args:
        now: When its certificates begin to hold; they hold one day, from an hour before.
    """

    def __init__(self, *, now: dt.datetime) -> None:
        self._now = now
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test Authority")])
        self._certificate = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )

    @property
    def certificate_pem(self) -> bytes:
        """The authority's own certificate as PEM."""
        return self._certificate.public_bytes(Encoding.PEM)

    def server(self, *, use_rsa: bool = False) -> Leaf:
        """A certificate for `localhost` and 127.0.0.1."""
        names = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
        )
        return self._leaf("localhost", names, ExtendedKeyUsageOID.SERVER_AUTH, use_rsa=use_rsa)

    def client(self, name: str, *, dns: str = "tpp.example") -> Leaf:
        """A client certificate with a common name and one DNS name."""
        names = x509.SubjectAlternativeName([x509.DNSName(dns)])
        return self._leaf(name, names, ExtendedKeyUsageOID.CLIENT_AUTH, use_rsa=False)

    def _leaf(
        self,
        name: str,
        names: x509.SubjectAlternativeName,
        usage: x509.ObjectIdentifier,
        *,
        use_rsa: bool,
    ) -> Leaf:
        key: PrivateKey = (
            rsa.generate_private_key(65537, 2048)
            if use_rsa
            else ec.generate_private_key(ec.SECP256R1())
        )
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = (
            self._builder(subject, key.public_key())
            .add_extension(names, critical=False)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        return Leaf(certificate, key)

    def _builder(
        self, subject: x509.Name, key: rsa.RSAPublicKey | ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - dt.timedelta(hours=1))
            .not_valid_after(self._now + _DAY)
        )
