"""The `keyId` of HTTP signatures, and the header that carries the sealing certificate.

Source: NextGenPSD2 XS2A section 12.2 (`SN=...,CA=...`; TPP-Signature-Certificate); STET PSD2 API
(URL of the certificate with its SHA-256 in the name).
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64encode
from enum import StrEnum
from typing import Final, assert_never
from urllib.parse import quote

from cryptography.hazmat.primitives.serialization import Encoding

from op_openbanking.eidas.certificate import MAX_CERTIFICATE_BYTES, Certificate
from op_openbanking.eidas.distinguished_name import STYLES, DNStyle
from op_openbanking.errors import CertificateInvalid, ConfigError

_MAX_HEADER_CHARS: Final = 2 * MAX_CERTIFICATE_BYTES
_BEGIN = "-----BEGIN CERTIFICATE-----"
_END = "-----END CERTIFICATE-----"


class SerialForm(StrEnum):
    """How Berlin Group banks want the serial number."""

    HEX = "hex"
    DECIMAL = "decimal"


class CertificateHeaderForm(StrEnum):
    """How banks want the certificate in TPP-Signature-Certificate.

    DER is base64 of the DER octets; PEM_BASE64 is base64 of the PEM text; PEM_ONE_LINE is the PEM
    text without its line breaks.
    """

    DER = "der"
    PEM_BASE64 = "pem-base64"
    PEM_ONE_LINE = "pem-one-line"


def berlin_group_key_id(
    certificate: Certificate,
    *,
    serial: SerialForm = SerialForm.HEX,
    issuer_style: DNStyle = STYLES["rfc4514"],
    escape_blanks: bool = False,
) -> str:
    """`SN=<serial>,CA=<issuer>` of the sealing certificate.

    Args:
        certificate: The QSealC, not the TLS certificate.
        serial: Hexadecimal in upper case without 0x, or decimal.
        issuer_style: Form of the issuer's name.
        escape_blanks: Write blanks as `%20`, which some banks want.
    """
    number = f"{certificate.serial:X}" if serial is SerialForm.HEX else str(certificate.serial)
    issuer = certificate.issuer(style=issuer_style)
    return f"SN={number},CA={issuer.replace(' ', '%20') if escape_blanks else issuer}"


def stet_key_id(certificate: Certificate, *, base_url: str) -> str:
    """URL where the bank fetches the certificate, its SHA-256 in the name.

    Args:
        certificate: The sealing certificate.
        base_url: Start of the URL up to the file's name, for example
            `https://tpp.example/certs/seal_`.

    Raises:
        ConfigError: Not an https URL.
    """
    if not base_url.startswith("https://") or quote(base_url, safe="/:._-~%") != base_url:
        raise ConfigError("the keyId of STET starts with an https URL without query")
    return f"{base_url}{hashlib.sha256(certificate.der).hexdigest()}.pem"


def certificate_header(
    certificate: Certificate, *, form: CertificateHeaderForm = CertificateHeaderForm.DER
) -> tuple[str, str]:
    """The header line `TPP-Signature-Certificate`, its value on one line."""
    pem = certificate.x509.public_bytes(Encoding.PEM)
    match form:
        case CertificateHeaderForm.DER:
            value = b64encode(certificate.der).decode("ascii")
        case CertificateHeaderForm.PEM_BASE64:
            value = b64encode(pem).decode("ascii")
        case CertificateHeaderForm.PEM_ONE_LINE:
            value = pem.decode("ascii").replace("\n", "")
        case _:
            assert_never(form)
    return ("TPP-Signature-Certificate", value)


def read_certificate_header(value: str) -> Certificate:
    """Read the header in any of its forms.

    The certificate proves nothing by itself: whether to trust it is the caller's decision.

    Raises:
        CertificateInvalid: Longer than 64 KiB, or none of the forms.
    """
    text = value.strip()
    if len(text) > _MAX_HEADER_CHARS:
        raise _invalid(f"longer than {_MAX_HEADER_CHARS} letters")
    if text.startswith(_BEGIN):
        text = "".join(text.removeprefix(_BEGIN).removesuffix(_END).split())
    try:
        octets = binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except ValueError as error:
        raise _invalid("not standard base64") from error
    return Certificate.read(octets)


def _invalid(problem: str) -> CertificateInvalid:
    return CertificateInvalid(
        f"TPP-Signature-Certificate: {problem}",
        check="certificate-form",
        section="NextGenPSD2 12.2",
    )
