"""Handle: a domain name that an account goes by, at most 253 characters.

Source: atproto specification "Handle"; RFC 1035, RFC 3696 section 2.
"""

from __future__ import annotations

import re
from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

MAX_LENGTH = 253
_LABEL = "[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_FORM = re.compile(rf"({_LABEL}\.)+[a-zA-Z]([a-zA-Z0-9-]{{0,61}}[a-zA-Z0-9])?")

RESERVED_TLDS = frozenset(
    {"alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion"}
)
"""Top-level domains in which a handle can neither be registered nor resolved."""

NO_HANDLE = "handle.invalid"
"""Stands where an account has no handle that was verified."""


class Handle(str):
    """A valid handle. Case does not matter: compare `normalize()`."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`.

        Raises:
            InvalidSyntax: It is no handle.
        """
        if len(text) > MAX_LENGTH:
            raise InvalidSyntax("handle", text, f"longer than {MAX_LENGTH} characters")
        if _FORM.fullmatch(text) is None:
            raise InvalidSyntax("handle", text, "must be a domain name of two or more labels")
        return super().__new__(cls, text)

    def normalize(self) -> Self:
        """Return it in lower case."""
        return type(self)(self.lower())

    @property
    def tld(self) -> str:
        """Last label, in lower case."""
        return self.rsplit(".", 1)[1].lower()

    @property
    def is_registrable(self) -> bool:
        """False in the reserved top-level domains. `.test` counts as registrable: development."""
        return self.tld not in RESERVED_TLDS
