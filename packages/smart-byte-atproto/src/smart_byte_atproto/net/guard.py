"""What may be asked of the network when a stranger chose the name.

Two checks. The URL is judged before anything is sent: HTTPS to a domain name, nothing encoded,
no credentials. The address is judged when a connection is made, and that very address is connected
to, so that a name which answers differently the second time gains nothing.

Local services (development, tests) are reached only where the caller says so, and then on loopback
alone: a switch for a laptop must not open the network around it.

Source: atproto specification "DID", "Handle"; reference sections 10.3 and 12; RFC 6890 for the
special address blocks, RFC 6052 for NAT64.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from smart_byte_atproto.errors import RequestRefused

_HOST: Final = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?"
)
_MAX_URL: Final = 4096
_MAX_HOST: Final = 253
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_NAT64_LOCAL: Final = ipaddress.ip_network("64:ff9b:1::/48")
_DISCARD: Final = ipaddress.ip_network("100::/64")
_LOCALHOST: Final = "localhost"
_PORTS: Final = {"https": 443, "http": 80}


class Target(NamedTuple):
    """A URL that may be asked.

    Attributes:
        url: As it is to be sent.
        scheme: `https`, or `http` for a local service.
        host: Domain name in lower case, or a loopback address.
        port: TCP port.
    """

    url: str
    scheme: str
    host: str
    port: int


def check_url(url: str, *, local: bool = False) -> Target:
    """Judge a URL before it is asked.

    Args:
        url: Absolute.
        local: Whether services on loopback may be asked, also without TLS.

    Raises:
        RequestRefused: `url`, `scheme` or `host`.
    """
    if len(url) > _MAX_URL or not url.isascii() or any(c <= " " or c in '\\"<>^`{|}' for c in url):
        raise RequestRefused("a URL with characters that have no place in it", code="url")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as bad:
        raise RequestRefused(f"not a URL: {bad}", code="url") from bad
    _check_authority(parts, host)
    if parts.scheme not in _PORTS:
        raise RequestRefused(f"{parts.scheme or 'no scheme'}: only https is asked", code="scheme")
    if port == 0:
        raise RequestRefused("port 0", code="url")
    target = Target(url, parts.scheme, host, port or _PORTS[parts.scheme])
    if local and is_local_host(host):
        return target
    if parts.scheme != "https":
        raise RequestRefused(f"{host[:_MAX_HOST]} without TLS", code="scheme")
    if len(host) > _MAX_HOST or _HOST.fullmatch(host) is None:
        raise RequestRefused(f"{host[:_MAX_HOST]!r} is no domain name of the network", code="host")
    if host.endswith((".localhost", ".local", ".internal", ".onion", ".arpa")):
        raise RequestRefused(f"{host} is a name of a private network", code="host")
    return target


def _check_authority(parts: SplitResult, host: str) -> None:
    if "@" in parts.netloc or "%" in parts.netloc:
        raise RequestRefused("credentials or encoded characters before the path", code="url")
    if parts.fragment:
        raise RequestRefused("a URL with a fragment", code="url")
    if not host:
        raise RequestRefused("a URL without a host", code="url")


def is_local_host(host: str) -> bool:
    """Tell if a host is this machine by its name or address."""
    if host == _LOCALHOST or host.endswith("." + _LOCALHOST):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(address: str, host: str, *, local: bool = False) -> None:
    """Judge an address that a name has led to, at the moment of connecting.

    Args:
        address: IPv4 or IPv6, without a port.
        host: Name that led there.
        local: Whether loopback is allowed, for hosts that are this machine by name.

    Raises:
        RequestRefused: `address`.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError as bad:
        raise RequestRefused(f"{host} leads to {address!r}", code="address") from bad
    if local and is_local_host(host) and parsed.is_loopback:
        return
    if not is_public(address):
        raise RequestRefused(f"{host} leads to {address}, inside some network", code="address")


def is_public(address: str) -> bool:
    """Tell if an address is one of the public internet, whatever it is wrapped in."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return is_public(str(parsed.ipv4_mapped))
        if parsed in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(parsed) & 0xFFFF_FFFF)))
        if parsed.sixtofour is not None:
            return is_public(str(parsed.sixtofour))
        if parsed in _NAT64_LOCAL or parsed in _DISCARD or parsed.teredo is not None:
            return False
        if int(parsed) >> 32 == 0 or parsed.is_site_local:  # forms long abandoned
            return False
    return parsed.is_global and not (
        parsed.is_multicast or parsed.is_reserved or parsed.is_unspecified
    )
