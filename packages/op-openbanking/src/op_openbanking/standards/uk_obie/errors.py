"""Error bodies.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import Shape


class Error(Shape, frozen=True, kw_only=True):
    """Schema `OBError1`."""

    error_code: str
    message: str
    path: Maybe[str] = UNSET
    url: Maybe[str] = UNSET


class ErrorResponse(Shape, frozen=True, kw_only=True):
    """Schema `OBErrorResponse1`."""

    code: str
    message: str
    errors: list[Error]
    id: Maybe[str] = UNSET
