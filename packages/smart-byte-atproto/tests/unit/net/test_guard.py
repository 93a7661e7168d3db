from __future__ import annotations

import pytest

from smart_byte_atproto.errors import RequestRefused
from smart_byte_atproto.net.guard import check_address, check_url, is_public


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/.well-known/did.json",
        "https://a.b-c.example.org:8443/x?y=z",
        "https://xn--bcher-kva.example.com/",
    ],
)
def test_names_of_the_network_may_be_asked(url: str) -> None:
    assert check_url(url).url == url


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://example.com/", "scheme"),
        ("ftp://example.com/", "scheme"),
        ("file:///etc/passwd", "url"),
        ("//example.com/", "scheme"),
        ("https://127.0.0.1/", "host"),
        ("https://[::1]/", "host"),
        ("https://2130706433/", "host"),
        ("https://0x7f.1/", "host"),
        ("https://localhost/", "host"),
        ("https://a.localhost/", "host"),
        ("https://printer.local/", "host"),
        ("https://metadata.internal/", "host"),
        ("https://example.com./", "host"),
        ("https://exa_mple.com/", "host"),
        ("https://user@example.com/", "url"),
        ("https://user:secret@example.com/", "url"),
        ("https://example.com%2f@evil.com/", "url"),
        ("https://example%2ecom/", "url"),
        ("https://example.com/#x", "url"),
        ("https://example.com\\@evil.com/", "url"),
        ("https://exam ple.com/", "url"),
        ("https://example.com/\r\nX: y", "url"),
        ("https://exämple.com/", "url"),
        ("https://example.com:0/", "url"),
        ("https://example.com:99999/", "url"),
        ("https://[fe80::1/", "url"),
        ("https:///x", "url"),
        ("https://example.com/" + "a" * 5000, "url"),
        ("", "url"),
    ],
)
def test_what_could_lead_inside_or_be_read_in_two_ways_is_refused(url: str, code: str) -> None:
    with pytest.raises(RequestRefused) as caught:
        check_url(url)
    assert caught.value.code == code


def test_this_machine_is_asked_only_where_that_is_switched_on() -> None:
    for url in ("http://localhost:2583/x", "http://127.0.0.1:1/", "http://[::1]:1/"):
        with pytest.raises(RequestRefused):
            check_url(url)
        assert check_url(url, local=True).url == url
    for url in ("http://10.0.0.1/", "http://192.168.1.1/", "http://example.com/"):
        with pytest.raises(RequestRefused):
            check_url(url, local=True)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.0.1",
        "198.18.0.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "2002:c0a8:101::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_addresses_inside_some_network_are_not_public(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(RequestRefused):
        check_address(address, "example.com")


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"]
)
def test_addresses_of_the_network_are_public(address: str) -> None:
    assert is_public(address)
    check_address(address, "example.com")


def test_a_public_name_that_leads_to_this_machine_is_refused_even_locally() -> None:
    with pytest.raises(RequestRefused):
        check_address("127.0.0.1", "evil.example.com", local=True)
    check_address("127.0.0.1", "localhost", local=True)
    with pytest.raises(RequestRefused):
        check_address("10.0.0.1", "localhost", local=True)
    with pytest.raises(RequestRefused):
        check_address("not an address", "example.com")
