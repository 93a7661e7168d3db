"""One certificate, read for what open banking asks of it.

Source: RFC 5280; ETSI TS 119 495 section 5; RFC 8705 section 3.1 (thumbprint).
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from op_openbanking.errors import CertificateInvalid, UnusableKey
from op_openbanking.jose.algorithms import PublicKey, as_public_key
from op_openbanking.jose.hashes import x5t_s256
from op_openbanking.jose.jwk import CERTIFICATE_ERRORS

from .distinguished_name import STYLES, DNStyle, format_name
from .organization_identifier import OrganizationIdentifier
from .qc_statements import (
    QC_STATEMENTS_OID,
    CertificateType,
    QCStatements,
    Role,
    parse_qc_statements,
)

MAX_CERTIFICATE_BYTES: Final = 32 * 1024
"""Ours: longest DER or PEM read as one certificate."""
_SECTION = "ETSI TS 119 495 5"
_ORGANIZATION_IDENTIFIER = x509.ObjectIdentifier("2.5.4.97")


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and what it says.

    Attributes:
        der: The certificate itself.
        x509: The same, parsed.
        statements: Qualified-certificate statements; empty ones where the extension is absent.
    """

    der: bytes = field(repr=False)
    x509: x509.Certificate
    statements: QCStatements

    @classmethod
    def read(cls, octets: bytes) -> Self:
        """Read one certificate in DER or PEM, at most 32 KiB; of a PEM chain the first.

        Raises:
            CertificateInvalid: Not a certificate, or its QCStatements are broken.
        """
        if len(octets) > MAX_CERTIFICATE_BYTES:
            raise _invalid(f"longer than {MAX_CERTIFICATE_BYTES} bytes")
        try:
            parsed, extensions = _parse(octets)
        except CERTIFICATE_ERRORS as error:
            raise _invalid("not an X.509 certificate in DER or PEM") from error
        statements = QCStatements()
        for extension in extensions:
            if extension.oid.dotted_string == QC_STATEMENTS_OID:
                value = extension.value
                octets = value.value if isinstance(value, x509.UnrecognizedExtension) else b""
                statements = parse_qc_statements(octets)
        return cls(parsed.public_bytes(Encoding.DER), parsed, statements)

    @property
    def x5t_s256(self) -> str:
        """SHA-256 thumbprint in base64url, as tokens are bound to it: 43 letters."""
        return x5t_s256(self.der)

    @property
    def serial(self) -> int:
        """Serial number."""
        return self.x509.serial_number

    @property
    def not_before(self) -> datetime:
        """Start of validity, UTC."""
        return self.x509.not_valid_before_utc

    @property
    def not_after(self) -> datetime:
        """End of validity, UTC."""
        return self.x509.not_valid_after_utc

    @property
    def roles(self) -> tuple[Role, ...]:
        """PSD2 roles."""
        return self.statements.roles

    @property
    def public_key(self) -> PublicKey:
        """The key.

        Raises:
            CertificateInvalid: Neither RSA of at least 2048 bits nor EC on P-256.
        """
        try:
            return as_public_key(self.x509.public_key())
        except (UnusableKey, *CERTIFICATE_ERRORS) as error:
            raise _invalid(f"its key cannot be used: {error}") from error

    @property
    def organization_identifier(self) -> OrganizationIdentifier | None:
        """The parsed organizationIdentifier of the subject, or None where it has none.

        Raises:
            CertificateInvalid: It occurs twice, or has no known form.
        """
        found = self.x509.subject.get_attributes_for_oid(_ORGANIZATION_IDENTIFIER)
        if not found:
            return None
        if len(found) > 1:
            raise _invalid("two organizationIdentifiers")
        value = found[0].value
        if not isinstance(value, str):
            raise _invalid("organizationIdentifier is not text")
        return OrganizationIdentifier.parse(value)

    def subject(self, *, style: DNStyle = STYLES["rfc4514"]) -> str:
        """Subject as text."""
        return format_name(self.x509.subject, style=style)

    def issuer(self, *, style: DNStyle = STYLES["rfc4514"]) -> str:
        """Issuer as text."""
        return format_name(self.x509.issuer, style=style)

    def require(
        self,
        *,
        at: datetime,
        roles: Collection[Role] = (),
        type_: CertificateType | None = None,
        organization: OrganizationIdentifier | None = None,
    ) -> None:
        """Check validity, roles, purpose and organisation.

        Args:
            at: The instant, an aware datetime.
            roles: Roles that must all be stated.
            type_: Purpose that must be stated: a seal for signatures, web for TLS.
            organization: Identifier that must be the certificate's own, for example that of the
                other certificate of the same peer.

        Raises:
            CertificateInvalid: `check` says which.
        """
        if not self.not_before <= at <= self.not_after:
            raise _invalid(
                f"valid from {self.not_before:%Y-%m-%d} to {self.not_after:%Y-%m-%d} only",
                check="certificate-validity",
                section="RFC 5280 4.1.2.5",
            )
        missing = sorted(set(roles) - set(self.roles))
        if missing:
            raise _invalid(
                f"role {missing[0]} is not stated",
                check="certificate-role",
                section="ETSI TS 119 495 5.1",
            )
        if type_ is not None and (
            not self.statements.qualified or type_ not in self.statements.types
        ):
            raise _invalid(
                f"not a qualified certificate of type {type_}",
                check="certificate-type",
                section="ETSI EN 319 412-5 4.2.3",
            )
        if organization is not None and self.organization_identifier != organization:
            raise _invalid(
                f"organizationIdentifier is {self.organization_identifier}, not {organization}",
                check="certificate-organization",
                section="ETSI TS 119 495 5.2.1",
            )


def _parse(octets: bytes) -> tuple[x509.Certificate, x509.Extensions]:
    """Parse every part that is read later: the library is lazy, and raises where it is read."""
    with warnings.catch_warnings():
        # A serial number of zero or a long country code is odd, not unreadable.
        warnings.simplefilter("ignore")
        if b"-----BEGIN CERTIFICATE-----" in octets:
            parsed = x509.load_pem_x509_certificate(octets)
        else:
            parsed = x509.load_der_x509_certificate(octets)
        _ = parsed.subject, parsed.issuer, parsed.not_valid_before_utc, parsed.not_valid_after_utc
        return parsed, parsed.extensions


def _invalid(
    problem: str, *, check: str = "certificate-form", section: str = _SECTION
) -> CertificateInvalid:
    return CertificateInvalid(f"certificate: {problem}", check=check, section=section)
