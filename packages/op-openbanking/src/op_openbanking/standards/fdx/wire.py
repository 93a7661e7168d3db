"""Parts that several FDX resources share, versions 5.0 to 6.4.

Source: facts of FDX Core 5.0, 5.3, 6.0 and 6.4: names, types, requirements.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe, Number, Wire


class Shape(Wire, frozen=True, kw_only=True, rename="camel"):
    """An object of this standard: camelCase members."""


class PageMetadata(Shape, frozen=True, kw_only=True):
    """Where the next page is; no `next_offset` and no `next_page_key` on the last one."""

    next_offset: Maybe[str] = UNSET
    total_elements: Maybe[int] = UNSET
    next_page_key: Maybe[str] = UNSET


class Currency(Shape, frozen=True, kw_only=True):
    """A currency by its ISO 4217 code."""

    currency_code: str


class HateoasLink(Shape, frozen=True, kw_only=True):
    """A link with what may be done there."""

    href: str
    action: Maybe[str] = UNSET
    rel: Maybe[str] = UNSET
    types: Maybe[list[str]] = UNSET


class InterestRate(Shape, frozen=True, kw_only=True):
    """Interest of an account (6.4)."""

    rate: Maybe[Number] = UNSET
    rate_as_of: Maybe[str] = UNSET
    compounding_period: Maybe[str] = UNSET
    prior_rate: Maybe[Number] = UNSET
    type: Maybe[str] = UNSET
    index: Maybe[str] = UNSET


class FiAttribute(Shape, frozen=True, kw_only=True):
    """A provider's own name and value."""

    name: Maybe[str] = UNSET
    value: Maybe[str] = UNSET


class PageLink(Shape, frozen=True, kw_only=True):
    """One link of a page."""

    href: Maybe[str] = UNSET


class PageLinks(Shape, frozen=True, kw_only=True):
    """Links of a page."""

    next: Maybe[PageLink] = UNSET
    prev: Maybe[PageLink] = UNSET
