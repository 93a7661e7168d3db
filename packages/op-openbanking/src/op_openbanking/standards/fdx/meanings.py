"""Error codes of FDX that mean more than their HTTP status.

Source: FDX 6, table of error codes; those of the 500 family are left to the HTTP status.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from op_openbanking.errors import (
    AccessDenied,
    BankError,
    RequestRefused,
    ResourceUnknown,
    StateConflict,
)

MEANINGS: Final[Mapping[str, type[BankError]]] = MappingProxyType(
    {
        "601": ResourceUnknown,
        "602": AccessDenied,
        "701": ResourceUnknown,
        "702": RequestRefused,
        "703": RequestRefused,
        "704": RequestRefused,
        "705": StateConflict,
        "706": AccessDenied,
        "801": ResourceUnknown,
        "1101": ResourceUnknown,
        "1102": ResourceUnknown,
    }
)
