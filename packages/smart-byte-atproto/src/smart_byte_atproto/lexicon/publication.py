"""Where a schema is published: which repository, and how the record is read.

The authority of an NSID is its domain (all but the last part, the other way round). A TXT record
at `_lexicon.<domain>` names the DID in whose repository the schema is a record of the collection
`com.atproto.lexicon.schema` under the NSID as its key. No parent domain is asked.

Source: atproto specification "Lexicon", section "Lexicon Publication and Resolution".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from smart_byte_atproto.errors import InvalidLexicon, InvalidSyntax
from smart_byte_atproto.syntax import ATURI, DID, NSID

from .schema import Lexicon, from_value

COLLECTION: Final = NSID("com.atproto.lexicon.schema")
_PREFIX: Final = "did="


def txt_name(nsid: NSID) -> str:
    """Return the domain whose TXT records name the repository of a schema."""
    return "_lexicon." + ".".join(reversed(nsid.split(".")[:-1]))


def did_of(texts: Iterable[str]) -> DID | None:
    """Return the DID that TXT records name; None if none does.

    Raises:
        InvalidLexicon: They name several, or something that is no DID.
    """
    named = {text.removeprefix(_PREFIX) for text in texts if text.startswith(_PREFIX)}
    if not named:
        return None
    if len(named) > 1:
        raise InvalidLexicon(f"{len(named)} repositories are named where one must be")
    try:
        return DID(named.pop())
    except InvalidSyntax as bad:
        raise InvalidLexicon(str(bad)) from bad


def record_uri(did: DID, nsid: NSID) -> ATURI:
    """Return where the record of a schema is kept."""
    return ATURI(f"at://{did}/{COLLECTION}/{nsid}")


def from_record(record: Mapping[str, object], nsid: NSID) -> Lexicon:
    """Return the document that a record of the collection holds.

    Raises:
        InvalidLexicon: It is no schema, or that of another name.
    """
    if record.get("$type") != COLLECTION:
        raise InvalidLexicon(f"$type is not {COLLECTION}", at="$type")
    lexicon = from_value(record)
    if lexicon.id != nsid:
        raise InvalidLexicon(f"the record under {nsid} is the schema {lexicon.id}", at="id")
    return lexicon
