"""Error bodies.

Source: Consumer Data Standards 1.31.0, cds_banking.json and cds_common.json.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.cdr.wire import Shape


class ErrorMeta(Shape, frozen=True, kw_only=True):
    """Schema `MetaError`."""

    urn: Maybe[str] = UNSET


class Error(Shape, frozen=True, kw_only=True):
    """Schema `ResponseErrorListV2_errors`."""

    code: str
    title: str
    detail: str
    meta: Maybe[ErrorMeta] = UNSET


class Errors(Shape, frozen=True, kw_only=True):
    """Schema `ResponseErrorListV2`."""

    errors: list[Error]
