"""URI of any scheme, at most 8192 bytes.

Source: Lexicon specification, string format `uri`; RFC 3986 sections 2 and 3.
"""

from __future__ import annotations

import re
from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

MAX_BYTES = 8_192
_FORM = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.-]{0,80}:"
    r"(?:[a-zA-Z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9a-fA-F]{2})+"
)


class URI(str):
    """A valid URI with a scheme."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`.

        Raises:
            InvalidSyntax: It is no URI.
        """
        if len(text) > MAX_BYTES:
            raise InvalidSyntax("uri", text, f"longer than {MAX_BYTES} bytes")
        if _FORM.fullmatch(text) is None:
            reason = "must be a scheme, : and characters of RFC 3986, others percent-encoded"
            raise InvalidSyntax("uri", text, reason)
        return super().__new__(cls, text)

    @property
    def scheme(self) -> str:
        """Scheme in lower case."""
        return self.split(":", 1)[0].lower()
