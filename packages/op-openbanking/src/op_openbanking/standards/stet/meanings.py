"""Error codes of STET PSD2 that mean more than their HTTP status.

Source: STET 1.4.0.47, ErrorModel and statusReasonInformation.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from op_openbanking.errors import (
    AccessDenied,
    BankError,
    ConsentRequired,
    RequestRefused,
    StateConflict,
)

MEANINGS: Final[Mapping[str, type[BankError]]] = MappingProxyType(
    {
        "AC01": RequestRefused,
        "AC04": RequestRefused,
        "AC06": RequestRefused,
        "AG01": RequestRefused,
        "AM18": RequestRefused,
        "CH03": RequestRefused,
        "FF01": RequestRefused,
        "RR01": RequestRefused,
        "RR12": RequestRefused,
        "FRAD": AccessDenied,
        "DS02": StateConflict,
        "NOAS": ConsentRequired,
        "CUST": ConsentRequired,
    }
)
