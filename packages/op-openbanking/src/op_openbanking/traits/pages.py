"""Lists, read page by page.

    for row in each(bank.transactions(consent.id, account.id), transport): ...
    async for row in aeach(bank.transactions(consent.id, account.id), transport): ...

A link is followed only as `model.page.Trail` allows: same origin, same path, never twice, and no
more pages than the profile says. A page that fails leaves the reader where it was: what was read
stays read, and `next` tries that page again.

Source: OBIE 3.1.11 "Pagination"; Berlin Group 1.3.12 `_links.next`; CDR 1.31 "Pagination"; FDX 6
`page`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final, Generic, TypeVar

from op_openbanking.errors import ConfigError
from op_openbanking.flow import AsyncTransport, Flow, Transport, arun, run
from op_openbanking.model.page import MAX_PAGES, Page, Trail

T = TypeVar("T")

MAX_ITEMS: Final = 1_000_000
"""Most rows that `rest` collects unless told otherwise. Ours: about a gigabyte of rows."""


class Pages(Generic[T]):
    """A reader of one list.

    Args:
        url: The first page.
        read: Reads the page at a URL.
        max_pages: Most pages; one more is refused.
        link_of_key: The link of the next page, where a standard names it by an opaque key.

    Attributes:
        collected: What `rest` has read, whole or up to a failure.
    """

    def __init__(
        self,
        url: str,
        read: Callable[[str], Flow[Page[T]]],
        *,
        max_pages: int = MAX_PAGES,
        link_of_key: Callable[[str], str] | None = None,
    ) -> None:
        self.collected: tuple[T, ...] = ()
        self._read = read
        self._link_of_key = link_of_key
        self._trail = Trail.start(url, max_pages=max_pages)
        self._last: Page[T] | None = None
        self._begun = False

    def next(self) -> Flow[Page[T] | None]:
        """The next page, or None after the last.

        Raises:
            UnsafeLink: The bank's link must not be followed.
            OpenBankingError: The page could not be read; calling again tries it again.
        """
        trail = self._trail
        if self._begun:
            link = None if self._last is None else self._link(self._last)
            if link is None:
                self._last = None
                return None
            trail = trail.follow(link)
        page = yield from self._read(trail.url)
        self._trail, self._last, self._begun = trail, page, True
        return page

    def rest(self, *, max_items: int = MAX_ITEMS) -> Flow[tuple[T, ...]]:
        """Every row that is left, in one tuple.

        Raises:
            ConfigError: More rows than `max_items`; those read are in `collected`.
            OpenBankingError: See `next`; those read are in `collected`.
        """
        rows: list[T] = []
        try:
            while (page := (yield from self.next())) is not None:
                rows.extend(page.items)
                if len(rows) > max_items:
                    raise ConfigError(f"the list has more than {max_items} rows")
        finally:
            self.collected += tuple(rows)
        return self.collected

    def _link(self, page: Page[T]) -> str | None:
        if page.next_key is not None and self._link_of_key is not None:
            return self._link_of_key(page.next_key)
        return page.next_link


def each(pages: Pages[T], transport: Transport) -> Iterator[T]:
    """Rows one by one; the next page is read when it is needed."""
    while (page := run(pages.next(), transport)) is not None:
        yield from page.items


async def aeach(pages: Pages[T], transport: AsyncTransport) -> AsyncIterator[T]:
    """`each`, awaited."""
    while (page := await arun(pages.next(), transport)) is not None:
        for item in page.items:
            yield item
