"""What came back through the browser: parsed, and not yet believed.

Source: RFC 6749 sections 3.1 (no parameter twice) and 4.1.2; OAuth 2.0 Form Post Response Mode.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import SplitResult, parse_qsl, urlsplit

from op_openbanking.errors import ProtocolViolation

MAX_CALLBACK_CHARS: Final = 64 * 1024
_MAX_PARAMETERS: Final = 50

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Callback:
    """One visit of the redirect URI.

    Attributes:
        location: The URL visited, without query and fragment.
        query: Parameters of its query.
        body: Parameters of its fragment, or of the form that was posted. A server sees no
            fragment: the page at the redirect URI posts it on.
    """

    location: str
    query: Pairs = field(repr=False)
    body: Pairs = field(default=(), repr=False)

    @classmethod
    def from_url(cls, url: str) -> Self:
        """Read a full URL, with its fragment where there is one.

        Raises:
            ProtocolViolation: Too long, or not a URL with readable parameters.
        """
        parts = _split(url)
        return cls(_location(parts), _pairs(parts.query), _pairs(parts.fragment))

    @classmethod
    def from_form(cls, url: str, form: bytes) -> Self:
        """Read the URL visited and the form posted to it (`form_post`, or a fragment posted on).

        Raises:
            ProtocolViolation: See `from_url`.
        """
        parts = _split(url)
        if not form.isascii():
            raise ProtocolViolation("the posted form is not ASCII", section="RFC 6749 B")
        return cls(_location(parts), _pairs(parts.query), _pairs(form.decode("ascii")))


def _split(url: str) -> SplitResult:
    if len(url) > MAX_CALLBACK_CHARS:
        raise ProtocolViolation(f"the callback is longer than {MAX_CALLBACK_CHARS} letters")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ProtocolViolation("the callback is not a URL") from error
    return parts


def _location(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _pairs(text: str) -> Pairs:
    if len(text) > MAX_CALLBACK_CHARS:
        raise ProtocolViolation(f"the callback is longer than {MAX_CALLBACK_CHARS} letters")
    if not text:
        return ()
    try:
        return tuple(
            parse_qsl(
                text,
                keep_blank_values=True,
                strict_parsing=True,
                errors="strict",
                max_num_fields=_MAX_PARAMETERS,
            )
        )
    except ValueError as error:
        raise ProtocolViolation(
            "the parameters of the callback are not readable", section="RFC 6749 B"
        ) from error
