"""AT identifier: a DID or a handle.

Source: Lexicon specification, string format `at-identifier`.
"""

from __future__ import annotations

from smart_byte_atproto.errors import InvalidSyntax

from .did import DID
from .handle import Handle


def parse_at_identifier(text: str) -> DID | Handle:
    """Read a DID or a handle; a handle is no DID, because it has no colon.

    Raises:
        InvalidSyntax: It is neither.
    """
    try:
        return DID(text) if text.startswith("did:") else Handle(text)
    except InvalidSyntax as bad:
        raise InvalidSyntax("at-identifier", text, bad.reason) from bad
