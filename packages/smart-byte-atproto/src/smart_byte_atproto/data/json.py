"""The JSON form of the data model.

A link is `{"$link": CID}`, bytes are `{"$bytes": base64}` (standard alphabet, written without
padding), each alone in its map. JSON is for people and HTTP; what is hashed and signed is CBOR.

Refused on reading: numbers that are no integers (`1.0` too), `NaN` and `Infinity`, integers outside
signed 64 bits, a key twice in a map, lone surrogates, `$link` or `$bytes` beside other keys or with
a value that is none, an empty or non-text `$type`, and blobs with wrong fields.

Source: atproto specification "Data Model", section "JSON Representation".
"""

from __future__ import annotations

import json
from base64 import b64encode
from binascii import Error as Base64Error, a2b_base64
from collections import Counter
from functools import partial
from typing import NoReturn, cast

from smart_byte_atproto.errors import InvalidData, InvalidSyntax, LimitExceeded, NotEncodable

from .blob import Blob
from .cid import CID
from .model import MAX_DEPTH, GenericValue, Value, find_problem

MAX_BYTES = 2 << 20
"""Longest JSON that is read (recommended data limit for records)."""

_MOST_DIGITS = 19  # of an integer of 64 bits
_RESERVED = frozenset({"$link", "$bytes"})


def loads(text: str | bytes, *, max_bytes: int = MAX_BYTES, lenient: bool = False) -> Value:
    """Read any value of the data model.

    `lenient` takes what published records and the interop tests hold though it is not in its one
    form: `123.0` for the integer 123, spare bits that are not zero at the end of base64, and blobs
    whose link has another codec than raw. Nothing else gives way.

    Raises:
        InvalidData: Not JSON, or JSON outside the data model.
        LimitExceeded: Too long or nested too deep.
    """
    if len(text) > max_bytes:
        raise LimitExceeded("JSON is too long", limit=max_bytes)
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        value = json.loads(
            decoded,
            object_pairs_hook=partial(_map, lenient=lenient),
            parse_int=_integer,
            parse_float=_whole_number if lenient else _no_number,
            parse_constant=_no_number,
        )
    except UnicodeDecodeError as bad:
        raise InvalidData("JSON is not UTF-8", at=bad.start) from bad
    except json.JSONDecodeError as bad:
        raise InvalidData(f"not JSON: {bad.msg}", at=f"character {bad.pos}") from bad
    except RecursionError as bad:
        raise LimitExceeded("JSON is nested too deep", limit=MAX_DEPTH) from bad
    problem = find_problem(value)
    if problem is not None:
        raise InvalidData(problem.reason, at=problem.path or None)
    return cast("Value", value)


def loads_record(
    text: str | bytes, *, max_bytes: int = MAX_BYTES, lenient: bool = False
) -> dict[str, Value]:
    """Read a record: like `loads`, and the top must be a map.

    Raises:
        InvalidData: Not JSON, JSON outside the data model, or no map.
        LimitExceeded: Too long or nested too deep.
    """
    value = loads(text, max_bytes=max_bytes, lenient=lenient)
    if not isinstance(value, dict):
        raise InvalidData("record is not a map")
    return value


def dumps(value: Value | GenericValue, *, indent: int | None = None) -> str:
    """Write a value. Floats, which generic DAG-CBOR may hold, come out as numbers.

    Raises:
        NotEncodable: Nested too deep, a type outside the data model, or a map with the key `$link`
            or `$bytes`, which JSON could not tell from a link or bytes.
    """
    return json.dumps(_plain(value, "", 1), ensure_ascii=False, allow_nan=False, indent=indent)


def _map(pairs: list[tuple[str, object]], *, lenient: bool) -> object:
    """Turn a JSON object into what it stands for."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, count in times.items() if count > 1)
        raise InvalidData("map key stands twice", at=twice)
    for name in _RESERVED & fields.keys():
        if len(fields) > 1:
            raise InvalidData(f"{name} has other keys beside it")
        content = fields[name]
        if not isinstance(content, str):
            raise InvalidData(f"{name} is not a text")
        return _link(content) if name == "$link" else _bytes(content, lenient=lenient)
    if "$type" in fields:
        kind = fields["$type"]
        if not isinstance(kind, str) or not kind:
            raise InvalidData("$type is not a text")
        if kind == "blob":
            Blob.from_value(cast("Value", fields), any_codec=lenient)
    return fields


def _link(text: str) -> CID:
    try:
        return CID.parse(text)
    except InvalidSyntax as bad:
        raise InvalidData(f"$link: {bad.reason}", at=text) from bad


def _bytes(text: str, *, lenient: bool) -> bytes:
    """Read standard base64, with or without padding; spare bits must be zero unless lenient."""
    bare = text.rstrip("=")
    try:
        content = a2b_base64(bare + "=" * (-len(bare) % 4), strict_mode=True)
    except (Base64Error, ValueError) as bad:
        raise InvalidData("$bytes is not base64", at=text) from bad
    padded = b64encode(content).decode()
    if not lenient and text not in {padded, padded.rstrip("=")}:
        raise InvalidData("$bytes is not base64 in its one form", at=text)
    return content


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS + 1:  # the sign
        raise InvalidData("integer outside signed 64 bits")
    return int(digits)


def _whole_number(text: str) -> int:
    whole, _, fraction = text.partition(".")
    if not fraction or fraction.strip("0"):
        raise InvalidData(f"{text} is not an integer")
    return _integer(whole)


def _no_number(text: str) -> NoReturn:
    raise InvalidData(f"{text} is not an integer")


def _plain(value: Value | GenericValue, path: str, depth: int) -> object:
    if depth > MAX_DEPTH + 1:
        raise NotEncodable(f"nested deeper than {MAX_DEPTH}", path=path)
    match value:
        case dict():
            reserved = _RESERVED & value.keys()
            if reserved:
                raise NotEncodable(f"map has the key {min(reserved)}", path=path)
            return {key: _plain(item, f"{path}/{key}", depth + 1) for key, item in value.items()}
        case list():
            return [_plain(item, f"{path}/{index}", depth + 1) for index, item in enumerate(value)]
        case CID():
            return {"$link": str(value)}
        case bytes():
            return {"$bytes": b64encode(value).decode().rstrip("=")}
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise NotEncodable(f"{type(value).__name__} is no type of the data model", path=path)
