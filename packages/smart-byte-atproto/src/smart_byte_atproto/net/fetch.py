"""A page that is fetched once, with bounds: what is asked, and what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DEFAULT_BYTES = 512 * 1024
DEFAULT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Fetch:
    """A page to get.

    Attributes:
        url: Where it is.
        accept: Media types wanted.
        max_bytes: Longest body, decompressed.
        timeout_s: For all of it, names and redirects included.
        redirects: How many are followed; each is judged anew.
    """

    url: str
    accept: str = "application/json"
    max_bytes: int = DEFAULT_BYTES
    timeout_s: float = DEFAULT_TIMEOUT_S
    redirects: int = 0


@dataclass(frozen=True, slots=True)
class TextRecords:
    """A name whose TXT records are wanted.

    Attributes:
        name: Domain name.
        timeout_s: For all of it.
    """

    name: str
    timeout_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page that came.

    Attributes:
        status: HTTP status.
        headers: Names in lower case.
        body: Decompressed.
        host: Who answered.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    host: str = ""
