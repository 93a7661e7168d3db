from __future__ import annotations

import pytest

from eoc_distributed.backends.address import Address, parse_address
from eoc_distributed.errors import ConfigError


@pytest.mark.parametrize(
    ("url", "address", "host"),
    [
        ("http://a:8000", Address("http", "a", 8000, ""), "a:8000"),
        ("http://a:8000/v1/", Address("http", "a", 8000, ""), "a:8000"),
        ("a:8000", Address("http", "a", 8000, ""), "a:8000"),
        ("https://a/x/v1", Address("https", "a", 443, "/x"), "a"),
        ("http://[::1]:80", Address("http", "::1", 80, ""), "[::1]"),
    ],
)
def test_reads_a_url(url: str, address: Address, host: str) -> None:
    assert parse_address(url) == address
    assert address.netloc == host


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://a",
        "http://",
        "http://u:p@a",
        "http://a?x",
        "http://a:99999",
        "http://a/b c",
        "http://é",
        "http://a..b:8000",
        "http://.a",
        f"http://{'a' * 64}",
    ],
)
def test_refuses_what_is_no_address_of_a_worker(url: str) -> None:
    with pytest.raises(ConfigError):
        parse_address(url)
