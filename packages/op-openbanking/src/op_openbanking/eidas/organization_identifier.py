"""The organizationIdentifier of a certificate subject, for example `PSDDE-BAFIN-123456`.

Three letters of identity scheme (`PSD`, `VAT`, `NTR`, `LEI`), two of country, a hyphen, then for
PSD the competent authority (2 to 8 letters), a hyphen and the identifier.

Source: ETSI TS 119 495 section 5.2.1; ETSI EN 319 412-1 section 5.1.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from op_openbanking.errors import CertificateInvalid, quoted

_PSD = re.compile(r"PSD(?P<country>[A-Z]{2})-(?P<authority>[A-Z]{2,8})-(?P<id>[\x21-\x7e]{1,200})")
_OTHER = re.compile(r"(?P<scheme>[A-Z]{3})(?P<country>[A-Z]{2})-(?P<id>[\x21-\x7e]{1,200})")


@dataclass(frozen=True, slots=True)
class OrganizationIdentifier:
    """A parsed organizationIdentifier.

    Attributes:
        scheme: `PSD` for payment service providers, else `VAT`, `NTR`, `LEI` and others.
        country: Two letters, ISO 3166; `XG` stands for global schemes.
        authority: National competent authority of a PSD identifier, for example `BAFIN`, else "".
        identifier: The number itself.
    """

    scheme: str
    country: str
    authority: str
    identifier: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text of attribute 2.5.4.97.

        Raises:
            CertificateInvalid: Not in the form of ETSI EN 319 412-1 or TS 119 495.
        """
        if found := _PSD.fullmatch(text):
            return cls("PSD", found["country"], found["authority"], found["id"])
        found = _OTHER.fullmatch(text)
        if found is None or found["scheme"] == "PSD":
            raise CertificateInvalid(
                f"organizationIdentifier {quoted(text)} has no known form",
                check="certificate-organization",
                section="ETSI TS 119 495 5.2.1",
            )
        return cls(found["scheme"], found["country"], "", found["id"])

    def __str__(self) -> str:
        middle = f"{self.authority}-" if self.authority else ""
        return f"{self.scheme}{self.country}-{middle}{self.identifier}"
