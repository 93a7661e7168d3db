"""Record key: name of a record in its collection, 1 to 512 characters.

Source: atproto specification "Record Key".
"""

from __future__ import annotations

import re
from typing import Self

from smart_byte_atproto.errors import InvalidSyntax

MAX_LENGTH = 512
_FORM = re.compile(r"[A-Za-z0-9._:~-]{1,512}")


class RecordKey(str):
    """A valid record key. Case matters."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`.

        Raises:
            InvalidSyntax: It is no record key.
        """
        if _FORM.fullmatch(text) is None:
            reason = f"must be 1 to {MAX_LENGTH} characters of A-Z a-z 0-9 . _ : ~ -"
            raise InvalidSyntax("record-key", text, reason)
        if text in {".", ".."}:
            raise InvalidSyntax("record-key", text, "must not be . or ..")
        return super().__new__(cls, text)
