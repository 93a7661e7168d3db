"""CID as a string of Lexicon: any multibase, any codec; version 0 is refused.

Only the outer form is judged, as the network does: records may name content by CIDs of other
systems. `parse` gives the CID behind the string where it has the form of atproto.

Source: Lexicon specification, string format `cid`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self

from smart_byte_atproto.errors import InvalidSyntax

if TYPE_CHECKING:
    from smart_byte_atproto.data.cid import CID

_FORM = re.compile(r"[a-zA-Z0-9+=]{8,256}")


class CIDString(str):
    """A string that could be a CID of version 1."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check `text`.

        Raises:
            InvalidSyntax: It can be no CID.
        """
        if _FORM.fullmatch(text) is None:
            raise InvalidSyntax("cid", text, "must be 8 to 256 letters, digits, + and =")
        if text.startswith("Qm"):
            raise InvalidSyntax("cid", text, "version 0 is not allowed")
        return super().__new__(cls, text)

    def parse(self, *, lenient: bool = False) -> CID:
        """Return the CID in the form of atproto (any CIDv1 in base32 where `lenient`).

        Raises:
            InvalidSyntax: It is of another form.
        """
        from smart_byte_atproto.data.cid import CID  # noqa: PLC0415  only who asks pays for it

        return CID.parse(self, lenient=lenient)
