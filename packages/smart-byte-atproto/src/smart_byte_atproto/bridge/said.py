"""SAIDs: a digest of a serialization that stands inside it.

Two serializations are known, and one must say which was used: JSON in the order in which the fields
stand, compact and unescaped, and canonical DAG-CBOR.

Source: reference section 20.2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, cast

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import BindingRefused, InvalidData, InvalidPrimitive, NotEncodable

from .cesr import BLAKE3_256, DIGEST_CODES, code_of, digest, text_length

LABEL: Final = "d"
_DUMMY: Final = "#"


class Serialization(StrEnum):
    """How a map becomes the bytes that are hashed."""

    JSON = "json"
    DAG_CBOR = "dag-cbor"


def compute_said(
    fields: Mapping[str, object],
    *,
    label: str = LABEL,
    code: str = BLAKE3_256,
    serialization: Serialization = Serialization.JSON,
) -> str:
    """Return the SAID of a map; what stands in its label does not count.

    Args:
        fields: The map, with the label among its fields where it belongs in the order.
        label: Field that holds the SAID.
        code: Digest.
        serialization: JSON or DAG-CBOR.

    Raises:
        NotEncodable: The map has no such field, or cannot be written.
        InvalidPrimitive: `code`: it is none of a digest.
    """
    if label not in fields:
        raise NotEncodable(f"there is no field {label!r} for the SAID")
    if code not in DIGEST_CODES:
        raise InvalidPrimitive("code", f"{code[:8]!r} is no code of a digest")
    dummy = _DUMMY * text_length(code)
    return digest(serialize({**fields, label: dummy}, serialization), code=code).qb64


def with_said(
    fields: Mapping[str, object],
    *,
    label: str = LABEL,
    code: str = BLAKE3_256,
    serialization: Serialization = Serialization.JSON,
) -> dict[str, object]:
    """Return a map with its SAID in place; see `compute_said`."""
    said = compute_said(fields, label=label, code=code, serialization=serialization)
    return {**fields, label: said}


def verify_said(
    fields: Mapping[str, object],
    *,
    label: str = LABEL,
    serialization: Serialization = Serialization.JSON,
) -> str:
    """Check the SAID of a map and return it.

    Raises:
        BindingRefused: `said`: it is not there, none, or that of something else.
    """
    told = fields.get(label)
    if not isinstance(told, str):
        raise BindingRefused("said", f"no SAID in {label!r}")
    try:
        code = code_of(told)
        made = compute_said(fields, label=label, code=code, serialization=serialization)
    except (InvalidPrimitive, NotEncodable) as bad:
        raise BindingRefused("said", str(bad)) from bad
    if made != told:
        raise BindingRefused("said", f"the content makes {made}, not {told[:60]}")
    return told


def serialize(fields: Mapping[str, object], serialization: Serialization) -> bytes:
    """Return the bytes that are hashed.

    Raises:
        NotEncodable: Something in it cannot be written.
    """
    match serialization:
        case Serialization.JSON:
            try:
                text = json.dumps(
                    fields, separators=(",", ":"), ensure_ascii=False, allow_nan=False
                )
                return text.encode()
            except (TypeError, ValueError, RecursionError, UnicodeEncodeError) as bad:
                raise NotEncodable(str(bad)) from bad
        case Serialization.DAG_CBOR:
            return dag_cbor.encode(cast("Value", dict(fields)))


def load_fields(data: bytes) -> dict[str, object]:
    """Read a JSON map in the order in which its fields stand.

    Raises:
        InvalidData: Not JSON, not a map, or a name twice in a map.
    """
    try:
        fields = json.loads(data, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as bad:
        raise InvalidData(f"not JSON: {bad}") from bad
    if not isinstance(fields, dict):
        raise InvalidData("not a map")
    return fields


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name twice in a map")
    return fields


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")
