"""Parameters of a call as they stand in a URL, and as typed values.

Booleans are `true` and `false`, integers decimal digits, arrays the same name several times.

Source: atproto specification "HTTP API (XRPC)", section "Lexicon HTTP Endpoints".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, cast

from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import NotEncodable, SchemaMismatch

from .schema import Array, Boolean, Field, Integer, Params, String

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,18})", re.ASCII)
_BOOLEANS: Final = {"true": True, "false": False}


def encode_params(params: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Return parameters as pairs of texts, in their order; None stands for none.

    Raises:
        NotEncodable: A value that has no form in a query string.
    """
    pairs: list[tuple[str, str]] = []
    for name, value in params.items():
        if value is not None:
            items = value if isinstance(value, list) else [value]
            pairs += [(name, _text(item, name)) for item in items]
    return pairs


def decode_params(schema: Params, pairs: Iterable[tuple[str, str]]) -> dict[str, Value]:
    """Return typed values, with the defaults of the schema where nothing was said.

    Names that the schema does not know are left out. Ranges, formats and what is required are
    the validator's to check.

    Raises:
        SchemaMismatch: A text that is no value of its type, or a name twice that is no array.
    """
    values: dict[str, Value] = {}
    for name, text in pairs:
        field = schema.properties.get(name)
        if field is None:
            continue
        if isinstance(field, Array):
            cast("list[Value]", values.setdefault(name, [])).append(_value(field.items, text, name))
        elif name in values:
            raise SchemaMismatch("stands twice", at=name, code="type")
        else:
            values[name] = _value(field, text, name)
    for name, field in schema.properties.items():
        if name not in values and isinstance(field, Boolean | Integer | String):
            default = field.default
            if default is not None:
                values[name] = default
    return values


def _text(value: Value, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | str):
        return str(value)
    raise NotEncodable(f"{type(value).__name__} has no form in a query string", path=name)


def _value(field: Field, text: str, name: str) -> Value:
    if isinstance(field, Boolean):
        if text not in _BOOLEANS:
            raise SchemaMismatch("neither true nor false", at=name, code="type")
        return _BOOLEANS[text]
    if isinstance(field, Integer):
        if _INTEGER.fullmatch(text) is None:
            raise SchemaMismatch("not an integer", at=name, code="type")
        return int(text)
    return text
