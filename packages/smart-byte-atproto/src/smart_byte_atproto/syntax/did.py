"""DID: the permanent identifier of an account, `did:METHOD:...`, at most 2048 characters.

Only the syntax is judged here. If the method is supported, and if the DID resolves, are questions
of their own.

Source: W3C DID core section 3.1; atproto specification "DID".
"""

from __future__ import annotations

import re
from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

MAX_LENGTH = 2_048
_FORM = re.compile(r"did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]")
_PLC = re.compile(r"did:plc:[a-z2-7]{24}")


class DID(str):
    """A valid DID. Case matters; nothing is decoded."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`.

        Raises:
            InvalidSyntax: It is no DID.
        """
        if len(text) > MAX_LENGTH:
            raise InvalidSyntax("did", text, f"longer than {MAX_LENGTH} characters")
        if _FORM.fullmatch(text) is None:
            raise InvalidSyntax("did", text, "must be did:, a method in lower case, : and a name")
        return super().__new__(cls, text)

    @property
    def method(self) -> str:
        """Name of the method, such as `plc` or `web`."""
        return self.split(":", 2)[1]

    @property
    def is_plc(self) -> bool:
        """True for `did:plc:` and its 24 characters of base32."""
        return _PLC.fullmatch(self) is not None
