"""Error codes of Berlin Group NextGenPSD2 that mean more than their HTTP status.

Source: Berlin Group 1.3.12, section 4.14 (message codes).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from op_openbanking.errors import (
    AccessDenied,
    BankError,
    ConsentExpired,
    ConsentRequired,
    ConsentRevoked,
    RateLimited,
    ReauthenticationRequired,
    RequestRefused,
    ResourceUnknown,
    StateConflict,
)

MEANINGS: Final[Mapping[str, type[BankError]]] = MappingProxyType(
    {
        "CONSENT_EXPIRED": ConsentExpired,
        "CONSENT_INVALID": ConsentRequired,
        "CONSENT_UNKNOWN": ConsentRevoked,
        "TOKEN_EXPIRED": ConsentRequired,
        "TOKEN_INVALID": ConsentRequired,
        "TOKEN_UNKNOWN": ConsentRequired,
        "PSU_CREDENTIALS_INVALID": ReauthenticationRequired,
        "CORPORATE_ID_INVALID": ReauthenticationRequired,
        "SCA_INVALID": ReauthenticationRequired,
        "SCA_METHOD_UNKNOWN": RequestRefused,
        "ACCESS_EXCEEDED": RateLimited,
        "CERTIFICATE_INVALID": AccessDenied,
        "CERTIFICATE_EXPIRED": AccessDenied,
        "CERTIFICATE_BLOCKED": AccessDenied,
        "CERTIFICATE_REVOKE": AccessDenied,
        "CERTIFICATE_MISSING": AccessDenied,
        "ROLE_INVALID": AccessDenied,
        "SIGNATURE_INVALID": AccessDenied,
        "SIGNATURE_MISSING": AccessDenied,
        "KID_MISSING": AccessDenied,
        "SERVICE_BLOCKED": AccessDenied,
        "NO_PIIS_ACTIVATION": AccessDenied,
        "PRODUCT_INVALID": AccessDenied,
        "RESOURCE_UNKNOWN": ResourceUnknown,
        "RESOURCE_EXPIRED": ResourceUnknown,
        "PRODUCT_UNKNOWN": ResourceUnknown,
        "RESOURCE_BLOCKED": StateConflict,
        "STATUS_INVALID": StateConflict,
        "REFERENCE_STATUS_INVALID": StateConflict,
        "CANCELLATION_INVALID": StateConflict,
        "PAYMENT_FAILED": RequestRefused,
        "FORMAT_ERROR": RequestRefused,
        "PARAMETER_NOT_CONSISTENT": RequestRefused,
        "PARAMETER_NOT_SUPPORTED": RequestRefused,
        "SERVICE_INVALID": RequestRefused,
        "TIMESTAMP_INVALID": RequestRefused,
        "PERIOD_INVALID": RequestRefused,
        "EXECUTION_DATE_INVALID": RequestRefused,
        "CARD_INVALID": RequestRefused,
        "REFERENCE_MIX_INVALID": RequestRefused,
        "SESSIONS_NOT_SUPPORTED": RequestRefused,
        "REQUESTED_FORMATS_INVALID": RequestRefused,
    }
)
