"""Error bodies.

Source: STET PSD2 API 1.4.0.47, swagger file.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.stet.wire import Shape


class Error(Shape, frozen=True, kw_only=True):
    """Schema `ErrorModel`."""

    status: int
    message: str
    timestamp: Maybe[str] = UNSET
    error: Maybe[str] = UNSET
    path: Maybe[str] = UNSET
