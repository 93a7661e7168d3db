"""The data model: which values there are, and what a value must not hold.

Null, booleans, integers of signed 64 bits, text, bytes, links, lists, and maps with text keys.
Types are taken exactly: `True` is no integer, and subclasses (an `IntEnum`, a `DID`) are not
guessed at; turn them into plain values first.

Source: atproto specification "Data Model".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .cid import CID

MAX_DEPTH = 32
"""Containers inside one another (recommended data limit)."""
MAX_CONTAINERS = 1_000_000
"""Ours: lists and maps in one item, those that stand in several places counted each time."""

Value: TypeAlias = "bool | int | str | bytes | CID | list[Value] | dict[str, Value] | None"
"""Anything of the data model."""

GenericValue: TypeAlias = (
    "bool | int | float | str | bytes | CID | list[GenericValue] | dict[str, GenericValue] | None"
)
"""Anything of generic DAG-CBOR: the data model and floats."""

_Container: TypeAlias = "list[object] | dict[str, object]"
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_SCALARS = frozenset({str, bool, bytes, CID, type(None)})


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a value is outside the data model.

    Attributes:
        reason: What is wrong.
        path: Where: keys and indexes from the top, joined by `/`; empty for the top.
    """

    reason: str
    path: str


def has_only_values(value: object) -> bool:
    """Tell if types, integers and depth are right. Keys and the inside of text are left out.

    Never recurses: it goes down one level of nesting after the other, so a cycle ends too, and
    stops after `MAX_CONTAINERS`: a list that holds another one twice, and so on, doubles with
    each level.
    """
    if not (type(value) is dict or type(value) is list):
        return _is_scalar(value)
    level: list[_Container] = [value]
    seen = 1
    for _ in range(MAX_DEPTH):
        below: list[_Container] = []
        for container in level:
            for item in container.values() if type(container) is dict else container:
                if type(item) is str:
                    continue
                if type(item) is dict or type(item) is list:
                    below.append(item)
                elif not _is_scalar(item):
                    return False
        if not below:
            return True
        seen += len(below)
        if seen > MAX_CONTAINERS:
            return False
        level = below
    return False


def _is_scalar(item: object) -> bool:
    if type(item) is int:
        return _LEAST <= item <= _MOST
    if type(item) is CID:
        return item.is_strict
    return type(item) in _SCALARS


def find_problem(value: object) -> Problem | None:
    """Find what is wrong in `value` and where; None where all is right.

    Slower than `has_only_values` and checks more: keys, text, and the form of links.
    """
    pending: list[tuple[object, str, int]] = [(value, "", 1)]
    containers = 0
    while pending:
        item, path, depth = pending.pop()
        containers += type(item) in {dict, list}
        if containers > MAX_CONTAINERS:
            return Problem(f"more than {MAX_CONTAINERS} lists and maps", path)
        reason = _problem(item)
        parts: list[tuple[object, object]] = []
        if type(item) is dict:
            parts = list(item.items())
        elif type(item) is list:
            parts = list(enumerate(item))
        if type(item) in {dict, list} and depth > MAX_DEPTH:
            reason = f"nested deeper than {MAX_DEPTH}"
        if type(item) is dict and reason is None:
            reason = next(filter(None, map(_key_problem, item)), None)
        if reason is not None:
            return Problem(reason, path)
        pending += [
            (part, f"{path}/{name}" if path else f"{name}", depth + 1) for name, part in parts
        ]
    return None


def _key_problem(key: object) -> str | None:
    if type(key) is not str:
        return "map key is not a string"
    return None if _is_unicode(key) else "map key with a lone surrogate"


def _problem(item: object) -> str | None:
    """Say what is wrong with one value, leaving aside what it contains."""
    match item:
        case str():
            problem = None if _is_unicode(item) else "text with a lone surrogate"
        case int():
            problem = None if _LEAST <= item <= _MOST else "integer outside signed 64 bits"
        case CID():
            problem = None if item.is_strict else "link is not in the strict form"
        case float():
            problem = "float"
        case _:
            problem = None
    if problem is None and type(item) not in {*_SCALARS, int, list, dict}:
        problem = f"{type(item).__name__} is no type of the data model"
    return problem


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
