"""Error codes of Australia CDR that mean more than their HTTP status.

Source: CDR 1.31, error codes (standard URNs).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from op_openbanking.errors import (
    AccessDenied,
    BankError,
    BankUnavailable,
    ConsentRequired,
    ConsentRevoked,
    RequestRefused,
    ResourceUnknown,
)

MEANINGS: Final[Mapping[str, type[BankError]]] = MappingProxyType(
    {
        "urn:au-cds:error:cds-all:Authorisation/RevokedConsent": ConsentRevoked,
        "urn:au-cds:error:cds-all:Authorisation/InvalidConsent": ConsentRequired,
        "urn:au-cds:error:cds-all:Authorisation/InvalidArrangement": ConsentRevoked,
        "urn:au-cds:error:cds-all:Authorisation/AdrStatusNotActive": AccessDenied,
        "urn:au-cds:error:cds-all:Resource/NotFound": ResourceUnknown,
        "urn:au-cds:error:cds-all:Resource/Invalid": RequestRefused,
        "urn:au-cds:error:cds-all:Resource/Unavailable": ResourceUnknown,
        "urn:au-cds:error:cds-all:Resource/NotImplemented": RequestRefused,
        "urn:au-cds:error:cds-all:Field/Missing": RequestRefused,
        "urn:au-cds:error:cds-all:Field/Invalid": RequestRefused,
        "urn:au-cds:error:cds-all:Field/InvalidDateTime": RequestRefused,
        "urn:au-cds:error:cds-all:Field/InvalidPage": RequestRefused,
        "urn:au-cds:error:cds-all:Field/InvalidPageSize": RequestRefused,
        "urn:au-cds:error:cds-all:Header/Missing": RequestRefused,
        "urn:au-cds:error:cds-all:Header/Invalid": RequestRefused,
        "urn:au-cds:error:cds-all:Header/InvalidVersion": RequestRefused,
        "urn:au-cds:error:cds-all:Header/UnsupportedVersion": RequestRefused,
        "urn:au-cds:error:cds-all:Service/Unavailable": BankUnavailable,
        "urn:au-cds:error:cds-all:GeneralError/Unexpected": BankUnavailable,
        "urn:au-cds:error:cds-banking:Authorisation/InvalidBankingAccount": ResourceUnknown,
        "urn:au-cds:error:cds-banking:Authorisation/UnavailableBankingAccount": ResourceUnknown,
    }
)
