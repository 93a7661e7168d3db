"""Snapshots, and the seam for decoders of shapes that are not public.

SGFinDex releases snapshots: by source and category, balances at month ends or current holdings. The
wire format of banks, insurers and the securities depository is under contract, so a participant
supplies a `Decoder` for it; `MyinfoDecoder` reads the public finance items. A payload arrives as a
JWS inside a JWE: decrypt, verify, then decode.

Source: MAS SGFinDex pages (categories, depth: month-end balances of the last four months).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from op_openbanking.errors import InvalidValue, MalformedBody
from op_openbanking.model.money import Money
from op_openbanking.model.when import When
from op_openbanking.standards.base import Maybe, Number, Wire, decode, known
from op_openbanking.standards.sgfindex.wire import Amount, Person

STANDARD = "sgfindex"
CURRENCY = "SGD"


@dataclass(frozen=True, slots=True)
class Holding:
    """One amount of a snapshot.

    Attributes:
        name: What it is, for example `oa` or an account's name.
        amount: Signed; negative is owed.
        as_of: The month end or day it holds for, where known.
    """

    name: str
    amount: Money
    as_of: When | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one source released in one category.

    Attributes:
        source: For example `cpf`, `hdb`, or a bank's name.
        category: For example `balances` or `current-and-savings`.
        holdings: In the source's order.
        raw: The wire object it was read from.
    """

    source: str
    category: str
    holdings: tuple[Holding, ...]
    raw: Wire


class Decoder(Protocol):
    """Reads one decrypted and verified payload."""

    def decode(self, octets: bytes, /) -> Sequence[Snapshot]:
        """The snapshots in a payload.

        Raises:
            MalformedBody: If the payload is not of the shape that this decoder knows.
        """
        ...


class MyinfoDecoder:
    """Decoder of the public Myinfo finance items: provident fund balances and housing loans."""

    def decode(self, octets: bytes, /) -> Sequence[Snapshot]:
        person = decode(octets, Person, standard=STANDARD, resource="person")
        return [*_cpf(person), *_hdb(person)]


def _cpf(person: Person) -> list[Snapshot]:
    item = known(person.cpf_balances)
    if item is None or item.unavailable is True:
        return []
    as_of = _when(known(item.last_updated), path="$.cpfbalances.lastupdated")
    holdings = [
        Holding(name=name, amount=money, as_of=as_of)
        for name in ("oa", "sa", "ma", "ra")
        if (money := _money(getattr(item, name), path=f"$.cpfbalances.{name}")) is not None
    ]
    return [Snapshot(source="cpf", category="balances", holdings=tuple(holdings), raw=item)]


def _hdb(person: Person) -> list[Snapshot]:
    snapshots = []
    for index, item in enumerate(known(person.hdb_ownership) or []):
        path = f"$.hdbownership[{index}]"
        owed = _money(item.outstanding, path=f"{path}.outstandingloanbalance")
        if item.unavailable is True or owed is None:
            continue
        as_of = _when(known(item.last_updated), path=f"{path}.lastupdated")
        negative = Money(amount=owed.amount.copy_negate(), currency=owed.currency)
        holding = Holding(name="outstanding-loan", amount=negative, as_of=as_of)
        snapshots.append(
            Snapshot(source="hdb", category="housing-loan", holdings=(holding,), raw=item)
        )
    return snapshots


def _money(leaf: Maybe[Amount], *, path: str) -> Money | None:
    value = known(leaf.value) if isinstance(leaf, Amount) else None
    if not isinstance(value, Number):
        return None
    try:
        return Money(amount=value.decimal(), currency=CURRENCY)
    except ValueError as error:
        raise MalformedBody(str(error), standard=STANDARD, resource="person", path=path) from None


def _when(text: str | None, *, path: str) -> When | None:
    try:
        return None if text is None else When.parse(text)
    except InvalidValue as error:
        raise MalformedBody(str(error), standard=STANDARD, resource="person", path=path) from None
