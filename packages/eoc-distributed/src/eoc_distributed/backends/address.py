"""Where an engine is, from a URL."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from eoc_distributed.errors import ConfigError

_PORTS = {"http": 80, "https": 443}
_SAFE_PATH = re.compile(r"[!-~]*")

_LABEL_CHARS = 63


class Address(NamedTuple):
    """An origin and a path in front of `/v1`.

    Attributes:
        scheme: `http` or `https`.
        host: Name or address, without brackets.
        port: TCP port.
        path: Empty, or `/…` without a slash at its end.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def netloc(self) -> str:
        """Value of a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.path}"


def parse_address(url: str) -> Address:
    """Read an engine's URL; `host:port` alone is taken for `http`, and `/v1` is dropped.

    Raises:
        ConfigError: It is no such URL.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port
    except ValueError as error:
        raise ConfigError(url, f"not a URL: {error}") from error
    if parts.scheme not in _PORTS:
        raise ConfigError(url, "a worker's URL begins with http:// or https://")
    if not parts.hostname or not parts.hostname.isascii():
        raise ConfigError(url, "a worker's URL names a host")
    if not all(0 < len(label) <= _LABEL_CHARS for label in parts.hostname.rstrip(".").split(".")):
        raise ConfigError(url, "a part of the host's name is empty or longer than 63 characters")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(url, "a worker's URL has no user, query or fragment")
    if not _SAFE_PATH.fullmatch(parts.path):
        raise ConfigError(url, "a path has no spaces and is ASCII")
    path = parts.path.rstrip("/").removesuffix("/v1")
    return Address(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], path)
