"""What every peer's JSON text must satisfy, whatever its shape.

Refused: text longer than the limit, text that is not UTF-8, a member name twice in one object at
any depth, NaN and infinities, lone surrogates, nesting beyond the limit, anything after the value.

Member names are proven single without looking for doubles. Decoding keeps one of two equal names,
and msgspec writes every value in the shortest form it reads (numbers keep their text here), so the
text with its blanks removed is exactly as long as the decoded value written again, or a member was
lost. Texts with needless escapes (an escaped slash or letter) fail that test without having a
double: they take the slow way, the standard library with a hook on each object.

Source: RFC 8259 sections 4, 8.1 and 9 (parsers may set limits); RFC 7493 section 2.3 (I-JSON: names
must be unique).
"""

from __future__ import annotations

import json
from typing import NoReturn

import msgspec

from op_openbanking.errors import MalformedBody

LIMIT_BYTES = 32 * 1024 * 1024
"""Longest text read. Ours: a page of 1,000 OBIE transactions is about 1 MiB."""

LIMIT_DEPTH = 64
"""Deepest nesting inside a member of unknown shape. Ours: the deepest published shape has 11."""


def _number_text(text: str) -> msgspec.Raw:
    return msgspec.Raw(text.encode())


_CONTAINERS = (dict, list)
_generic = msgspec.json.Decoder(float_hook=_number_text)
_encode = msgspec.json.Encoder().encode


def check_text(octets: bytes, *, standard: str, resource: str, limit_bytes: int) -> None:
    """Refuse text that is too long or is not UTF-8.

    Raises:
        MalformedBody: Naming the standard and the resource.
    """
    if len(octets) > limit_bytes:
        raise MalformedBody(
            f"longer than {limit_bytes} bytes", standard=standard, resource=resource, path="$"
        )
    if octets.isascii():
        return
    try:
        octets.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedBody(
            f"not UTF-8 at byte {error.start}", standard=standard, resource=resource, path="$"
        ) from None


def written_alike(octets: bytes, written: bytes) -> bool:
    """Whether the text without its blanks is as long as the value that was read from it."""
    return len(octets) == len(written) or len(msgspec.json.format(octets, indent=-1)) == len(
        written
    )


def check_members(octets: bytes, *, standard: str, resource: str) -> None:
    """Refuse doubled member names anywhere in the text.

    Raises:
        MalformedBody: Naming the standard, the resource and the doubled member.
    """
    try:
        alike = written_alike(octets, _encode(_generic.decode(octets)))
    except (ValueError, RecursionError) as error:
        raise not_json(error, standard=standard, resource=resource) from None
    if not alike:
        try:
            json.loads(octets, object_pairs_hook=_unique, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise not_json(error, standard=standard, resource=resource) from None


def check_depth(octets: bytes, *, standard: str, resource: str, path: str) -> None:
    """Refuse a value that nests deeper than the limit.

    For members of unknown shape only: known shapes bound themselves. Most values are cleared by
    counting brackets, for a value with few of them cannot be deep.

    Raises:
        MalformedBody: Naming the path of the value.
    """
    if octets.count(b"{") + octets.count(b"[") <= LIMIT_DEPTH:
        return
    if _depth(_generic.decode(octets)) > LIMIT_DEPTH:
        raise MalformedBody(
            f"nested deeper than {LIMIT_DEPTH}", standard=standard, resource=resource, path=path
        )


def not_json(error: Exception, *, standard: str, resource: str) -> MalformedBody:
    """The error for text that is no JSON value, from what a parser said about it."""
    if isinstance(error, RecursionError):
        return MalformedBody(
            f"nested deeper than {LIMIT_DEPTH}", standard=standard, resource=resource, path="$"
        )
    return MalformedBody(
        f"not strict JSON: {error}", standard=standard, resource=resource, path="$"
    )


def _unique(pairs: list[tuple[str, object]]) -> None:
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            raise ValueError(f"member {name[:80]!a} occurs twice in one object")
        names.add(name)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"the constant {name}")


def _depth(value: object) -> int:
    """Levels of objects and arrays, without recursion."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    depth = 0
    while level:
        depth += 1
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, _CONTAINERS)
        ]
    return depth
