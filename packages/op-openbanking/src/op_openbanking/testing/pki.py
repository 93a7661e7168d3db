"""A throw-away certificate authority that issues what open banking needs.

Certificates carry PSD2 roles and organizationIdentifier as ETSI TS 119 495 lays them down, so that
tests and sandboxes see what production sees. Nothing it signs is trusted by anybody else.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from asn1crypto import core  # type: ignore[import-untyped]
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from op_openbanking.eidas.qc_statements import QC_STATEMENTS_OID, CertificateType, Role
from op_openbanking.jose.algorithms import PrivateKey

_ROLE_OIDS = {
    Role.PSP_AS: "0.4.0.19495.1.1",
    Role.PSP_PI: "0.4.0.19495.1.2",
    Role.PSP_AI: "0.4.0.19495.1.3",
    Role.PSP_IC: "0.4.0.19495.1.4",
}
_TYPE_OIDS = {
    CertificateType.SIGNATURE: "0.4.0.1862.1.6.1",
    CertificateType.SEAL: "0.4.0.1862.1.6.2",
    CertificateType.WEB: "0.4.0.1862.1.6.3",
}


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    """A certificate with its private key.

    Attributes:
        certificate: The leaf.
        key: Its private key.
        issuer: Certificate of the authority.
    """

    certificate: x509.Certificate
    key: PrivateKey = field(repr=False)
    issuer: x509.Certificate

    @property
    def der(self) -> bytes:
        """The leaf in DER."""
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def pem(self) -> bytes:
        """The leaf in PEM."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The private key in PEM, unencrypted."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@dataclass(frozen=True, slots=True)
class ThrowAwayCA:
    """Issues certificates for tests.

    Attributes:
        certificate: Its own.
        key: Its private key, EC on P-256.
    """

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey = field(repr=False)

    @classmethod
    def create(cls, *, now: datetime, name: str = "Throw-away CA") -> Self:
        """Make an authority that is valid for a year around `now` (aware)."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name(
            [
                x509.NameAttribute(NameOID.COUNTRY_NAME, "DE"),
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Throw-away Trust"),
                x509.NameAttribute(NameOID.COMMON_NAME, name),
            ]
        )
        builder = _builder(subject, subject, now=now, key=key)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        certificate = (
            builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(identifier, critical=False)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(certificate, key)

    @property
    def pem(self) -> bytes:
        """The authority's certificate in PEM, to trust it with."""
        return self.certificate.public_bytes(Encoding.PEM)

    def issue(
        self,
        name: str,
        *,
        now: datetime,
        key: PrivateKey | None = None,
        organization_identifier: str | None = None,
        roles: Sequence[Role] = (),
        types: Sequence[CertificateType] = (),
        authority: tuple[str, str] = ("Throw-away Authority", "XX-TEST"),
        hosts: Sequence[str] = (),
    ) -> IssuedCertificate:
        """Issue a certificate for TLS or sealing, valid for a year around `now`.

        Args:
            name: Common name.
            now: An aware datetime.
            key: EC on P-256 made here unless handed in.
            organization_identifier: Attribute 2.5.4.97 of the subject.
            roles: PSD2 roles.
            types: Makes it a qualified certificate of these types.
            authority: Name and id of the competent authority, with roles.
            hosts: DNS names and IP addresses.
        """
        own = key or ec.generate_private_key(ec.SECP256R1())
        attributes = [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "DE"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example, Ltd"),
        ]
        if organization_identifier is not None:
            attributes.append(
                x509.NameAttribute(NameOID.ORGANIZATION_IDENTIFIER, organization_identifier)
            )
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
        builder = (
            _builder(x509.Name(attributes), self.certificate.subject, now=now, key=own)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage(
                    [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
                ),
                critical=False,
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
        )
        if hosts:
            names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        if roles or types:
            value = qc_statements(roles=roles, types=types, authority=authority)
            oid = x509.ObjectIdentifier(QC_STATEMENTS_OID)
            builder = builder.add_extension(x509.UnrecognizedExtension(oid, value), critical=False)
        return IssuedCertificate(builder.sign(self.key, hashes.SHA256()), own, self.certificate)


def qc_statements(
    *, roles: Sequence[Role], types: Sequence[CertificateType], authority: tuple[str, str]
) -> bytes:
    """DER of a QCStatements extension with these roles and types."""
    statements = []
    if types:
        listed = _sequence(_oid(_TYPE_OIDS[each]) for each in types)
        statements += [
            _sequence([_oid("0.4.0.1862.1.1")]),
            _sequence([_oid("0.4.0.1862.1.6"), listed]),
        ]
    if roles:
        entries = _sequence(_sequence([_oid(_ROLE_OIDS[each]), _text(each)]) for each in roles)
        psd2 = _sequence([entries, _text(authority[0]), _text(authority[1])])
        statements.append(_sequence([_oid("0.4.0.19495.2"), psd2]))
    return _sequence(statements)


def _sequence(parts: Iterable[bytes]) -> bytes:
    der: bytes = core.Sequence(contents=b"".join(parts)).dump()
    return der


def _oid(dotted: str) -> bytes:
    der: bytes = core.ObjectIdentifier(dotted).dump()
    return der


def _text(value: str) -> bytes:
    der: bytes = core.UTF8String(str(value)).dump()
    return der


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _builder(
    subject: x509.Name, issuer: x509.Name, *, now: datetime, key: PrivateKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=364))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
