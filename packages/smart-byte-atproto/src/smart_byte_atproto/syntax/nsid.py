"""NSID: name of a schema, a domain name in reverse and a name; at most 317 characters.

The text of the specification also bounds the authority, to 253 characters; the published vectors
have a valid NSID beyond that, so only the total counts here, as in the reference implementation.

Source: atproto specification "Namespaced Identifier".
"""

from __future__ import annotations

import re
from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

MAX_LENGTH = 317
_FORM = re.compile(
    r"[a-zA-Z]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
    r"(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+"
    r"\.[a-zA-Z][a-zA-Z0-9]{0,62}"
)


class NSID(str):
    """A valid NSID. The authority may come in any case, the name is kept as it is."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`.

        Raises:
            InvalidSyntax: It is no NSID.
        """
        if len(text) > MAX_LENGTH:
            raise InvalidSyntax("nsid", text, f"longer than {MAX_LENGTH} characters")
        if _FORM.fullmatch(text) is None:
            reason = "must be a domain name in reverse and a name, three segments or more"
            raise InvalidSyntax("nsid", text, reason)
        return super().__new__(cls, text)

    @property
    def name(self) -> str:
        """Last segment."""
        return self.rsplit(".", 1)[1]

    @property
    def authority(self) -> str:
        """Domain name that rules the schema: `com.example.fooBar` gives `example.com`."""
        return ".".join(reversed(self.lower().split(".")[:-1]))

    def normalize(self) -> Self:
        """Return it with the authority in lower case."""
        authority, name = self.rsplit(".", 1)
        return type(self)(f"{authority.lower()}.{name}")
