"""Statements.

Source: facts of FDX Core 5.0, 5.3, 6.0 and 6.4: names, types, requirements.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.fdx.wire import HateoasLink, PageLinks, PageMetadata, Shape


class Statement(Shape, frozen=True, kw_only=True):
    """A statement; its document is fetched by a link."""

    account_id: Maybe[str] = UNSET
    statement_id: Maybe[str] = UNSET
    statement_date: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    links: Maybe[list[HateoasLink]] = UNSET
    status: Maybe[str] = UNSET


class Statements(Shape, frozen=True, kw_only=True):
    """A page of statements."""

    statements: list[Statement]
    page: Maybe[PageMetadata] = UNSET
    links: Maybe[PageLinks] = UNSET
