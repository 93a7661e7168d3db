"""Pages, and the safe way from one to the next.

A bank names the next page by a link that may be relative, prefixed with the text `null`, point at
itself, at another account or at another host. The access token goes with every request, so a link
is followed only if it leads to the origin and the path that the first page had, was not visited
before, and the number of pages stays under a cap. A path
below the first page's counts as its path, and a link without origin whose path is the end of that
path means that path: banks behind a gateway do not know their prefix. `Trail` decides; it does no
I/O.

What was read before a refusal is the caller's: the error says why the trail ends, the pages stay.

Source: OBIE 3.1.11 "Pagination"; Berlin Group 1.3.12 `_links.next`; CDR 1.31 "Pagination"; FDX 6
`page`; RFC 3986 section 5 (references), RFC 6454 section 4 (origin).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from op_openbanking.errors import InvalidValue, UnsafeLink
from op_openbanking.standards.base import Wire

T = TypeVar("T")

MAX_PAGES = 10_000
"""Pages of one trail. Ours: ten million rows at the largest page size of any standard."""

_DEFAULT_PORTS = {"https": 443, "http": 80}
_PRINTABLE = re.compile(r"[!-~]{1,8192}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page.

    Attributes:
        items: Rows in the bank's order.
        raw: The wire object it was read from.
        next_link: The link to the next page as the bank sent it; None where it sent none.
        next_key: Opaque key of the next page, for the standard that pages by key (FDX).
        total_pages: Where the bank says.
    """

    items: tuple[T, ...]
    raw: Wire
    next_link: str | None = None
    next_key: str | None = None
    total_pages: int | None = None

    @property
    def is_last(self) -> bool:
        """Whether the bank names no further page."""
        return self.next_link is None and self.next_key is None


@dataclass(frozen=True, slots=True)
class Trail:
    """Where reading stands.

    Attributes:
        url: The page to read, absolute.
        path: The path that every page must have, or lie below.
        visited: Pages read or being read, this one too.
        max_pages: Pages after which the trail is refused.
    """

    url: str
    path: str
    visited: frozenset[str]
    max_pages: int = MAX_PAGES

    @classmethod
    def start(cls, url: str, *, max_pages: int = MAX_PAGES) -> Self:
        """A trail at its first page.

        Raises:
            InvalidValue: If the URL is not absolute http(s) or has user information.
        """
        parts = _split(url)
        if parts is None or parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
            raise InvalidValue("URL", url, expected="absolute http or https without user")
        normal = _normal(parts)
        return cls(url=normal, path=parts.path, visited=frozenset({normal}), max_pages=max_pages)

    def follow(self, link: str) -> Self:
        """The trail at the page that the link names.

        Raises:
            UnsafeLink: Another origin or path, a page visited before, or too many pages.
        """
        # Some gateways write their missing base as the text null.
        reference = link.removeprefix("null") if link.startswith("null/") else link
        if _PRINTABLE.fullmatch(reference) is None or "\\" in reference:
            raise UnsafeLink("the next link is no URL", link=link)
        parts = self._target(reference)
        here = urlsplit(self.url)
        if parts is None:
            raise UnsafeLink("the next link is no URL", link=link)
        if _origin(parts) != _origin(here):
            raise UnsafeLink("the next link leads to another origin", link=link)
        below = parts.path.startswith(f"{self.path.rstrip('/')}/") and ".." not in parts.path
        if parts.path != self.path and not below:
            raise UnsafeLink("the next link leads to another path", link=link)
        url = _normal(parts)
        if url in self.visited:
            raise UnsafeLink("the next link leads back to a page already read", link=link)
        if len(self.visited) >= self.max_pages:
            raise UnsafeLink(f"more than {self.max_pages} pages", link=link)
        return replace(self, url=url, visited=self.visited | {url})

    def _target(self, reference: str) -> SplitResult | None:
        parts = _split(reference)
        if parts is None:
            return None
        tail = f"/{parts.path.lstrip('/')}"
        if not parts.scheme and not parts.netloc and len(tail) > 1 and self.path.endswith(tail):
            # Written from below the bank's gateway, whose prefix it does not know: this resource.
            reference = urlunsplit(("", "", self.path, parts.query, ""))
        return _split(urljoin(self.url, reference))


def _split(url: str) -> SplitResult | None:
    """The parts of a URL, or None where it is broken or names a user."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  (raises for a port that is no number)
    except ValueError:
        return None
    return None if "@" in parts.netloc else parts


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    port = parts.port if parts.port is not None else _DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), port


def _normal(parts: SplitResult) -> str:
    """The URL without its fragment, host in lower case: what tells two pages apart."""
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path, parts.query, ""))
