"""People and organisations: owners of accounts and the customer who consented.

Source: OBIE 3.1.11 OBParty2; Berlin Group 1.3.12 ownerName; CDR 1.31 CommonCustomer; FDX 6
Customer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from op_openbanking.model.code import Code
from op_openbanking.standards.base import Wire


class PartyKind(StrEnum):
    """What a party is."""

    PERSON = "person"
    ORGANISATION = "organisation"
    JOINT = "joint"


@dataclass(frozen=True, slots=True)
class Party:
    """One party.

    Attributes:
        raw: The wire object it was read from.
        id: The bank's id, where it gives one.
        name: Full legal name, or the name to show.
        kind: Person, organisation or several people.
        emails: As written.
        phones: As written.
    """

    raw: Wire
    id: str | None = None
    name: str | None = None
    kind: Code[PartyKind] | None = None
    emails: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
