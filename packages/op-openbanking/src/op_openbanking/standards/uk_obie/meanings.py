"""Error codes of UK Open Banking that mean more than their HTTP status.

Source: OBIE Read/Write 3.1.11, "Error Codes"; the namespace is open, banks add their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from op_openbanking.errors import (
    AccessDenied,
    BankError,
    LimitExceeded,
    ReauthenticationRequired,
    RequestRefused,
    ResourceUnknown,
    StateConflict,
)

MEANINGS: Final[Mapping[str, type[BankError]]] = MappingProxyType(
    {
        "UK.OBIE.Reauthenticate": ReauthenticationRequired,
        "UK.OBIE.Resource.NotFound": ResourceUnknown,
        "UK.OBIE.Resource.ConsentMismatch": RequestRefused,
        "UK.OBIE.Resource.InvalidConsentStatus": StateConflict,
        "UK.OBIE.Resource.InvalidFormat": RequestRefused,
        "UK.OBIE.Rules.FailsControlParameters": LimitExceeded,
        "UK.OBIE.Rules.ResourceAlreadyExists": StateConflict,
        "UK.OBIE.Rules.DuplicateReference": RequestRefused,
        "UK.OBIE.Rules.AfterCutOffDateTime": RequestRefused,
        "UK.OBIE.Field.Expected": RequestRefused,
        "UK.OBIE.Field.Invalid": RequestRefused,
        "UK.OBIE.Field.InvalidDate": RequestRefused,
        "UK.OBIE.Field.Missing": RequestRefused,
        "UK.OBIE.Field.Unexpected": RequestRefused,
        "UK.OBIE.Header.Invalid": RequestRefused,
        "UK.OBIE.Header.Missing": RequestRefused,
        "UK.OBIE.Signature.Invalid": AccessDenied,
        "UK.OBIE.Signature.InvalidClaim": AccessDenied,
        "UK.OBIE.Signature.Malformed": AccessDenied,
        "UK.OBIE.Signature.Missing": AccessDenied,
        "UK.OBIE.Signature.MissingClaim": AccessDenied,
        "UK.OBIE.Signature.Unexpected": AccessDenied,
        "UK.OBIE.Unsupported.AccountIdentifier": RequestRefused,
        "UK.OBIE.Unsupported.AccountSecondaryIdentifier": RequestRefused,
        "UK.OBIE.Unsupported.Currency": RequestRefused,
        "UK.OBIE.Unsupported.Frequency": RequestRefused,
        "UK.OBIE.Unsupported.LocalInstrument": RequestRefused,
        "UK.OBIE.Unsupported.Scheme": RequestRefused,
    }
)
