from __future__ import annotations

import pytest

from op_openbanking.errors import InvalidValue, UnsafeLink
from op_openbanking.model.page import Trail

FIRST = "https://bank.example/open-banking/v3.1/aisp/accounts/1/transactions?page=1"


@pytest.mark.parametrize(
    "link",
    [
        "https://bank.example/open-banking/v3.1/aisp/accounts/1/transactions?page=2",
        "https://BANK.example:443/open-banking/v3.1/aisp/accounts/1/transactions?page=2",
        "/open-banking/v3.1/aisp/accounts/1/transactions?page=2",
        "null/open-banking/v3.1/aisp/accounts/1/transactions?page=2",
        "?page=2",
        "transactions?page=2",
        "/open-banking/v3.1/aisp/accounts/1/transactions/next/2",
        "/aisp/accounts/1/transactions?page=2",
        "v3.1/aisp/accounts/1/transactions?page=2",
    ],
)
def test_follows_a_link_to_the_same_resource(link: str) -> None:
    assert Trail.start(FIRST).follow(link).url.startswith("https://bank.example")


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("https://evil.example/open-banking/v3.1/aisp/accounts/1/transactions?page=2", "origin"),
        ("//evil.example/open-banking/v3.1/aisp/accounts/1/transactions", "origin"),
        ("http://bank.example/open-banking/v3.1/aisp/accounts/1/transactions?page=2", "origin"),
        ("https://bank.example:8443/open-banking/v3.1/aisp/accounts/1/transactions", "origin"),
        ("https://bank.example.evil.example/open-banking/v3.1/aisp/accounts/1/x", "origin"),
        ("https://bank.example@evil.example/x", "no URL"),
        ("https://user@bank.example/open-banking/v3.1/aisp/accounts/1/transactions", "no URL"),
        ("/open-banking/v3.1/aisp/accounts/2/transactions?page=2", "path"),
        ("/open-banking/v3.1/aisp/accounts/1/balances", "path"),
        ("/aisp/accounts/2/transactions?page=2", "path"),
        ("/p/accounts/1/transactions?page=2", "path"),
        ("/", "path"),
        ("//evil.example/transactions", "origin"),
        ("/transactions?page=1", "already read"),
        ("/open-banking/v3.1/aisp/accounts/1/transactions/../../2/transactions", "path"),
        ("/open-banking/v3.1/aisp/accounts/1/transactionsx?page=2", "path"),
        ("javascript:alert(1)", "origin"),
        ("?page=1", "already read"),
        (FIRST + "#x", "already read"),
        ("", "no URL"),
        ("?page=2\r\nHost: x", "no URL"),
        ("\\\\evil.example\\x", "no URL"),
        ("https://bank.example:99999/", "no URL"),
        ("https://[::1/", "no URL"),
        ("?" + "x" * 9000, "no URL"),
        ("?é=1", "no URL"),
    ],
)
def test_refuses_a_link_that_leads_elsewhere_or_back(link: str, why: str) -> None:
    with pytest.raises(UnsafeLink, match=why):
        Trail.start(FIRST).follow(link)


def test_a_trail_ends_at_its_cap() -> None:
    trail = Trail.start(FIRST, max_pages=3).follow("?page=2").follow("?page=3")
    with pytest.raises(UnsafeLink, match="more than 3 pages"):
        trail.follow("?page=4")


def test_a_circle_of_pages_is_noticed() -> None:
    trail = Trail.start(FIRST).follow("?page=2").follow("?page=3")
    with pytest.raises(UnsafeLink, match="already read"):
        trail.follow("?page=2")


@pytest.mark.parametrize("url", ["", "/x", "ftp://a/b", "https://u:p@a/b", "https:///x", "a b"])
def test_starts_only_at_an_absolute_url(url: str) -> None:
    with pytest.raises(InvalidValue):
        Trail.start(url)
