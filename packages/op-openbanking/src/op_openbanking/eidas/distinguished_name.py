"""Distinguished names as text, in the forms that banks compare.

The same name is written in several ways: in the order of the certificate or reversed (RFC 4514),
with `organizationIdentifier=`, `2.5.4.97=` or `2.5.4.97=#hex`, with or without a blank behind the
comma. `DNStyle` says which; `STYLES` names the usual ones.

Source: RFC 4514 (text form, section 2.4 escaping); RFC 8705 section 2.1.2; OBIE certificate guide.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from asn1crypto.core import UTF8String  # type: ignore[import-untyped]
from cryptography import x509

_ORGANIZATION_IDENTIFIER = "2.5.4.97"
_SHORT = {
    "2.5.4.3": "CN",
    "2.5.4.4": "SN",
    "2.5.4.5": "serialNumber",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "street",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "2.5.4.15": "businessCategory",
    "2.5.4.42": "GN",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
    "1.2.840.113549.1.9.1": "emailAddress",
    "1.3.6.1.4.1.311.60.2.1.3": "jurisdictionC",
}


class OIDForm(StrEnum):
    """How organizationIdentifier is written."""

    NAME = "organizationIdentifier"
    DOTTED = "2.5.4.97"
    HEX = "2.5.4.97-hex"


@dataclass(frozen=True, slots=True)
class DNStyle:
    """How a name is written.

    Attributes:
        reversed_order: Last attribute of the certificate first, as RFC 4514 says.
        separator: Between attributes: `,` or `, `.
        oid_form: How organizationIdentifier is written.
    """

    reversed_order: bool = True
    separator: str = ","
    oid_form: OIDForm = OIDForm.DOTTED


STYLES: Final = MappingProxyType(
    {
        "rfc4514": DNStyle(),
        "rfc4514-names": DNStyle(oid_form=OIDForm.NAME),
        "rfc4514-hex": DNStyle(oid_form=OIDForm.HEX),
        "certificate-order": DNStyle(reversed_order=False, separator=", ", oid_form=OIDForm.NAME),
    }
)
"""`certificate-order` is the OBIE form: `C=GB, O=..., organizationIdentifier=..., CN=...`."""


def format_name(name: x509.Name, *, style: DNStyle = STYLES["rfc4514"]) -> str:
    """Write a name.

    Args:
        name: Subject or issuer of a certificate.
        style: The form the reader of the text compares with.
    """
    parts = ["+".join(_attribute(each, style.oid_form) for each in rdn) for rdn in name.rdns]
    if style.reversed_order:
        parts.reverse()
    return style.separator.join(parts)


def _attribute(attribute: x509.NameAttribute[str | bytes], oid_form: OIDForm) -> str:
    oid = attribute.oid.dotted_string
    value = attribute.value
    label = _SHORT.get(oid, oid)
    if isinstance(value, bytes):
        return f"{oid}=#{value.hex()}"
    if oid == _ORGANIZATION_IDENTIFIER:
        if oid_form is OIDForm.HEX:
            return f"{oid}=#{UTF8String(value).dump().hex()}"
        label = "organizationIdentifier" if oid_form is OIDForm.NAME else oid
    return f"{label}={_escaped(value)}"


def _escaped(value: str) -> str:
    """RFC 4514 section 2.4."""
    text = value.replace("\\", "\\\\")
    for letter in ',+"<>;':
        text = text.replace(letter, "\\" + letter)
    text = text.replace("\0", "\\00")
    if text[:1] in ("#", " "):
        text = "\\" + text
    if text.endswith(" ") and len(value) > 1:
        text = text[:-1] + "\\ "
    return text
