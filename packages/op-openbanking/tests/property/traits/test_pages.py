"""A reader of pages against banks that lie about where the next one is."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, strategies as st

from op_openbanking.errors import ConfigError, TransportError, UnsafeLink
from op_openbanking.flow import Flow, Request, Response, fetch, run
from op_openbanking.model.page import Page
from op_openbanking.standards.base import Wire
from op_openbanking.traits.pages import Pages, aeach, each

HOST = "https://bank.example"
FIRST = f"{HOST}/v1/rows"

LINKS = st.sampled_from(
    [
        FIRST,
        f"{FIRST}?page=1",
        f"{FIRST}?page=2",
        f"{FIRST}/deeper",
        "?page=3",
        "/v1/rows?page=4",
        "null/v1/rows?page=5",
        "https://evil.example/v1/rows",
        "//evil.example/v1/rows",
        "https://bank.example:444/v1/rows",
        "http://bank.example/v1/rows",
        "https://bank.example@evil.example/v1/rows",
        "https://bank.example/v1/other",
        "https://bank.example/v1/rows/../other",
        "\\\\evil.example/",
        "",
    ]
)


class Bank:
    """Answers each page with a link of a list."""

    def __init__(self, links: list[str | None], *, breaks_at: int | None = None) -> None:
        self.links = links
        self.breaks_at = breaks_at
        self.seen: list[str] = []

    def send(self, request: Request) -> Response:
        if len(self.seen) == self.breaks_at:
            self.breaks_at = None
            raise TransportError("cut")
        self.seen.append(request.url)
        return Response(200, (), str(len(self.seen)).encode())

    def pages(self, *, max_pages: int = 50) -> Pages[str]:
        def read(url: str) -> Flow[Page[str]]:
            response = yield from fetch(Request("GET", url))
            number = int(response.body)
            link = self.links[number - 1] if number <= len(self.links) else None
            return Page(items=(f"row {number}",), raw=Wire(), next_link=link)

        return Pages(FIRST, read, max_pages=max_pages)


@given(st.lists(LINKS, max_size=8))
def test_no_link_leads_a_token_away_or_in_circles(links: list[str | None]) -> None:
    bank = Bank(links)
    rows: list[str] = []
    with contextlib.suppress(UnsafeLink):
        rows.extend(each(bank.pages(), bank))
    assert all(url.startswith(FIRST) for url in bank.seen)
    assert len(set(bank.seen)) == len(bank.seen)
    assert rows == [f"row {n}" for n in range(1, len(bank.seen) + 1)]


@given(st.integers(1, 6), st.integers(1, 6))
def test_a_list_ends_at_its_last_page_or_at_the_most_allowed(pages: int, most: int) -> None:
    bank = Bank([f"?page={n}" for n in range(2, pages + 1)])
    reader = bank.pages(max_pages=most)
    try:
        run(reader.rest(), bank)
    except UnsafeLink:
        assert pages > most
    assert len(bank.seen) == min(pages, most) == len(reader.collected)


@given(st.integers(0, 3))
def test_a_page_that_fails_is_tried_again_and_nothing_read_is_lost(at: int) -> None:
    bank = Bank(["?page=2", "?page=3", "?page=4"], breaks_at=at)
    reader = bank.pages()
    with pytest.raises(TransportError):
        run(reader.rest(), bank)
    assert reader.collected == tuple(f"row {n}" for n in range(1, at + 1))
    assert run(reader.rest(), bank) == ("row 1", "row 2", "row 3", "row 4")


def test_rows_beyond_what_the_caller_can_hold_are_refused_and_kept() -> None:
    bank = Bank(["?page=2", "?page=3"])
    reader = bank.pages()
    with pytest.raises(ConfigError):
        run(reader.rest(max_items=1), bank)
    assert reader.collected == ("row 1", "row 2")


def test_a_key_in_the_place_of_a_link_is_followed() -> None:
    seen = []

    def read(url: str) -> Flow[Page[int]]:
        yield from ()
        seen.append(url)
        return Page(items=(1,), raw=Wire(), next_key="k2" if len(seen) == 1 else None)

    pages = Pages(FIRST, read, link_of_key=lambda key: f"{FIRST}?pageKey={key}")
    assert list(each(pages, Bank([]))) == [1, 1]
    assert seen == [FIRST, f"{FIRST}?pageKey=k2"]


def test_nothing_is_read_before_it_is_asked_for() -> None:
    bank = Bank(["?page=2"])
    rows = each(bank.pages(), bank)
    assert bank.seen == []
    assert next(rows) == "row 1"
    assert len(bank.seen) == 1


async def test_the_same_pages_are_read_awaited() -> None:
    bank = Bank(["?page=2"])

    class Awaited:
        async def send(self, request: Request) -> Response:
            return bank.send(request)

    assert [row async for row in aeach(bank.pages(), Awaited())] == ["row 1", "row 2"]
