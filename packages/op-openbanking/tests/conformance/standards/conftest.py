from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from msgspec import inspect

from op_openbanking.standards.base import Number, Wire

Schema = dict[str, Any]


@pytest.fixture(scope="session")
def specs(shared: Path) -> Path:
    return shared / "specs" / "openbanking"


@pytest.fixture(scope="session")
def load() -> Callable[[Path], Schema]:
    loaded: dict[Path, Schema] = {}

    def read(path: Path) -> Schema:
        if path not in loaded:
            text = path.read_text()
            document = (
                json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
            )
            assert isinstance(document, dict)
            loaded[path] = document
        return loaded[path]

    return read


@dataclass
class Census:
    """Where each shape is used in the published schemas, and what they say of it there."""

    members: dict[type[Wire], list[set[str]]] = field(default_factory=lambda: defaultdict(list))
    required: dict[type[Wire], list[set[str]]] = field(default_factory=lambda: defaultdict(list))
    wrong_kinds: list[str] = field(default_factory=list)

    def count(self, document: Schema, schema: Schema, shape: type[Wire], where: str) -> None:
        """Walk a schema and a shape side by side."""
        properties, required = _flat(document, schema)
        self.members[shape].append(set(properties))
        self.required[shape].append(required)
        for field_ in _fields(shape):
            if field_.encode_name in properties:
                self._member(
                    document,
                    properties[field_.encode_name],
                    field_.type,
                    f"{where}.{field_.encode_name}",
                )

    def _member(self, document: Schema, schema: Schema, declared: inspect.Type, where: str) -> None:
        schema = _resolved(document, schema)
        properties, _ = _flat(document, schema)
        for kind in _alternatives(declared):
            match kind:
                case inspect.StructType(cls=shape):
                    if properties:
                        self.count(document, schema, shape, where)
                    elif _fields(shape) and schema.get("type") != "array":
                        self.wrong_kinds.append(f"{where} is no object")
                case inspect.ListType(item_type=item) if schema.get("type") == "array":
                    self._member(document, schema.get("items", {}), item, f"{where}[]")
                case inspect.DictType():
                    if schema.get("type") not in {"object", None}:
                        self.wrong_kinds.append(f"{where} is no object")
                case _:
                    if not _is_kind(kind, schema) and len(_alternatives(declared)) == 1:
                        self.wrong_kinds.append(f"{where} is {schema.get('type')}")

    def missing(self) -> list[str]:
        """Members of the schemas that no shape declares."""
        return sorted(
            f"{shape.__name__}.{name}"
            for shape, places in self.members.items()
            for name in set().union(*places) - _names(shape)
        )

    def invented(self) -> list[str]:
        """Members of the shapes that no schema has."""
        return sorted(
            f"{shape.__name__}.{name}"
            for shape, places in self.members.items()
            for name in _names(shape) - set().union(*places)
        )

    def wrongly_required(self) -> list[str]:
        """Members whose optionality is not that of the schemas: required is required everywhere."""
        return sorted(
            f"{shape.__name__}.{name}"
            for shape, places in self.required.items()
            for name in set.intersection(*places).symmetric_difference(
                {f.encode_name for f in _fields(shape) if f.required}
            )
        )


@pytest.fixture
def census() -> Census:
    return Census()


@pytest.fixture
def numbers_as_text() -> Callable[[bytes], object]:
    """A reader of JSON that keeps each number's text, for comparing without a float."""

    def read(octets: bytes) -> object:
        return json.loads(octets, parse_float=lambda t: f"#{t}", parse_int=lambda t: f"#{t}")

    return read


def _resolved(document: Schema, schema: Schema) -> Schema:
    while "$ref" in schema:
        node: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part.replace("~1", "/").replace("~0", "~")]
        schema = node
    return schema


def _flat(document: Schema, schema: Schema) -> tuple[Mapping[str, Schema], set[str]]:
    """Properties and required members, through references, `allOf`, `oneOf` and `anyOf`."""
    schema = _resolved(document, schema)
    properties: dict[str, Schema] = dict(schema.get("properties") or {})
    required = set(schema.get("required") or [])
    for part in schema.get("allOf", []):
        more, needed = _flat(document, part)
        properties = {**more, **properties}
        required |= needed
    choices = [_flat(document, part) for part in schema.get("oneOf", schema.get("anyOf", []))]
    for more, _ in choices:
        properties = {**more, **properties}
    if choices:
        required |= set.intersection(*(needed for _, needed in choices))
    return properties, required & properties.keys()


def _fields(shape: type[Wire]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(shape)
    assert isinstance(info, inspect.StructType)
    return tuple(f for f in info.fields if f.name != "unknown")


def _names(shape: type[Wire]) -> set[str]:
    return {f.encode_name for f in _fields(shape)}


def _alternatives(declared: inspect.Type) -> tuple[inspect.Type, ...]:
    if isinstance(declared, inspect.UnionType):
        return tuple(t for t in declared.types if not isinstance(t, inspect.NoneType))
    return (declared,)


def _is_kind(kind: inspect.Type, schema: Schema) -> bool:
    return schema.get("type") in set(_types(kind))


def _types(kind: inspect.Type) -> Iterator[str | None]:
    match kind:
        case inspect.StrType():
            yield from ("string", None)
        case inspect.BoolType():
            yield "boolean"
        case inspect.IntType():
            yield "integer"
        case inspect.ListType():
            yield "array"
        case inspect.CustomType(cls=cls) if cls is Number:
            yield "number"
        case _:
            return
