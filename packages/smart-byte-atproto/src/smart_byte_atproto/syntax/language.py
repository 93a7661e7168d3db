"""Language tag, well-formed by BCP 47: a language in lower case and subtags of 1 to 8 characters.

If the registry knows the subtags is not asked.

Source: Lexicon specification, string format `language`; RFC 5646 section 2.1.
"""

from __future__ import annotations

import re
from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

MAX_LENGTH = 128
_FORM = re.compile(r"(i|[a-z]{2,3})(-[a-zA-Z0-9]{1,8})*")


class Language(str):
    """A well-formed language tag."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`.

        Raises:
            InvalidSyntax: It is no language tag.
        """
        if len(text) > MAX_LENGTH:
            raise InvalidSyntax("language", text, f"longer than {MAX_LENGTH} characters")
        if _FORM.fullmatch(text) is None:
            reason = "must be two or three letters in lower case, then subtags after dashes"
            raise InvalidSyntax("language", text, reason)
        return super().__new__(cls, text)

    @property
    def primary(self) -> str:
        """First subtag: the language itself."""
        return self.split("-", 1)[0]
